"""Start-up time and memory: ``python -m benchmarks.voice.footprint``.

Start-up is the time from starting the process to the first answer of /healthz. Memory is the
resident set of the server's process: idle after the start; idle again after a first call, by which
everything that is made once has been made; and in a second call, still open after three turns. It
also measures what features cost a server that uses none of them (`benchmarks.voice.import_costs`).
Results: benchmarks/results/footprint.json.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.report import Program, percentiles, shipped_checkpoint
from benchmarks.voice.corpus import demo_lines
from voice.demo.client import RealtimeClient, at_client_rate
from voice.demo.server import EMBEDDED, ServerProcess, as_arguments, serving
from voice.types import SAMPLE_RATE_HZ

STARTS = 3
TURNS = 3
SETTLE_S = 2.0


def resident_mib(pid: int) -> float:
    """The resident set of a process, MiB; Linux only."""
    for text in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if text.startswith("VmRSS:"):
            return round(int(text.split()[1]) / 1024, 1)
    raise ValueError(f"process {pid}: /proc has no VmRSS")


def features() -> dict[str, dict[str, float]]:
    """What importing each feature costs: medians of processor time, memory and modules."""
    command = (sys.executable, "-m", "benchmarks.voice.import_costs")
    took = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(STARTS)
    ]
    return {
        name: {
            part: statistics.median(one[name][at] for one in took)
            for at, part in enumerate(("cpu_s", "mib", "modules"))
        }
        for name in took[0]
    }


async def call(server: ServerProcess) -> float:
    """Hold a call of a few turns, and return the resident set, in MiB, while it is still open."""
    async with RealtimeClient.open(server.realtime_url, greet=False) as client:
        for utterance in demo_lines("assistant")[:TURNS]:
            await client.turn(at_client_rate(utterance.samples, SAMPLE_RATE_HZ))
        return resident_mib(server.pid)


async def measure(options: list[str]) -> dict[str, Any]:
    """Start the server several times, and hold two calls with the last."""
    started_s = []
    for _ in range(STARTS - 1):
        async with serving(options) as server:
            started_s.append(server.started_s)
    async with serving(options) as server:
        started_s.append(server.started_s)
        await asyncio.sleep(SETTLE_S)
        idle = resident_mib(server.pid)
        first = await call(server)
        await asyncio.sleep(SETTLE_S)
        between = resident_mib(server.pid)
        second = await call(server)
    return {
        "start_s": {**percentiles(started_s, digits=2), "all": [round(s, 2) for s in started_s]},
        "idle_mib": idle,
        "first_call_mib": first,
        "idle_after_first_call_mib": between,
        "second_call_mib": second,
        "one_call_adds_mib": round(second - between, 1),
        "features": features(),
    }


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.footprint", __doc__, "set")
    settings = [*EMBEDDED, *program.parse_args().set]
    figures = asyncio.run(measure(as_arguments(settings)))
    print(figures)
    told = {"settings": settings, "checkpoint": shipped_checkpoint(), **figures}
    program.write(told)


if __name__ == "__main__":
    main()
