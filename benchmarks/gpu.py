"""The whole measurement on a GPU, one command: ``python -m benchmarks.gpu``.

It first checks that the compiled kernels agree with their references: without that no figure
counts. Then it measures every kernel against torch, torch.compile and the roofline; a round of the
engine at the shapes of 0.5B, 1.5B and 8B models; and tokens per second of the shipped model. Last
it draws a plot. Each part writes its own file in benchmarks/results after each figure, so that a
part that was cut off continues with ``--go-on``. ``--only`` selects parts, and ``--minutes`` bounds
each. ``--dry-run`` goes through all of it at small sizes, on any machine, and writes nothing.

It needs torch, triton, transformers, tokenizers, safetensors and numpy. Without pytest, kernels are
checked at the benchmarks' shapes alone; without matplotlib, run ``--only plot`` on another machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import RESULTS, ROOT, drawn
from benchmarks.series import add_options

PARITY = ("tests/kernels", "tests/dlm/fused/test_runner.py")
QUICK = ("tests/kernels/test_parity.py", "tests/dlm/fused/test_packing.py")
# A machine for measuring may lack the plugins that the project's pytest options configure.
PYTEST = (
    "-q", "-p", "no:cacheprovider", "-o", "addopts=", "-W", "ignore::pytest.PytestConfigWarning",
)  # fmt: skip
PARTS = {
    "kernels": "benchmarks.kernels.speed",
    "step": "benchmarks.dlm.gpu_step",
    "tokens": "benchmarks.dlm.gpu_tokens",
}


def run(arguments: Sequence[str]) -> None:
    """Run a Python module.

    Raises:
        SystemExit: The module failed.
    """
    print("$ python -m", *arguments, flush=True)
    if code := subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, check=False).returncode:
        sys.exit(code)


def parity(files: Sequence[str]) -> None:
    """Run tests where pytest is installed.

    Raises:
        SystemExit: A test failed.
    """
    if importlib.util.find_spec("pytest") is None:
        print("pytest is not installed: kernels are checked at the benchmarks' shapes alone")
    else:
        run(["pytest", *PYTEST, *files])


def draw(measured: Path, target: Path) -> None:
    """Plot a results file where matplotlib is installed."""
    if importlib.util.find_spec("matplotlib") is None:
        print("matplotlib is not installed: --only plot draws elsewhere")
        return
    figures = json.loads(measured.read_text(encoding="utf-8"))["figures"]
    if not _steps(figures):
        print(f"{measured} holds no steps: nothing is drawn")
        return
    plot(figures, target)
    print(target)


def _steps(results: dict[str, Any]) -> list[tuple[list[str], dict[str, float]]]:
    """Each measured step: its model, number format, context and batch, and its figures."""
    return [(key.split("_"), told) for key, told in results.items() if key.count("_") == 3]


def plot(results: dict[str, Any], file: Path) -> None:
    """Plot milliseconds per step over the batch, measured and at the roofline, a panel a model."""
    rows = _steps(results)
    models = list(dict.fromkeys(key[0] for key, _ in rows))
    with drawn(file, 11, 3.6, panels=len(models)) as axes:
        panels = np.atleast_1d(axes)
        for panel, model in zip(panels, models, strict=True):
            mine = [(key, told) for key, told in rows if key[0] == model]
            for bits, context in dict.fromkeys((key[1], key[2]) for key, _ in mine):
                points = [(int(k[3]), told) for k, told in mine if (k[1], k[2]) == (bits, context)]
                batches = [batch for batch, _ in points]
                label = f"{bits}, {context} before"
                (line,) = panel.plot(batches, [told["ms"] for _, told in points], "o-", label=label)
                least = [told["least_ms"] for _, told in points]
                panel.plot(batches, least, ":", color=line.get_color())
            panel.set(title=model, xlabel="requests", xscale="log", yscale="log")
        panels[0].set_ylabel("ms per step; dotted: roofline")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chosen parts."""
    parser = argparse.ArgumentParser(prog="benchmarks.gpu", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="small sizes, on any machine")
    names = ["parity", *PARTS, "plot"]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    add_options(parser)
    given = parser.parse_args(arguments)
    options = ["--dry-run"] if given.dry_run else []
    if "parity" in given.only:
        parity(QUICK if given.dry_run else PARITY)
    if not given.dry_run:
        options += ["--go-on"] if given.go_on else []
        options += [] if given.minutes is None else ["--minutes", str(given.minutes)]
    for part in PARTS:
        if part in given.only:
            run([PARTS[part], *options])
    measured = RESULTS / "gpu_step.json"
    if "plot" in given.only and not given.dry_run and measured.is_file():
        draw(measured, ROOT / "docs" / "gpu-step.svg")


if __name__ == "__main__":
    main()
