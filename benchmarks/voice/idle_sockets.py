"""A live call beside idle conversations: ``python -m benchmarks.voice.idle_sockets``.

Lines of the demo are said in real time to a real server in its own process. Times are measured in
the audio at the client, as in benchmarks.voice.turns: from the last sample of speech to the first
audible sample of the reply. Each round says the lines twice, in two conversations: with 200 further
conversations open in which nobody says anything, and without. Which comes first alternates, so that
other load on the machine falls on both. Memory is the resident set of the server's process when
each of the two begins for the first time.

On two quiet cores the default takes about eight minutes; ``--rounds 1`` is a check. Results:
benchmarks/results/idle_sockets.json.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from websockets.asyncio.client import connect

from benchmarks.report import Program, percentiles, shipped_checkpoint
from benchmarks.voice.corpus import Utterance, demo_lines
from benchmarks.voice.footprint import resident_mib
from voice.demo.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.demo.server import EMBEDDED, ServerProcess, as_arguments, serving
from voice.types import SAMPLE_RATE_HZ

IDLE = 200
ROUNDS = 5
ALLOWED = 1.2
LEFT_OUT = frozenset({"end_conversation", "get_weather", "get_stock_price", "convert_currency"})
"""Tools that end the call or may wait for the network; lines that ask for them are left out."""
APART_S = 0.4


@asynccontextmanager
async def idle_conversations(url: str, count: int) -> AsyncGenerator[None, None]:
    """Keep conversations open in which nobody says anything, for as long as the context lasts."""
    async with AsyncExitStack() as stack:
        for _ in range(count):
            # Only the server sends pings, since only the server's work is to be measured.
            socket = await stack.enter_async_context(connect(url, ping_interval=None, proxy=None))
            await socket.recv()
        yield


async def said(url: str, lines: Sequence[Utterance]) -> dict[str, float]:
    """Hold a call, and return the milliseconds to the first sound of each line's reply."""
    waits = {}
    async with RealtimeClient.open(url, greet=False) as client:
        for line in lines:
            samples = at_client_rate(line.samples, SAMPLE_RATE_HZ)
            turn = await client.turn(samples, line.end * RATE_HZ // SAMPLE_RATE_HZ)
            if turn.voice_to_voice_ms is not None and turn.transcript:
                waits[line.name] = turn.voice_to_voice_ms
            await asyncio.sleep(APART_S)
    return waits


async def measure(server: ServerProcess, lines: Sequence[Utterance], rounds: int) -> dict[str, Any]:
    """Say the lines alone and beside idle conversations, round by round."""
    waits: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    memory: dict[bool, float] = {}
    await said(server.realtime_url, lines[:1])
    for number in range(rounds):
        for crowded in (False, True) if number % 2 else (True, False):
            async with idle_conversations(server.realtime_url, IDLE if crowded else 0):
                memory.setdefault(crowded, resident_mib(server.pid))
                waits[crowded].append(await said(server.realtime_url, lines))
            took = sorted(waits[crowded][-1].values())
            print(f"round {number + 1} {'beside' if crowded else 'alone '}", took, flush=True)
    return figures(waits[False], waits[True]) | {
        "alone_mib": memory[False],
        "beside_mib": memory[True],
    }


def figures(alone: list[dict[str, float]], beside: list[dict[str, float]]) -> dict[str, Any]:
    """Times of both ways over all rounds, and the ratio of their medians."""
    taken = [[ms for waits in way for ms in waits.values()] for way in (alone, beside)]
    shown = [percentiles(values) for values in taken]
    before, after = (way["p50"] for way in shown)
    ratio = round(after / before, 3) if before and after else None
    return {
        "alone_ms": shown[0],
        "beside_ms": shown[1],
        "ratio_of_medians": ratio,
        "within_20_percent": ratio is not None and ratio <= ALLOWED,
    }


async def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.idle_sockets", __doc__, "set")
    program.add_argument("--rounds", type=int, default=ROUNDS)
    given = program.parse_args()
    checkpoint = shipped_checkpoint()
    room = (f"server.max_sessions={IDLE + 1}", f"server.max_connections_per_address={IDLE + 8}")
    settings = [*EMBEDDED, *room, *given.set]
    lines = [line for line in demo_lines("assistant") if line.tool not in LEFT_OUT]
    async with serving(as_arguments(settings)) as server:
        found = await measure(server, lines, given.rounds)
    print(found)
    told = {
        "settings": settings,
        "checkpoint": checkpoint,
        "idle_conversations": IDLE,
        "rounds": given.rounds,
        "lines": [line.name for line in lines],
        **found,
    }
    program.write(told)


if __name__ == "__main__":
    asyncio.run(main())
