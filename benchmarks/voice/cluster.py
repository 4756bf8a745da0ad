"""What replicas bring, and what the hop costs: ``python -m benchmarks.voice.cluster``.

`CALLERS` callers at once say three lines of the demo again and again for `WINDOW_S`, as fast as the
server takes the sound, and wait for each answer to its end: how many turns a second are answered,
and what a turn takes of the processors in all processes of the server. Before that one caller says
the demo's lines in real time: from voice to voice. First `voice.serve`, then clusters of `SHAPES`.
Needs an interpreter that has Ray. Results: benchmarks/results/cluster.json.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from benchmarks.report import Program, shipped_checkpoint
from benchmarks.voice.conversing import converse
from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.figures import answered, timing
from benchmarks.voice.soak import Caller
from voice.demo.server import ServerProcess, as_arguments, serving

CALLERS = 8
WINDOW_S = 60.0
LINES = ("assistant-4-add", "assistant-5-list", "assistant-2-sum")
SHAPES: dict[str, Mapping[str, int]] = {
    "one of each": {},
    "two ingresses": {"ingress": 2},
    "two engines": {"engine": 2},
    "two ears": {"ears": 2},
    "two of each": {"ingress": 2, "engine": 2, "ears": 2, "voice": 2},
    "four ingresses, two of the others": {"ingress": 4, "engine": 2, "ears": 2, "voice": 2},
}
BOUNDS = ("most", "least")
SETTINGS = (
    f"server.max_sessions={CALLERS}",
    "server.max_audio_speed=1000",
    "server.max_messages_per_s=10000",
    "server.max_responses_per_min=100000",
    'tools.database=":memory:"',
    # The processes are placed whatever the machine has.
    *(f"cluster.{part}.cpus=0.01" for part in ("ingress", "engine", "ears", "voice")),
)


def replicas(shape: Mapping[str, int]) -> list[str]:
    """The settings of a shape."""
    return [f"cluster.{part}.{bound}={count}" for part, count in shape.items() for bound in BOUNDS]


def processor_s(pid: int) -> float:
    """Processor time that a process and what it has started have taken so far; Linux only."""
    parents, spent = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        one = int(folder.name)
        parents[one] = int(fields[1])
        spent[one] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ours(one: int) -> bool:
        while one in parents and one != pid:
            one = parents[one]
        return one == pid

    return sum(seconds for one, seconds in spent.items() if ours(one))


async def throughput(server: ServerProcess) -> dict[str, float]:
    """Turns that callers get answered in `WINDOW_S`."""
    turns = 0

    async def call() -> None:
        nonlocal turns
        async with connect(server.realtime_url, proxy=None) as socket:
            caller = Caller(socket)
            while True:
                for name in LINES:
                    await caller.says(name)
                    await caller.until("response.done")
                    turns += 1

    before_s = processor_s(server.pid)
    try:
        async with asyncio.timeout(WINDOW_S), asyncio.TaskGroup() as group:
            for _ in range(CALLERS):
                group.create_task(call())
    except TimeoutError:
        taken_s = processor_s(server.pid) - before_s
    return {
        "turns_per_s": round(turns / WINDOW_S, 2),
        "processor_ms_per_turn": round(1000 * taken_s / max(1, turns)),
    }


async def measure(module: str, settings: list[str]) -> dict[str, Any]:
    """Both figures of one server."""
    async with serving(as_arguments(settings), module=module) as server:
        said = await converse(server.realtime_url, demo_lines("assistant"))
        alone = timing(answered(said))["voice_to_voice_ms"]
        return {"voice_to_voice_ms": alone, **await throughput(server)}


async def measure_all(settings: list[str]) -> dict[str, Any]:
    """Of one process, and of each shape."""
    found = {"voice.serve": await measure("voice.serve", settings)}
    for name, shape in SHAPES.items():
        found[name] = await measure("voice.cluster", [*settings, *replicas(shape)])
        print(name, found[name], flush=True)
    return found


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.cluster", __doc__, "set")
    settings = [*SETTINGS, *program.parse_args().set]
    found = asyncio.run(measure_all(settings))
    told = {"settings": settings, "checkpoint": shipped_checkpoint(), "shapes": found}
    program.write({**told, "callers": CALLERS, "took_s": program.took_s})


if __name__ == "__main__":
    main()
