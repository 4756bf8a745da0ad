"""What replicas bring, and what the hop costs: ``python -m benchmarks.voice.cluster``.

First one caller says the demo's lines in real time, which gives voice to voice and the cores that a
call takes in each part. Then `CALLERS` callers at once repeat three lines of the demo for
`WINDOW_S`, as fast as the server accepts the sound, each waiting for the end of an answer. That
gives the turns answered per second, and the processor time per turn in each part's processes.
All of this is done with `voice.serve`, then with clusters of `SHAPES`. On two quiet cores it takes
about 20 minutes. It needs an interpreter that has Ray. Results: benchmarks/results/cluster.json.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from benchmarks.report import Program, shipped_checkpoint
from benchmarks.voice.conversing import converse
from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.figures import answered, timing
from benchmarks.voice.footprint import resident_mib
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
REST = "rest"
_REPLICA = re.compile("^ray::.*quicksilver.(ingress|engine|ears|voice)")
SETTINGS = (
    f"server.max_sessions={CALLERS}",
    "server.max_audio_speed=1000",
    "server.max_messages_per_s=10000",
    "server.max_responses_per_min=100000",
    'tools.database=":memory:"',
    # Ray places all processes, however few cores the machine has.
    *(f"cluster.{part}.cpus=0.01" for part in ("ingress", "engine", "ears", "voice")),
)


def replicas(shape: Mapping[str, int]) -> list[str]:
    """The settings of a shape."""
    return [f"cluster.{part}.{bound}={count}" for part, count in shape.items() for bound in BOUNDS]


def processes(pid: int) -> Iterator[tuple[int, str]]:
    """A process and its descendants, each with the part that it belongs to; Linux only.

    Processes of no part, such as Ray's own, belong to `REST`.
    """
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(folder.name)] = int(_stat(int(folder.name))[1])
    for process in parents:
        one = process
        while one in parents and one != pid:
            one = parents[one]
        if one == pid:
            with suppress(OSError):
                found = _REPLICA.search(Path(f"/proc/{process}/cmdline").read_text())
                yield process, found[1] if found else REST


def processor_s(pid: int) -> Counter[str]:
    """Seconds of processor time that each part has taken so far."""
    taken: Counter[str] = Counter()
    for process, part in processes(pid):
        with suppress(OSError):
            taken[part] += sum(map(int, _stat(process)[11:13])) / os.sysconf("SC_CLK_TCK")
    return taken


def resident_of(pid: int) -> Counter[str]:
    """Resident memory of each part, MiB; memory that processes share counts in each of them."""
    taken: Counter[str] = Counter()
    for process, part in processes(pid):
        with suppress(OSError):
            taken[part] += round(resident_mib(process))
    return taken


def _stat(process: int) -> list[str]:
    """The fields of a process's /proc stat line, from its state on."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def each_of(before: Counter[str], after: Counter[str], count: float) -> dict[str, float]:
    """The difference of two times, divided by a count, for each part and in all."""
    taken = {part: (after[part] - before[part]) / count for part in after}
    taken = {part: one for part, one in taken.items() if one > 0}
    return {part: round(one, 4) for part, one in {"all": sum(taken.values()), **taken}.items()}


async def throughput(server: ServerProcess) -> dict[str, Any]:
    """Turns that callers get answered per second, over `WINDOW_S`, and processor time per turn."""
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

    before = processor_s(server.pid)
    try:
        async with asyncio.timeout(WINDOW_S), asyncio.TaskGroup() as group:
            for _ in range(CALLERS):
                group.create_task(call())
    except TimeoutError:
        after = processor_s(server.pid)
    return {
        "turns_per_s": round(turns / WINDOW_S, 2),
        "processor_s_per_turn": each_of(before, after, max(1, turns)),
    }


async def measure(module: str, settings: list[str]) -> dict[str, Any]:
    """Start one server and measure all its figures."""
    async with serving(as_arguments(settings), module=module) as server:
        before, begun_s = processor_s(server.pid), time.monotonic()
        said = await converse(server.realtime_url, demo_lines("assistant"))
        cores = each_of(before, processor_s(server.pid), time.monotonic() - begun_s)
        alone = timing(answered(said))["voice_to_voice_ms"]
        return {
            "voice_to_voice_ms": alone,
            "cores_of_a_call": cores,
            "resident_mib": resident_of(server.pid),
            **await throughput(server),
        }


async def measure_all(settings: list[str]) -> dict[str, Any]:
    """Measure the single process, then each shape of a cluster."""
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
