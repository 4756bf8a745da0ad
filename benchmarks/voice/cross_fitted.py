"""Dead air against false cutoffs over all recordings, by weights fitted to other voices.

Each half is judged by weights fitted to the other (`benchmarks.voice.fit_endings.unseen`), so that
the figures cover all recordings. A bootstrap tells how far the ratio to silence alone depends on
which recordings happen to be there: it draws recordings together with their variants, and gives
both rules their best setting for each draw. The weights are not fitted anew for a draw.

Shapes: S settings, R recordings, B draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.voice.dead_air import (
    BARS,
    BUDGETS,
    SILENCES_MS,
    cheapest,
    domain,
    point_of,
    row,
    silence_only,
    within,
)
from benchmarks.voice.fit_endings import Examples, judged_each, odds_by, unseen
from benchmarks.voice.pauses import Traced, dead_air_ms

ALONE, OURS = "silence alone", "words and model"
DRAWS = 2000
SEED = 1
MIDDLE = (0.025, 0.975)
"""Ends of the interval: 95% of the draws lie between them."""

Table = NDArray[np.float64]
Found = dict[float, list[float | None]]
"""Setting of a rule → dead air of each recording in milliseconds; None where it was cut off."""


def cross_fitted(heard: Sequence[Traced], texts: Examples) -> dict[str, Any]:
    """Both rules' dead air over all recordings in the agents' domains, and how sure their ratio is.

    Args:
        heard: All recordings.
        texts: Messages to fit to as well, see `benchmarks.voice.fit_endings.of_messages`.

    Returns:
        For the results file: counts, the least dead air for each allowed share of turns cut off,
        the ratio of the two rules, and both curves.
    """
    said = domain(heard)
    odds = odds_by(said, unseen(heard, texts))
    found: dict[str, Found] = {
        ALONE: {ms: [dead_air_ms(t, silence_only(ms)) for t in said] for ms in SILENCES_MS},
        OURS: {bar: judged_each(said, within(bar), odds) for bar in BARS},
    }
    names = [traced.name for traced in said]
    curves = {
        rule: [point_of(each, setting) for setting, each in tried.items()]
        for rule, tried in found.items()
    }
    return {
        "recordings": len(said),
        "of_them_not_made_by_pauses": len({traced.name for traced in said}),
        "draws": DRAWS,
        "least_dead_air_within_false_cutoffs": {
            rule: {f"{budget:.0%}": row(cheapest(points, budget)) for budget in BUDGETS}
            for rule, points in curves.items()
        },
        "ratio": {f"{budget:.0%}": ratio(names, found, budget) for budget in BUDGETS},
        "curves": {
            rule: [row(p) for p in points if math.isfinite(p.mean_ms)]
            for rule, points in curves.items()
        },
    }


def ratio(names: Sequence[str], found: dict[str, Found], budget: float) -> dict[str, Any]:
    """Our least mean dead air over that of silence alone, with its interval.

    Args:
        budget: The share of turns that may be cut off.

    Returns:
        The ratio, its interval, and the share of draws in which it is at most a half. A ratio is
        None if a rule has no setting that stays within the budget.
    """
    tables = {rule: np.array(list(tried.values()), dtype=float) for rule, tried in found.items()}
    once = np.ones((1, len(names)))
    drawn = draws(names)
    least = {
        rule: np.concatenate([least_ms(table, times, budget) for times in (once, drawn)])
        for rule, table in tables.items()
    }
    known = np.isfinite(least[OURS]) & np.isfinite(least[ALONE])
    ratios = np.where(known, least[OURS], math.inf) / np.where(known, least[ALONE], 1.0)
    # Take one of the draws rather than interpolating between two: one may be infinite.
    low, high = np.quantile(ratios[1:], MIDDLE, method="nearest")
    shown = [round(float(r), 3) if math.isfinite(r) else None for r in (ratios[0], low, high)]
    half = round(float((ratios[1:] <= 0.5).mean()), 3)
    return dict(zip(("ratio", "low", "high"), shown, strict=True)) | {"at_most_half": half}


def draws(names: Sequence[str]) -> Table:
    """How often each recording is in each draw, (B, R); recordings of one name are drawn together.

    Args:
        names: (R,), the same for a recording and its variants.
    """
    kinds, kind = np.unique(names, return_inverse=True)
    rng = np.random.default_rng(SEED)
    times = rng.multinomial(len(kinds), np.full(len(kinds), 1 / len(kinds)), size=DRAWS)
    return np.asarray(times[:, kind], dtype=float)


def least_ms(table: Table, times: Table, budget: float) -> Table:
    """A rule's least mean dead air in each draw, (B,); infinite if every setting cuts off too many.

    Args:
        table: (S, R), dead air in milliseconds; nan where cut off.
        times: (B, R), how often each recording counts.
        budget: The share of turns that may be cut off.
    """
    ended = times @ ~np.isnan(table).T
    total_ms = times @ np.nan_to_num(table).T
    cut = np.round(1 - ended / times.sum(axis=1, keepdims=True), 4)
    allowed = (cut <= budget) & (ended > 0)
    mean_ms = np.where(allowed, total_ms, math.inf) / np.where(allowed, ended, 1.0)
    return np.asarray(mean_ms.min(axis=1))
