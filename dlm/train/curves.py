"""``python -m dlm.train.curves RUN …``: loss curves of runs as a PNG."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dlm.command_line import told

LOSSES = ("causal", "denoising", "uncertainty")

Row = dict[str, Any]
Points = tuple[list[float], list[float]]


def read_log(directory: Path) -> list[Row]:
    """Rows of a run's log in order of step; where a step was done again, the last row of it.

    Raises:
        FileNotFoundError: There is no log.
    """
    lines = (directory / "log.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["step"]: row for row in map(json.loads, lines)}
    return [rows[step] for step in sorted(rows)]


def curves(rows: Sequence[Row]) -> dict[str, Points]:
    """Name of each loss in the log → minutes and values."""
    out: dict[str, Points] = {}
    for name in (n for loss in LOSSES for n in (loss, f"heldout_{loss}")):
        points = [(row["minutes"], row[name]) for row in rows if name in row]
        if points:
            out[name] = ([m for m, _ in points], [v for _, v in points])
    return out


def draw(runs: Mapping[str, Sequence[Row]], out: Path) -> None:
    """Draw the losses of runs, by minutes of training."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, rows in runs.items():
        for loss, (minutes, values) in curves(rows).items():
            style = "o--" if loss.startswith("heldout_") else "-"
            axes.plot(minutes, values, style, label=f"{name}: {loss}", linewidth=1, markersize=3)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("cross entropy, nats per token")
    axes.set_yscale("log")
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)
    figure.savefig(out, dpi=110)


def main(arguments: list[str] | None = None) -> None:
    """Read the logs and draw them.

    Raises:
        SystemExit: 2 if a run has no log, or the drawing cannot be written.
    """
    parser = argparse.ArgumentParser(prog="dlm.train.curves", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="directories of runs")
    parser.add_argument("--out", type=Path, default=Path("curves.png"), help="the PNG")
    options = parser.parse_args(arguments)
    with told(parser):
        draw({run.name: read_log(run) for run in options.runs}, options.out)
    print(options.out)


if __name__ == "__main__":
    main()
