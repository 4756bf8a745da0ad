"""Computes a scorecard's figures from judgements of calls, and compares two scorecards."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice.compare import SEED, Values, draws, interval, resampled, verdict
from voice.errors import ConfigError

Call = Mapping[str, Any]
"""A judgement, as `voice.prove.judge.judge` returns it."""
Calls = Sequence[Call]


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the scorecard.

    Attributes:
        unit: "%" or "ms".
        good: "high" or "low".
        each: Returns a call's values, none or several.
        quantile: Which quantile of all calls' values the figure is; None for their mean.
    """

    name: str
    unit: str
    good: str
    each: Callable[[Call], Values]
    quantile: float | None = None

    def of(self, calls: Calls) -> float:
        """The figure's value for some calls; nan if they have no values."""
        values = [value for call in calls for value in self.each(call)]
        if not values:
            return math.nan
        return float(
            np.mean(values) if self.quantile is None else np.quantile(values, self.quantile)
        )

    def drawn(self, calls: Calls) -> NDArray[np.float64]:
        """(DRAWS,) values for bootstrap draws of the calls, the same draws for every figure."""
        often = draws(len(calls), np.random.default_rng(SEED))
        return resampled([self.each(call) for call in calls], often, self.quantile)


def _percent(met: Iterable[bool]) -> Values:
    return [100.0 * one for one in met]


def _lines(call: Call) -> list[Mapping[str, Any]]:
    """The caller's turns that did not talk over the agent."""
    return [turn for turn in call["turns"] if turn["kind"] == "line"]


def _words(call: Call) -> Values:
    """For each word, its share of the turn's errors, so that turns weigh by their words."""
    return [100 * t["word_errors"] / t["words"] for t in call["turns"] for _ in range(t["words"])]


def voice_to_voice(call: Call) -> Values:
    """Response times of the turns that were answered, except those that were cut off."""
    return [ms for ms in waits(call) if ms is not None]


def waits(call: Call) -> list[float | None]:
    """Response times of the turns that were not cut off; None for no answer."""
    return [turn["voice_to_voice_ms"] for turn in call["turns"] if not turn["cut_off"]]


def _interruptions(call: Call) -> list[Mapping[str, Any]]:
    return [over for over in call["over"] if over["kind"] == "interruption"]


def _silence(call: Call) -> Values:
    return [o["silence_ms"] for o in _interruptions(call) if o["silence_ms"] is not None]


FIGURES = (
    Figure("task success", "%", "high", lambda call: _percent([call["passed"]])),
    Figure("nothing done twice", "%", "high", lambda call: _percent([call["exactly_once"]])),
    Figure("calls exact", "%", "high", lambda call: _percent([call["calls_exact"]])),
    Figure("word errors", "%", "low", _words),
    Figure("voice to voice, p50", "ms", "low", voice_to_voice, 0.5),
    Figure("voice to voice, p95", "ms", "low", voice_to_voice, 0.95),
    Figure("false cutoffs", "%", "low", lambda call: _percent(t["cut_off"] for t in _lines(call))),
    Figure(
        "turns followed by dead air", "%", "low",
        lambda call: _percent(turn["dead_air_s"] > 0 for turn in _lines(call)),
    ),
    Figure(
        "interruptions obeyed", "%", "high",
        lambda call: _percent(over["stopped"] for over in _interruptions(call)),
    ),
    Figure("barge-in to silence, p50", "ms", "low", _silence, 0.5),
    Figure("barge-in to silence, p95", "ms", "low", _silence, 0.95),
    Figure(
        "stopped by a backchannel or a bystander", "%", "low",
        lambda call: _percent(o["stopped"] for o in call["over"] if o["kind"] != "interruption"),
    ),
    Figure(
        "unheard words remembered", "%", "low",
        lambda call: _percent(
            over["unheard_words"] > 0
            for over in _interruptions(call) if over["remembered"] is not None
        ),
    ),
)  # fmt: skip


def figures(calls: Calls) -> dict[str, list[float | None]]:
    """Name → value and bounds of its bootstrap interval over calls; None where unknown."""
    return {
        figure.name: [_known(v) for v in (figure.of(calls), *interval(figure.drawn(calls)))]
        for figure in FIGURES
    }


def by_axis(calls: Calls) -> dict[str, dict[str, list[Call]]]:
    """Axis → value → its calls; "as it is" has the unvaried calls of the same scenarios."""
    found: dict[str, dict[str, list[Call]]] = {}
    for axis in dict.fromkeys(call["axis"] for call in calls if call["axis"]):
        own = [call for call in calls if call["axis"] == axis]
        names = {(call["agent"], call["scenario"], call["seed"]) for call in own}
        plain = [
            call
            for call in calls
            if not call["axis"] and (call["agent"], call["scenario"], call["seed"]) in names
        ]
        found[axis] = {"as it is": plain} if plain else {}
        for call in own:
            found[axis].setdefault(call["value"], []).append(call)
    return found


def scorecard(server: str, made: str, calls: Calls) -> dict[str, Any]:
    """The whole scorecard, as it is written to JSON."""
    return {
        "server": server,
        "made": made,
        "figures": figures(calls),
        "axes": {
            axis: {value: figures(own) for value, own in values.items()}
            for axis, values in by_axis(calls).items()
        },
        "conversations": list(calls),
    }


def read(file: Path) -> dict[str, Any]:
    """Read a scorecard.

    Raises:
        ConfigError: The file is not a scorecard, or cannot be read.
    """
    try:
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        figures(told["conversations"])
        return {"server": told["server"], "made": told["made"], **told}
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError) as error:
        raise ConfigError(f"{file}: not a scorecard of voice.prove") from error


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure in two scorecards, over the conversations that are in both."""

    figure: Figure
    other: float
    this: float
    bounds: tuple[float, float]
    says: str


def against(calls: Calls, others: Calls) -> list[Difference]:
    """Compare this scorecard with another, over the conversations that are in both.

    Raises:
        ConfigError: The two have no conversation in common.
    """
    this, other = ({call["id"]: call for call in some} for some in (calls, others))
    both = common(this, others)
    pair = [[some[name] for name in both] for some in (other, this)]
    told = []
    for figure in FIGURES:
        drawn = [figure.drawn(side) for side in pair]
        bounds, says = verdict(drawn[0], drawn[1], len(both), len(FIGURES))
        says = "too few conversations" if says == "too few callers" else says
        told.append(Difference(figure, figure.of(pair[0]), figure.of(pair[1]), bounds, says))
    return told


def common(ids: Iterable[str], others: Calls) -> list[str]:
    """Those of some conversations that another scorecard has too.

    Raises:
        ConfigError: There are none.
    """
    known = {call["id"] for call in others}
    if both := [name for name in ids if name in known]:
        return both
    raise ConfigError("the scorecards have no conversation in common")


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 2)
