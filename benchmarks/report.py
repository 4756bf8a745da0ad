"""What all benchmarks share: the command line, and results files that say what ran where."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dlm.train.machine import cpu, git, instructions

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


OPTIONS: dict[str, dict[str, Any]] = {
    "set": {"action": "append", "default": [], "metavar": "KEY=VALUE", "help": "an option"},
    "name": {"help": "of the results file"},
    "corpora": {"type": Path, "help": "directory of the text corpora"},
    "config": {"default": "default", "help": "file or name of a configuration"},
}
"""Options that several benchmarks share."""


class Program(argparse.ArgumentParser):
    """A benchmark's command line; notes the machine's state before the benchmark begins.

    Args:
        module: The benchmark's module, as it is run.
        doc: The module's docstring.
        options: Names from `OPTIONS`.
    """

    def __init__(self, module: str, doc: str | None, *options: str) -> None:
        super().__init__(prog=module, description=doc)
        self.began, self.started = machine(), time.monotonic()
        for name in options:
            self.add_argument(f"--{name}", **OPTIONS[name])

    @property
    def took_s(self) -> float:
        """Seconds since the program began."""
        return round(time.monotonic() - self.started, 1)

    def write(self, figures: dict[str, Any], name: str | None = None) -> None:
        """Write the results file; without a name it is called like the module."""
        file = write(name or self.prog.rpartition(".")[2], self.prog, figures, self.began)
        print(file, flush=True)


@contextmanager
def drawn(file: Path, width: float = 7, height: float = 4.5, panels: int = 1) -> Iterator[Any]:
    """Yield axes, or a row of them, to draw on; then add grids and legends, and write an SVG."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, panels, figsize=(width, height), layout="constrained")
    yield axes
    for each in figure.axes:
        each.grid(alpha=0.3)
        each.legend()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def percentiles(values: Sequence[float], digits: int = 0) -> dict[str, float | int | None]:
    """How many values, their median, 95th percentile and largest; None where there are none."""
    if not values:
        return {"n": 0, "p50": None, "p95": None, "max": None}
    p50, p95, largest = np.percentile(values, [50, 95, 100])
    return {
        "n": len(values),
        "p50": round(float(p50), digits),
        "p95": round(float(p95), digits),
        "max": round(float(largest), digits),
    }


def share(count: int, of: int) -> dict[str, float | int | None]:
    """A rate and the counts that it is computed from."""
    return {"count": count, "of": of, "rate": round(count / of, 4) if of else None}


def share_told(share: Mapping[str, Any]) -> str:
    """A `share` as a table cell; empty where it is of nothing."""
    if not share["of"]:
        return ""
    return f"{100 * share['rate']:.1f}% ({share['count']} of {share['of']})"


def machine() -> dict[str, Any]:
    """The processor, its load, the memory, the system and the commit.

    Call this before a benchmark begins: the benchmark loads the machine, and files may change
    while it runs.
    """
    return {
        "commit": commit(),
        "cpu": cpu() or "unknown",
        "instructions": instructions(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_1_min": round(os.getloadavg()[0], 2),
    }


def commit() -> str:
    """The commit that is checked out, with ``+changes`` when files differ from it."""
    head = git("rev-parse", "--short=12", "HEAD") or "unknown"
    return f"{head}+changes" if git("status", "--porcelain", "--untracked-files=no") else head


def shipped_checkpoint() -> dict[str, str]:
    """Directory → the first 12 hexadecimal digits of the SHA-256 of its weight files, in order."""
    told: dict[str, Any] = {}
    for file in sorted((ROOT / "dlm" / "checkpoints").glob("*/model*.safetensors")):
        told.setdefault(file.parent.name, hashlib.sha256()).update(file.read_bytes())
    return {name: digest.hexdigest()[:12] for name, digest in told.items()}


def write(name: str, module: str, figures: dict[str, Any], began: dict[str, Any]) -> Path:
    """Write benchmarks/results/<name>.json.

    Args:
        name: Of the file, without its suffix.
        module: The benchmark's module, as it is run.
        figures: What was measured.
        began: `machine` as it was before the benchmark began.

    Returns:
        The file.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{name}.json"
    where = {key: value for key, value in began.items() if key != "commit"}
    ran, ended = began["commit"], commit()
    told = {
        "command": shlex.join(["python", "-m", module, *sys.argv[1:]]),
        "commit": ran if ran == ended else f"{ran}, {ended} when it ended",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": where,
        "figures": figures,
    }
    file.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def differences(told: Mapping[str, Any], began: Mapping[str, Any]) -> str:
    """How an earlier run's commit and machine differ from this run's, in words; "" if they do not.

    Args:
        told: The earlier run's results file.
        began: `machine` as this run found it; its load is not compared.
    """
    earlier = {"commit": told["commit"], **told["machine"], "load_1_min": began["load_1_min"]}
    other = [key for key, value in began.items() if earlier.get(key) != value]
    return ", ".join(f"{key} {earlier.get(key)!r}, now {began[key]!r}" for key in other)
