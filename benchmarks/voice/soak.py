"""Whether anything grows or leaks over hours of calls: ``python -m benchmarks.voice.soak``.

One server holds rounds of `CALLS` calls at once, of the kinds in `KINDS` in turn: typed and spoken,
with tools, interrupted, hung up at any moment, and from clients that send nonsense. Half of them
are from strangers, half from `USERS` known callers. While all of them are connected one more calls,
and is refused. Speech is sent as fast as the server takes it, and nobody listens in real time:
hours are hours of sound in either direction, so that six take about one. After each round, once all
calls are over, the server's resident set, open files, threads and tasks are read.

A straight line is fitted to the resident sets of the second half. The program ends with status 1 if
that rises by more than `MOST_KIB` a call, if there are more files, threads or tasks at the end than
ever in the first half, or if a call did not end as it should. Results:
benchmarks/results/soak.json.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import astuple, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.report import Program, shipped_checkpoint
from benchmarks.voice.footprint import resident_mib
from benchmarks.voice.memory import cache_mib, fitted, series_value
from voice.audio import pcm16_from_samples
from voice.demo import recordings
from voice.demo.client import RATE_HZ, at_client_rate
from voice.demo.server import ServerProcess, as_arguments, serving
from voice.types import SAMPLE_RATE_HZ

HOURS = 6.0
CALLS = 4
USERS = 8
MOST_KIB = 5.0
SILENCE_S = 1.5
PACKET_S = 0.1
PATIENCE_S = 60.0
SETTLE_S = 10.0
SETTINGS = (
    f"server.max_sessions={CALLS}",
    # No call should wait for a limit, and the cache should be full before the second half.
    "server.max_audio_speed=1000",
    "server.max_messages_per_s=10000",
    "server.max_responses_per_min=100000",
    "llm.prompt_cache_mib=48",
)
TRY_AGAIN_LATER = 1013


@dataclass(slots=True)
class Caller:
    """A client of the Realtime API in one call.

    Attributes:
        sound_s: Seconds of sound in either direction.
    """

    socket: ClientConnection
    sound_s: float = 0.0

    async def send(self, kind: str, **fields: Any) -> None:
        """Send a client event."""
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def until(self, kind: str) -> dict[str, Any]:
        """Wait for the next event of a type.

        Raises:
            TimeoutError: No such event comes.
        """
        async with asyncio.timeout(PATIENCE_S):
            while True:
                event: dict[str, Any] = json.loads(await self.socket.recv())
                if event["type"] == "response.output_audio.delta":
                    self.sound_s += len(event["delta"]) * 3 / 4 / 2 / RATE_HZ
                if event["type"] == kind:
                    return event

    async def types(self, text: str) -> None:
        """Type a message, and ask for a response."""
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        await self.send("conversation.item.create", item=item)
        await self.send("response.create")

    async def says(self, name: str) -> None:
        """Say a line of the demo, followed by silence."""
        for packet in _packets(name):
            await self.send("input_audio_buffer.append", audio=packet)
            self.sound_s += PACKET_S

    async def hangs_up(self) -> None:
        """Drop the connection without telling the server."""
        self.socket.transport.abort()
        await self.socket.wait_closed()


@cache
def _packets(name: str) -> tuple[str, ...]:
    speech = at_client_rate(recordings.load(name), SAMPLE_RATE_HZ)
    sound = np.concatenate((speech, np.zeros(round(SILENCE_S * RATE_HZ), np.int16)))
    pieces = np.array_split(sound, len(sound) // round(PACKET_S * RATE_HZ))
    return tuple(base64.b64encode(pcm16_from_samples(piece)).decode() for piece in pieces)


async def typed(caller: Caller) -> None:
    """Use tools by typing, and close the connection properly."""
    for text in (
        "add milk and eggs to the shopping list",
        "what is on the shopping list",
        "what is twelve times seven",
        "set a timer for two hours",
        "cancel the timer",
        "clear the shopping list",
    ):
        await caller.types(text)
        await caller.until("response.done")


async def spoken(caller: Caller) -> None:
    """Use tools by voice."""
    for name in ("assistant-4-add", "assistant-5-list", "assistant-2-sum"):
        await caller.says(name)
        await caller.until("response.done")


async def interrupting(caller: Caller) -> None:
    """Talk over a reply, cut it off, and wait for the answer."""
    await caller.types("what is on the shopping list")
    delta = await caller.until("response.output_audio.delta")
    await caller.says("assistant-2-sum")
    await caller.until("input_audio_buffer.speech_started")
    cut = {"item_id": delta["item_id"], "content_index": 0, "audio_end_ms": 20}
    await caller.send("conversation.item.truncate", **cut)
    await caller.until("input_audio_buffer.committed")
    await caller.until("response.done")


async def gone_in_a_reply(caller: Caller) -> None:
    """Drop the connection while the agent speaks."""
    await caller.types("what time is it")
    await caller.until("response.output_audio.delta")
    await caller.hangs_up()


async def gone_in_a_sentence(caller: Caller) -> None:
    """Drop the connection after a line, while the server still decodes it."""
    await caller.says("assistant-3-units")
    await caller.hangs_up()


async def gone_at_once(caller: Caller) -> None:
    """Ask for a change, and drop the connection before it is made."""
    await caller.types("add bread to the shopping list")
    await caller.hangs_up()


async def talking_nonsense(caller: Caller) -> None:
    """Send invalid events and one that refers to nothing; the conversation goes on."""
    for event in ("{", '{"type": "unknown"}', '{"type": "response.cancel", "response_id": "x"}'):
        await caller.socket.send(event)
        await caller.until("error")
    await caller.types("what is twelve times seven")
    await caller.until("response.done")


KINDS: tuple[Callable[[Caller], Awaitable[None]], ...] = (
    *(typed, spoken, interrupting, gone_in_a_reply),
    *(gone_in_a_sentence, gone_at_once, talking_nonsense),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a server holds once so many calls are over.

    Attributes:
        calls: How many calls there have been.
        resident: The resident set, MiB.
        cache: The prompt cache, which is part of that, MiB.
        files: Open files.
        threads: Threads of the process.
        tasks: Tasks of the event loop.
    """

    calls: int
    resident: float
    cache: float
    files: int
    threads: int
    tasks: int


@dataclass(slots=True)
class Soak:
    """Holds calls on a server, and counts them, their errors and the readings."""

    server: ServerProcess
    key: str
    calls: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    sound_s: float = 0.0
    read: list[Reading] = field(default_factory=list)

    async def round(self, number: int) -> None:
        """Hold `CALLS` calls at once, have one more refused, and take a reading."""
        async with AsyncExitStack() as stack:
            callers = [
                Caller(await stack.enter_async_context(self._connected(await self._secret(index))))
                for index in range(number * CALLS, (number + 1) * CALLS)
            ]
            await self._refused()
            kinds = [KINDS[(number * CALLS + index) % len(KINDS)] for index in range(CALLS)]
            await asyncio.gather(*map(self._call, kinds, callers))
        self.read.append(await self.settled())
        print(self.read[-1], flush=True)

    async def _call(self, kind: Callable[[Caller], Awaitable[None]], caller: Caller) -> None:
        self.calls[kind.__name__] += 1
        try:
            await kind(caller)
        except (TimeoutError, ConnectionClosed) as error:
            self.wrong.append(f"{kind.__name__}: {error or type(error).__name__}")
        self.sound_s += caller.sound_s

    async def _refused(self) -> None:
        self.calls["refused"] += 1
        async with self._connected(self.key) as socket:
            await socket.wait_closed()
            if socket.close_code != TRY_AGAIN_LATER:
                self.wrong.append(f"refused: {socket.close_code} {socket.close_reason}")

    def _connected(self, key: str) -> connect:
        headers = {"Authorization": f"Bearer {key}"}
        return connect(self.server.realtime_url, additional_headers=headers, proxy=None)

    async def _secret(self, number: int) -> str:
        """A key for one call; every other call is from a known caller."""
        user = f"caller-{number // 2 % USERS}" if number % 2 else ""
        url = f"http://{self.server.host}:{self.server.port}/v1/realtime/client_secrets"
        body = {"user": user, "session": {"type": "realtime"}, "expires_after": {"seconds": 60}}
        async with self._http() as http:
            return str((await http.post(url, json=body)).raise_for_status().json()["value"])

    async def settled(self) -> Reading:
        """Read what the server holds once calls, and the tasks that they left, are over.

        After `SETTLE_S` it is read in any case.
        """
        deadline_s = asyncio.get_running_loop().time() + SETTLE_S
        while True:
            async with self._http() as http:
                series = (await http.get(self.server.metrics_url)).raise_for_status().text
            over = series_value(series, "quicksilver_live_sessions") == 0
            found = self._reading(series)
            usual = min((one.tasks for one in self.read), default=found.tasks)
            if over and found.tasks <= usual:
                return found
            if asyncio.get_running_loop().time() > deadline_s:
                return found
            await asyncio.sleep(0.1)

    def _reading(self, series: str) -> Reading:
        process = Path("/proc") / str(self.server.pid)
        return Reading(
            self.calls.total(),
            resident_mib(self.server.pid),
            cache_mib(series),
            len([*(process / "fd").iterdir()]),
            len([*(process / "task").iterdir()]),
            int(series_value(series, "quicksilver_tasks")),
        )

    def _http(self) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(trust_env=False, timeout=PATIENCE_S, headers=headers)


def faults(read: Sequence[Reading], wrong: Sequence[str]) -> list[str]:
    """Everything that is wrong, in words; empty if nothing is."""
    told = [f"{len(wrong)} calls went wrong, the first so: {wrong[0]}"] if wrong else []
    first, second = read[: len(read) // 2], read[len(read) // 2 :]
    line = fitted([(one.calls, one.resident) for one in second], "call")
    if line is None:
        return [*told, "too few rounds to tell growth"]
    if (slope := line["slope_kib_per_call"]) > MOST_KIB:
        error = line["standard_error_kib_per_call"]
        told.append(f"the resident set grows by {slope:.1f} ± {error:.1f} KiB a call")
    for what in ("files", "threads", "tasks"):
        more = getattr(read[-1], what) - max(getattr(one, what) for one in first)
        if more > 0:
            told.append(f"{more} {what} more than in the first half")
    return told


async def measure(settings: Sequence[str], hours: float, most_calls: int | None) -> dict[str, Any]:
    """Hold calls until there were enough, and return the figures."""
    key = secrets.token_hex(16)
    environ = {**os.environ, "QUICKSILVER_API_KEY": key}
    with tempfile.TemporaryDirectory() as folder:
        place = f'tools.database="{folder}/entries.sqlite"'
        async with serving(as_arguments([place, *settings]), environ) as server:
            soak = Soak(server, key)
            idle = await soak.settled()
            for number in itertools.count():
                await soak.round(number)
                enough = most_calls is not None and soak.calls.total() >= most_calls
                if enough or soak.sound_s >= hours * 3600:
                    break
    return figures(soak, idle)


def figures(soak: Soak, idle: Reading) -> dict[str, Any]:
    """The figures of all calls, for the results file."""
    second = soak.read[len(soak.read) // 2 :]
    return {
        "calls": dict(soak.calls),
        "calls_at_once": CALLS,
        "hours_of_sound": round(soak.sound_s / 3600, 2),
        "idle": astuple(idle),
        "second_half": fitted([(one.calls, one.resident) for one in second], "call"),
        "second_half_without_cache": fitted(
            [(one.calls, one.resident - one.cache) for one in second], "call"
        ),
        "wrong": soak.wrong[:20],
        "faults": faults(soak.read, soak.wrong),
        "read_calls_resident_cache_files_threads_tasks": [astuple(one) for one in soak.read],
    }


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.soak", __doc__, "set", "name")
    program.add_argument("--hours", type=float, default=HOURS, help="of sound, either way")
    program.add_argument("--calls", type=int, help="end after so many, if that is sooner")
    given = program.parse_args()
    settings = [*SETTINGS, *given.set]
    found = asyncio.run(measure(settings, given.hours, given.calls))
    found["took_s"] = program.took_s
    print({key: value for key, value in found.items() if not key.startswith("read_")})
    told = {"settings": settings, "checkpoint": shipped_checkpoint(), **found}
    program.write(told, given.name)
    sys.exit("; ".join(found["faults"]) or 0)


if __name__ == "__main__":
    main()
