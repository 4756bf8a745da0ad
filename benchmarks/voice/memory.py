"""Memory over many turns: ``python -m benchmarks.voice.memory``.

One server holds `TURNS` spoken turns in real time, in rounds of several calls at once that hang up
after a few turns. Its resident set is read after every `EVERY` turns, and from its metrics the part
of that which is the prompt cache: keys and values of earlier prompts, which are kept up to
``llm.prompt_cache_mib``. That limit is set low here, so that the cache is full before the second
half of the turns, and growth from then on is something else.

A straight line is fitted to the readings of the second half. Memory is flat if the slope is at most
`FLAT_KIB` a turn, or at most two standard errors, which cannot be told from no growth. The heap
grows in steps of 5 to 15 MiB, more and more rarely, where dialogues of new lengths leave holes
between their caches; so the second half needs many turns. A connection that breaks is counted, and
its call goes on in a new one. All of it takes about a quarter of an hour. Results:
benchmarks/results/memory.json.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.report import Program, shipped_checkpoint
from benchmarks.voice.corpus import Utterance, demo_lines
from benchmarks.voice.footprint import resident_mib
from voice.demo.client import RealtimeClient, at_client_rate
from voice.demo.server import EMBEDDED, ServerProcess, as_arguments, serving
from voice.errors import VoiceError
from voice.types import SAMPLE_RATE_HZ

TURNS, CALLS, ROUNDS, EVERY = 800, 4, 20, 5
CACHE_MIB = 48
TOLD_AT = (20, 100, 200, 400, 800)
FLAT_KIB = 10.0
"""2 MiB in 200 turns."""
APART_S = 0.7
SETTLE_S = 2.0
MOST_BROKEN = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """Memory after so many turns, MiB.

    Attributes:
        turns: Turns held by then.
        resident: The resident set of the server's process.
        cache: The prompt cache, which is part of that.
    """

    turns: int
    resident: float
    cache: float


@dataclass(slots=True)
class Held:
    """Counts of the turns held so far, and the readings taken meanwhile.

    Attributes:
        server: The server that is measured.
        turns: Turns held, over all calls.
        replied: How many of these were answered.
        broken: Why connections ended in the middle of a call.
        read: The readings, in order.
    """

    server: ServerProcess
    turns: int = 0
    replied: int = 0
    broken: list[str] = field(default_factory=list)
    read: list[Reading] = field(default_factory=list)

    async def count(self, replied: bool) -> None:
        """Count one more turn, and take a reading if one is due."""
        self.turns += 1
        self.replied += replied
        if self.turns % EVERY == 0:
            self.read.append(await reading(self.server, self.turns))
            print(self.read[-1], flush=True)

    def broke(self, error: ConnectionError) -> None:
        """Note that a connection has broken.

        Raises:
            VoiceError: The server is gone, or too many connections have broken.
        """
        self.broken.append(str(error))
        print(f"behind turn {self.turns}: {error}", flush=True)
        if not Path(f"/proc/{self.server.pid}").exists():
            raise VoiceError(f"the server ended by itself behind turn {self.turns}")
        if len(self.broken) > MOST_BROKEN:
            raise VoiceError(f"{len(self.broken)} connections broke, the last so: {error}")


async def reading(server: ServerProcess, turns: int) -> Reading:
    """Read the server's memory now."""
    async with httpx.AsyncClient(trust_env=False, timeout=60.0) as http:
        series = (await http.get(server.metrics_url)).text
    return Reading(turns, resident_mib(server.pid), cache_mib(series))


def cache_mib(series: str) -> float:
    """The size of the prompt cache according to a server's series, MiB."""
    return round(series_value(series, "quicksilver_prompt_cache_bytes") / 2**20, 1)


def series_value(series: str, name: str) -> float:
    """The value of one of a server's series without labels.

    Raises:
        ValueError: There is no such series.
    """
    for line in series.splitlines():
        if line.startswith(f"{name} "):
            return float(line.removeprefix(name))
    raise ValueError(f"got no series {name}; expected one in /metrics")


async def call(lines: Sequence[Utterance], delay_s: float, held: Held) -> None:
    """Say lines in one conversation; if it breaks, say the remaining ones in a new one."""
    await asyncio.sleep(delay_s)
    left = list(lines)
    while left:
        try:
            async with RealtimeClient.open(held.server.realtime_url, greet=False) as client:
                while left:
                    samples = at_client_rate(left.pop(0).samples, SAMPLE_RATE_HZ)
                    turn = await client.turn(samples)
                    await held.count(turn.status == "completed")
        except ConnectionError as error:
            held.broke(error)
            await held.count(False)


async def measure(options: list[str], turns: int, calls: int, rounds: int) -> dict[str, Any]:
    """Hold the turns, and return the figures."""
    each = turns // (calls * rounds)
    staying = [line for line in demo_lines("assistant") if line.tool != "end_conversation"]
    async with serving(options) as server:
        await asyncio.sleep(SETTLE_S)
        held, before = Held(server), await reading(server, 0)
        for number in range(calls * rounds)[::calls]:
            async with asyncio.TaskGroup() as group:
                for own in range(calls):
                    first = (number + own) % len(staying)
                    lines = list(islice(cycle(staying), first, first + each))
                    group.create_task(call(lines, own * APART_S, held))
        await asyncio.sleep(SETTLE_S)
        after = await reading(server, held.turns)
    return {
        "turns": held.turns,
        "replied": held.replied,
        "connections_broken": held.broken,
        "calls_at_once": calls,
        "turns_of_a_call": each,
        "idle_mib": before.resident,
        "idle_after_all_calls_mib": after.resident,
        **summary(held.read),
        "read_turns_resident_cache_mib": [[r.turns, r.resident, r.cache] for r in held.read],
    }


def summary(read: Sequence[Reading]) -> dict[str, Any]:
    """Memory at a few turns, and the line through the second half of the readings."""
    turns = read[-1].turns if read else 0
    half = [r for r in read if r.turns >= turns / 2]
    told = [r for r in read if r.turns in TOLD_AT]
    line = fitted([(r.turns, r.resident) for r in half])
    return {
        "resident_mib": {str(r.turns): r.resident for r in told},
        "prompt_cache_mib": {str(r.turns): r.cache for r in told},
        "second_half_from_turn": half[0].turns if half else None,
        "second_half": line,
        "second_half_without_cache": fitted([(r.turns, r.resident - r.cache) for r in half]),
        "flat": is_flat(line) if line else None,
    }


def fitted(read: Sequence[tuple[int, float]], each: str = "turn") -> dict[str, float] | None:
    """Fit a line by least squares through (turn, MiB).

    Args:
        read: Turns, or what ``each`` names, and the memory after them.
        each: What is counted.

    Returns:
        The slope and its standard error, KiB per turn or per ``each``, and how far the readings
        scatter around the line, MiB; None for fewer than three readings.
    """
    if len(read) < 3:
        return None
    turns, mib = np.array(read).T
    (slope, start) = np.polyfit(turns, mib, 1)
    scatter = float(np.sqrt(np.sum((mib - slope * turns - start) ** 2) / (len(read) - 2)))
    error = scatter / float(np.sqrt(np.sum((turns - turns.mean()) ** 2)))
    return {
        f"slope_kib_per_{each}": round(float(slope) * 1024, 2),
        f"standard_error_kib_per_{each}": round(error * 1024, 2),
        "scatter_mib": round(scatter, 2),
    }


def is_flat(line: dict[str, float]) -> bool:
    """Whether a line's slope is small, or within what chance explains."""
    allowed = max(FLAT_KIB, 2 * line["standard_error_kib_per_turn"])
    return line["slope_kib_per_turn"] <= allowed


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.memory", __doc__, "set", "name")
    program.add_argument("--turns", type=int, default=TURNS)
    program.add_argument("--calls", type=int, default=CALLS, help="at once")
    program.add_argument("--rounds", type=int, default=ROUNDS, help="of calls, one after the other")
    given = program.parse_args()
    settings = [*EMBEDDED, f"llm.prompt_cache_mib={CACHE_MIB}", *given.set]
    figures = asyncio.run(measure(as_arguments(settings), given.turns, given.calls, given.rounds))
    figures["took_s"] = program.took_s
    print({key: value for key, value in figures.items() if not key.startswith("read_")})
    told = {"settings": settings, "checkpoint": shipped_checkpoint(), **figures}
    program.write(told, given.name)


if __name__ == "__main__":
    main()
