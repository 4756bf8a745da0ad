"""``python -m voice.compare [FILE]``: which of the variants that ran side by side did better.

Reads the lines of `metrics.json_lines`, and prints a table with bootstrap intervals. A difference
whose interval includes zero is called noise. Sessions of one caller are drawn together, because
they are alike.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voice.config import load_config
from voice.config.command_line import add_options
from voice.errors import ConfigError, VoiceError

DRAWS = 2000
SURE = 0.95
FEWEST = 10
"""With fewer callers of a variant, no difference is judged."""
SEED = 1
MOST_AT_ONCE = 4_000_000
"""Values of all draws together that are in memory at once."""


@dataclass(slots=True)
class Measured:
    """What was measured in the sessions of one caller.

    Attributes:
        sessions: Number of sessions.
        counts: Totals over the sessions: `voice.metrics.OUTCOMES` and "seconds".
        marks_ms: For each mark, its value in every turn.
    """

    sessions: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    marks_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


Callers = Sequence[Measured]


Values = Sequence[float]
Draws = NDArray[np.int32]
"""(DRAWS, N): how often each bootstrap draw has each of N owners of values."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table.

    Attributes:
        of: Computes it for some callers; nan if nothing was measured.
        drawn: Computes it for each of (DRAWS, N) draws of N callers.
    """

    name: str
    of: Callable[[Callers], float]
    drawn: Callable[[Callers, Draws], NDArray[np.float64]]


def quantile(name: str, mark: str, share: float) -> Figure:
    """A quantile of a mark over all turns, in ms."""

    def of(callers: Callers) -> float:
        values = [value for one in callers for value in one.marks_ms.get(mark, ())]
        return float(np.quantile(values, share)) if values else float("nan")

    def drawn(callers: Callers, often: Draws) -> NDArray[np.float64]:
        return resampled([one.marks_ms.get(mark, ()) for one in callers], often, share)

    return Figure(name, of, drawn)


def ratio(name: str, count: str, per: str = "", scale: float = 1.0) -> Figure:
    """A count divided by another count, or by the number of sessions."""

    def parts(callers: Callers) -> NDArray[np.float64]:
        wholes = [one.counts[per] if per else one.sessions for one in callers]
        return np.array([[one.counts[count] for one in callers], wholes], dtype=np.float64)

    def divided(some: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(some[1] > 0, scale * some[0] / np.maximum(1e-9, some[1]), math.nan)

    def of(callers: Callers) -> float:
        return float(divided(parts(callers).sum(axis=1)))

    def drawn(callers: Callers, often: Draws) -> NDArray[np.float64]:
        return divided(parts(callers) @ often.T)

    return Figure(name, of, drawn)


FIGURES = (
    quantile("voice to voice, p50, ms", "first_audio", 0.5),
    quantile("voice to voice, p95, ms", "first_audio", 0.95),
    quantile("end of turn, p50, ms", "end_of_turn", 0.5),
    quantile("final transcript, p50, ms", "asr_final", 0.5),
    ratio("turns not understood, %", "not_understood", "turns", 100),
    ratio("replies interrupted, %", "cut_replies", "replies", 100),
    ratio("tool calls that failed, %", "failed_tools", "tools", 100),
    ratio("failures a session", "failures"),
    ratio("turns a session", "turns"),
    ratio("seconds a session", "seconds"),
)


def read(lines: Iterable[str]) -> dict[str, Callers]:
    """The measurements of each variant's callers; lines without a variant are skipped.

    Raises:
        ConfigError: A line was not written by `voice.metrics`.
    """
    found: dict[str, dict[int, Measured]] = defaultdict(lambda: defaultdict(Measured))
    for number, text in enumerate(lines, start=1):
        try:
            line = json.loads(text)
            if "variant" not in line:
                continue
            of = found[line["variant"]][line["bucket"]]
            if "outcome" in line:
                counts = line["outcome"].items()
                of.counts.update({name: n for name, n in counts if isinstance(n, int | float)})
                of.sessions += 1
            else:
                for mark, value_ms in line["marks_ms"].items():
                    of.marks_ms[mark].append(float(value_ms))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"line {number}: no line of metrics.json_lines") from error
    return {variant: [*callers.values()] for variant, callers in found.items()}


def draws(count: int, draw: np.random.Generator) -> Draws:
    """Bootstrap draws of ``count`` owners of values, each of as many, with replacement."""
    rows = (np.bincount(draw.integers(0, count, count), minlength=count) for _ in range(DRAWS))
    return np.stack([row.astype(np.int32) for row in rows])


def resampled(own: Sequence[Values], often: Draws, share: float | None) -> NDArray[np.float64]:
    """(DRAWS,) quantiles, or means if ``share`` is None, of the values of the drawn owners.

    Args:
        own: Each owner's values, none or several.
        often: As `draws` returns it.
    """
    owner = np.repeat(np.arange(len(own)), [len(some) for some in own])
    flat = np.array([value for some in own for value in some], dtype=np.float64)
    if not len(flat):
        return np.full(len(often), math.nan)
    in_order = np.argsort(flat, kind="stable")
    flat, owner = flat[in_order], owner[in_order]
    rows = max(1, MOST_AT_ONCE // len(flat))
    pieces = (often[at : at + rows, owner] for at in range(0, len(often), rows))
    return np.concatenate([_of_weighted(flat, piece, share) for piece in pieces])


def _of_weighted(
    ordered: NDArray[np.float64], weights: Draws, share: float | None
) -> NDArray[np.float64]:
    """As `resampled`, of values in ascending order that each draw has so many times."""
    until = weights.cumsum(axis=1)
    whole = until[:, -1]
    if share is None:
        values = weights @ ordered / np.maximum(1, whole)
    else:
        place = share * np.maximum(0, whole - 1)
        below, above = (
            ordered[np.minimum((until <= at[:, None]).sum(axis=1), len(ordered) - 1)]
            for at in (np.floor(place), np.ceil(place))
        )
        values = below + (place - np.floor(place)) * (above - below)
    return np.where(whole > 0, values, math.nan)


def interval(values: NDArray[np.float64], sure: float = SURE) -> tuple[float, float]:
    """The central interval that holds a share ``sure`` of the values; nan if all are nan."""
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - sure) / 2, (1 + sure) / 2])
    return float(low), float(high)


def verdict(
    first: NDArray[np.float64], other: NDArray[np.float64], callers: int, rows: int
) -> tuple[tuple[float, float], str]:
    """The interval of a difference, and the verdict on it.

    It is wide enough that in 95 of 100 tables no row is called a difference by chance (Bonferroni).

    Args:
        first: (DRAWS,) values of the first variant.
        other: (DRAWS,) values of another variant.
        callers: Number of callers of the smaller variant.
        rows: Number of rows in the table.
    """
    low, high = interval(other - first, 1 - (1 - SURE) / rows)
    if callers < FEWEST:
        return (low, high), "too few callers"
    if np.isnan(low):
        return (low, high), "nothing measured"
    if low <= 0 <= high:
        return (low, high), "noise"
    return (low, high), "lower" if high < 0 else "higher"


def table(measured: Mapping[str, Callers]) -> Iterator[str]:
    """The lines of the Markdown table; every variant is compared with the first."""
    first, *others = measured
    yield f"| | {' | '.join(_heading(name, measured[name]) for name in measured)} | difference |"
    yield f"|---|{'---|' * (len(measured) + 1)}"
    draw = np.random.default_rng(SEED)
    often = {name: draws(len(callers), draw) for name, callers in measured.items()}
    for figure in FIGURES:
        drawn = {name: figure.drawn(measured[name], often[name]) for name in measured}
        cells = [_cell(figure.of(measured[name]), drawn[name]) for name in measured]
        told = []
        for name in others:
            fewest = min(len(measured[first]), len(measured[name]))
            bounds, says = verdict(drawn[first], drawn[name], fewest, len(FIGURES))
            told.append(f"{name}: {says} ({_number(bounds[0])} to {_number(bounds[1])})")
        yield f"| {figure.name} | {' | '.join(cells)} | {'; '.join(told)} |"


def _heading(name: str, callers: Callers) -> str:
    sessions = sum(one.sessions for one in callers)
    turns = sum(len(one.marks_ms.get("first_audio", ())) for one in callers)
    return f"{name} (sessions: {sessions}, callers: {len(callers)}, turns: {turns})"


def _cell(value: float, drawn: NDArray[np.float64]) -> str:
    low, high = interval(drawn)
    return f"{_number(value)} ({_number(low)} to {_number(high)})"


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def compared(measured: Mapping[str, Callers], order: Sequence[str]) -> dict[str, Callers]:
    """The variants in the configuration's order, followed by those that it does not name.

    Raises:
        ConfigError: There are fewer than two variants.
    """
    known = [name for name in order if name in measured]
    ordered = {name: measured[name] for name in [*known, *sorted(measured.keys() - set(known))]}
    if len(ordered) < 2:
        got = f"sessions of {', '.join(ordered) or 'no variant'}"
        raise ConfigError(f"got {got}; expected two variants or more, as compare.variants has them")
    return ordered


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m voice.compare", description=__doc__)
    parser.add_argument("file", nargs="?", help="else what metrics.json_lines names")
    add_options(parser, "metrics.json_lines=FILE")
    given = parser.parse_args(arguments)
    try:
        config = load_config(given.config, given.set)
        file = given.file or config.metrics.json_lines
        if not file:
            raise ConfigError("got no file; expected its path, or metrics.json_lines to name it")
        with Path(file).open(encoding="utf-8") as lines:
            measured = compared(read(lines), [*config.compare.variants])
    except FileNotFoundError:
        print(f"error: {file}: no such file; the server makes it at its start", file=sys.stderr)
        return 1
    except (VoiceError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(table(measured)))
    print(
        f"\nIntervals hold {SURE:.0%} of {DRAWS:,} bootstrap draws of callers; those of differences"
        " hold for all rows together. A difference with both signs in it is noise."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
