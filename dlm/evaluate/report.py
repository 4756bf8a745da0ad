"""The figures of a checkpoint as one table, and those of several as a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_COLUMNS = ("call", "tool", "slots", "decision", "reply", "ask", "decline", "talk", "fits")


def table(figures: Mapping[str, Any]) -> str:
    """All figures as aligned text: a row for each set, then the rest by name."""
    rows = [("set", "cases", *_COLUMNS)]
    for name, scores in figures["sets"].items():
        shares = [_percent(scores.get(column)) for column in _COLUMNS]
        rows.append((name, str(scores.get("decision_cases", 0)), *shares))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    for name, value in figures.items():
        if name == "sets":
            continue
        if isinstance(value, Mapping):
            lines.append(f"{name}: " + ", ".join(f"{k} {_short(v)}" for k, v in value.items()))
        else:
            lines.append(f"{name}: {value}")
    return "\n".join(line.rstrip() for line in lines)


def plot(files: Sequence[Path], out: Path) -> None:
    """Exact calls of each set over several checkpoints' JSON files, in the order given.

    Raises:
        ValueError: No file is given, or one holds no figures of an evaluation.
    """
    if not files:
        raise ValueError("files: got none, expected at least 1")
    from matplotlib.figure import Figure

    runs = [_figures(file) for file in files]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    names = dict.fromkeys(name for one in runs for name in one["sets"])
    for name in names:
        shares = [one["sets"].get(name, {}).get("call") for one in runs]
        known = [(i, 100 * share) for i, share in enumerate(shares) if share is not None]
        if known:
            axes.plot(*zip(*known, strict=True), marker="o", label=name)
    labels = [str(one.get("checkpoint", file.stem)) for one, file in zip(runs, files, strict=True)]
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylim(0, 100)
    axes.set_ylabel("tool and arguments exact, %")
    axes.legend(fontsize="small")
    figure.savefig(out)


def _figures(file: Path) -> dict[str, Any]:
    try:
        figures = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: not JSON: {error}") from error
    if not isinstance(figures, dict) or not isinstance(figures.get("sets"), dict):
        raise ValueError(f"{file}: got no sets, expected a file that --json wrote")
    return figures


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{k} {v}" for k, v in value.items()) + ")"
    return str(value)
