"""Dead air against false cutoffs: ``python -m benchmarks.voice.endpointing``.

Recordings of people in the agents' domains, and the same with a pause put between two of their
words, are traced once (`benchmarks.voice.pauses`). The cues at each pause are kept in a file, so
that every rule for the end of a turn is tried on the same pauses. The profiles' limits were set on
half of the voices, and the weights are fitted to them (`benchmarks.voice.fit_endings`). Figures are
of the other half, with the pauses put into its recordings. `benchmarks.voice.cross_fitted` measures
on all recordings, each half judged by weights fitted to the other, and gives the uncertainty.
Results go to benchmarks/results/endpointing.json; --plot draws. After a change of the checkpoint or
the recogniser:

    python -m benchmarks.voice.fit_endings && python -m benchmarks.voice.endpointing --plot
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import ROOT, Program, drawn, percentiles, share
from benchmarks.voice.corpus import PAUSES_MS
from benchmarks.voice.cross_fitted import ALONE, OURS, cross_fitted
from benchmarks.voice.dead_air import (
    BARS,
    BUDGETS,
    SILENCES_MS,
    Point,
    Wait,
    cheapest,
    curve,
    domain,
    grouped,
    in_halves,
    row,
    silence_only,
    traces,
    within,
)
from benchmarks.voice.fit_endings import message_examples
from benchmarks.voice.pauses import Traced, dead_air_ms
from voice.hearing.completeness import reads_complete
from voice.hearing.end_of_turn import Profile, evidence, needed_silence_ms, silence_within

PLOT = ROOT / "docs" / "endpointing.svg"
PUBLISHED_MS = {"complete": 320, "neutral": 600, "incomplete": 1200}
"""The silences of the rule before this one, chosen by the words alone; 900 where there are none."""


def words_only(setting: float) -> Wait:
    """The previous rule, its silences multiplied by ``setting``."""
    return lambda cues: setting * (PUBLISHED_MS[reads_complete(cues.text)] if cues.text else 900)


def ours(bar: float) -> Wait:
    """The shipped weights with another bar."""
    limits = within(bar)
    return lambda cues: silence_within(cues, limits, evidence(cues) if cues.text else 0.0)


def rules() -> dict[str, Wait]:
    """The profiles, and the previous rule."""
    found: dict[str, Wait] = {"before: 320, 600, 1200 ms": words_only(1.0)}
    for profile in Profile:
        found[profile] = lambda cues, profile=profile: needed_silence_ms(cues, profile)
    return found


def whole_figures(heard: Sequence[Traced]) -> dict[str, Any]:
    """False cutoffs of all recordings, read sentences included, without and with added pauses.

    Dead air is only that of recordings that were said to the agent and understood.
    """
    heard = [traced for traced in heard if traced.pauses]
    plain = [t for t in heard if not t.kind.endswith("pause")]
    paused = [t for t in heard if t.kind.endswith("pause")]
    understood = [t for t in plain if t.kind != "read" and t.pauses[-1].cues.text]
    out = {}
    for name, wait in rules().items():
        groups = ([dead_air_ms(t, wait) for t in part] for part in (plain, paused, understood))
        whole, broken, meant = groups
        out[name] = {
            "false_cutoffs": share(whole.count(None), len(whole)),
            "false_cutoffs_with_pauses": share(broken.count(None), len(broken)),
            "dead_air_ms": percentiles([ms for ms in meant if ms is not None]),
        }
    return out


def profile_figures(heard: Sequence[Traced]) -> dict[str, Any]:
    """False cutoffs and dead air of each rule on one group of recordings."""
    out = {}
    for name, wait in rules().items():
        found = [dead_air_ms(traced, wait) for traced in heard]
        ended = [ms for ms in found if ms is not None]
        cut = share(len(found) - len(ended), len(found))
        out[name] = {"false_cutoffs": cut, "dead_air_ms": percentiles(ended)}
    return out


def draw(curves: dict[str, list[Point]], file: Path) -> None:
    """Plot dead air over false cutoffs, a line for each rule."""
    with drawn(file) as axes:
        for name, points in curves.items():
            best = sorted(points, key=lambda p: (p.cut, p.mean_ms))
            front = [p for i, p in enumerate(best) if all(p.mean_ms < b.mean_ms for b in best[:i])]
            cut, mean_ms = [100 * p.cut for p in front], [p.mean_ms for p in front]
            axes.plot(cut, mean_ms, label=name, marker=".")
        axes.set(
            xlabel="turns cut off, %", ylabel="mean dead air, ms", xlim=(0, 30), ylim=(0, None)
        )


def held_out_curves(heard: Sequence[Traced]) -> dict[str, list[Point]]:
    """Three rules at all their settings, on the held-out half."""
    both = domain(in_halves(heard)[0])
    return {
        ALONE: curve(both, silence_only, SILENCES_MS),
        "silence and words": curve(both, words_only, np.arange(0.2, 3, 0.05).tolist()),
        OURS: curve(both, ours, BARS),
    }


def measured(heard: Sequence[Traced], curves: dict[str, list[Point]]) -> dict[str, Any]:
    """All figures: of both halves, of the held-out half by kind, and of all recordings together."""
    held_out, tuning = in_halves(heard)
    kinds = grouped(held_out)
    return {
        "held_out": {name: len(group) for name, group in kinds.items()},
        "pauses_ms": PAUSES_MS,
        "halves": {"tuning": whole_figures(tuning), "held out": whole_figures(held_out)},
        "profiles": {name: profile_figures(group) for name, group in kinds.items()},
        "least_dead_air_within_false_cutoffs": {
            name: {f"{budget:.0%}": row(cheapest(points, budget)) for budget in BUDGETS}
            for name, points in curves.items()
        },
        "curves": {
            name: [row(p) for p in points if math.isfinite(p.mean_ms)]
            for name, points in curves.items()
        },
        "cross_fitted": cross_fitted(heard, message_examples(fresh=False)),
    }


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.endpointing", __doc__)
    program.add_argument("--fresh", action="store_true", help="hear all recordings anew")
    program.add_argument("--plot", action="store_true", help=f"draw {PLOT.name}")
    options = program.parse_args()
    heard = traces(options.fresh)
    curves = held_out_curves(heard)
    figures = measured(heard, curves)
    for name in ("halves", "profiles", "least_dead_air_within_false_cutoffs"):
        for what, found in figures[name].items():
            print(what, found)
    for name in ("least_dead_air_within_false_cutoffs", "ratio"):
        print("cross-fitted:", figures["cross_fitted"][name])
    figures["took_s"] = program.took_s
    if options.plot:
        draw(curves, PLOT)
    program.write(figures)


if __name__ == "__main__":
    main()
