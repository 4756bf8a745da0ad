"""Prints the figures of a checkpoint as one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COLUMNS = (
    *("call", "tool", "slots", "decision", "reply", "told", "ask", "decline", "talk", "fits"),
    *("exact", "fields"),
)


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


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{k} {v}" for k, v in value.items()) + ")"
    return str(value)
