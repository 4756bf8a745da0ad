"""Dead air against false cutoffs: ``python -m benchmarks.voice.endpointing``.

Recordings of people in the agents' domains, and the same with a pause put between two of their
words, are heard once (`benchmarks.voice.pauses`); what the ears knew at each pause is kept in a
file, and every rule for the end of a turn is tried on the same pauses. Half of the recordings, by a
hash of their names, set the profiles' limits and are what the network is fitted to
(`benchmarks.voice.fit_endings`); figures are of the other half, pauses put into it included.
Results go to benchmarks/results/endpointing.json; --plot draws. After a change of the checkpoint:

    python -m benchmarks.voice.fit_endings && python -m benchmarks.voice.endpointing --plot
"""

from __future__ import annotations

import argparse
import hashlib
import math
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.report import ROOT, machine, percentiles, share, shipped_checkpoint, write
from benchmarks.voice.corpus import PAUSES_MS, Utterance, demo_lines, orders, people, with_pauses
from benchmarks.voice.pauses import Traced, Tracer, dead_air_ms, model_opinion
from voice.completeness import reads_complete
from voice.turn_end import (
    PROFILES,
    Cues,
    Limits,
    Profile,
    evidence,
    needed_silence_ms,
    silence_within,
)

KEPT = Path.home() / ".cache" / "quicksilver"
PLOT = ROOT / "docs" / "endpointing.svg"
BUDGETS = (0.03, 0.05, 0.1)
BARS = tuple(np.arange(-4, 9, 0.125).tolist())
PUBLISHED_MS = {"complete": 320, "neutral": 600, "incomplete": 1200}
"""The silences that the words alone decided between before this was measured; 900 without words."""

Wait = Callable[[Cues], float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Point:
    """A rule at one setting: share of turns cut off, and mean dead air of the others."""

    setting: float
    cut: float
    mean_ms: float
    p50_ms: float
    p95_ms: float


def is_held_out(name: str) -> bool:
    """Whether a recording belongs to the half that figures are of."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def kept(name: str, find: Callable[[], T], fresh: bool) -> T:
    """What was found with the shipped checkpoint; from a file if it is there, else found now."""
    file = KEPT / f"{name}-{'-'.join(shipped_checkpoint().values())}.pickle"
    if file.is_file() and not fresh:
        with file.open("rb") as stored:
            known: T = pickle.load(stored)
            return known
    found = find()
    KEPT.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(found))
    return found


def traces(fresh: bool) -> list[Traced]:
    """What the ears meet in all recordings."""
    return kept("endpointing", _hear_all, fresh)


def _hear_all() -> list[Traced]:
    tracer = Tracer(model_opinion())
    said = [*demo_lines("assistant"), *demo_lines("coffee"), *people(), *orders()]
    heard = [tracer.trace(utterance) for utterance in said]
    clear = [u for u in said if u.kind in ("demo", "command")]
    # Nobody wrote down what the orders say; the recogniser's words tell where a pause may go.
    clear += [_with_words(u, t) for u, t in zip(said, heard, strict=True) if u.kind == "order"]
    return heard + [tracer.trace(utterance) for utterance in with_pauses(clear, PAUSES_MS)]


def _with_words(order: Utterance, traced: Traced) -> Utterance:
    return replace(order, text=traced.pauses[-1].cues.text if traced.pauses else "")


def point(heard: Sequence[Traced], wait: Wait, setting: float = 0.0) -> Point:
    """Try a rule on recordings."""
    return point_of([dead_air_ms(traced, wait) for traced in heard], setting)


def point_of(found: Sequence[float | None], setting: float = 0.0) -> Point:
    """The point of recordings by their dead air in milliseconds; None where cut off."""
    ended = [ms for ms in found if ms is not None]
    cut = round(1 - len(ended) / len(found), 4)
    if not ended:
        return Point(setting, cut, math.inf, math.inf, math.inf)
    p50, p95 = np.percentile(ended, [50, 95])
    return Point(setting, cut, round(float(np.mean(ended))), round(p50), round(p95))


def silence_only(setting: float) -> Wait:
    """The same silence for all."""
    return lambda _: setting


def words_only(setting: float) -> Wait:
    """The published silences, stretched."""
    return lambda cues: setting * (PUBLISHED_MS[reads_complete(cues.text)] if cues.text else 900)


def ours(bar: float) -> Wait:
    """The shipped network under another bar."""
    limits = within(bar)
    return lambda cues: silence_within(cues, limits, evidence(cues) if cues.text else 0.0)


def within(bar: float) -> Limits:
    """The patient profile's limits, but for the bar and the shortest silence."""
    return replace(PROFILES[Profile.PATIENT], bar=bar, shortest_ms=160)


def curve(
    heard: Sequence[Traced], rule: Callable[[float], Wait], settings: Sequence[float]
) -> list[Point]:
    """A rule at every setting."""
    return [point(heard, rule(setting), setting) for setting in settings]


def cheapest(points: Sequence[Point], budget: float) -> Point | None:
    """The point with the least dead air of those that cut off no more than a share of turns."""
    within = [p for p in points if p.cut <= budget]
    return min(within, key=lambda p: p.mean_ms) if within else None


def grouped(heard: Sequence[Traced]) -> dict[str, list[Traced]]:
    """Recordings by kind; all that is in the agents' domains once more together."""
    groups: dict[str, list[Traced]] = {"in domain": [], "in domain, with pauses": []}
    for traced in heard:
        if not traced.pauses:
            continue
        if traced.kind.startswith(("demo", "command", "order")):
            paused = traced.kind.endswith("pause")
            groups["in domain, with pauses" if paused else "in domain"].append(traced)
        else:
            groups.setdefault(traced.kind, []).append(traced)
    return groups


def rules() -> dict[str, Wait]:
    """The profiles, and the silences published before."""
    found: dict[str, Wait] = {"before: 320, 600, 1200 ms": words_only(1.0)}
    for profile in Profile:
        found[profile] = lambda cues, profile=profile: needed_silence_ms(cues, profile)
    return found


def whole_figures(heard: Sequence[Traced]) -> dict[str, Any]:
    """False cutoffs of all recordings, read sentences too, and with pauses put into them.

    Dead air is that of what was said to the agent and understood.
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
    """Dead air over false cutoffs, a line for each rule."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for name, points in curves.items():
        best = sorted(points, key=lambda p: (p.cut, p.mean_ms))
        front = [p for i, p in enumerate(best) if all(p.mean_ms < b.mean_ms for b in best[:i])]
        axes.plot([100 * p.cut for p in front], [p.mean_ms for p in front], label=name, marker=".")
    axes.set(xlabel="turns cut off, %", ylabel="mean dead air, ms", xlim=(0, 30), ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file)
    pyplot.close(figure)


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--fresh", action="store_true", help="hear all recordings anew")
    parser.add_argument("--plot", action="store_true", help=f"draw {PLOT.name}")
    options = parser.parse_args()
    began, started = machine(), time.perf_counter()
    heard = traces(options.fresh)
    tuning = [t for t in heard if not is_held_out(t.name)]
    held_out = grouped([t for t in heard if is_held_out(t.name)])
    both = held_out["in domain"] + held_out["in domain, with pauses"]
    curves = {
        "silence alone": curve(both, silence_only, range(100, 1500, 20)),
        "silence and words": curve(both, words_only, np.arange(0.2, 3, 0.05).tolist()),
        "words, model and voice": curve(both, ours, BARS),
    }
    at_budget: dict[str, Any] = {}
    for name, points in curves.items():
        found = {f"{budget:.0%}": cheapest(points, budget) for budget in BUDGETS}
        at_budget[name] = {budget: _row(p) for budget, p in found.items()}
        print(name, at_budget[name])
    groups = {name: profile_figures(group) for name, group in held_out.items()}
    halves = {
        "tuning": whole_figures(tuning),
        "held out": whole_figures([t for t in heard if is_held_out(t.name)]),
    }
    for name, group in halves.items():
        print(name, group)
    for name, group in groups.items():
        print(name, {rule: (f["false_cutoffs"], f["dead_air_ms"]) for rule, f in group.items()})
    figures = {
        "held_out": {name: len(group) for name, group in held_out.items()},
        "pauses_ms": PAUSES_MS,
        "halves": halves,
        "profiles": groups,
        "least_dead_air_within_false_cutoffs": at_budget,
        "curves": {
            name: [_row(p) for p in points if math.isfinite(p.mean_ms)]
            for name, points in curves.items()
        },
        "took_s": round(time.perf_counter() - started, 1),
    }
    if options.plot:
        draw(curves, PLOT)
    print(write("endpointing", "benchmarks.voice.endpointing", figures, began))


def _row(p: Point | None) -> dict[str, float] | None:
    if p is None:
        return None
    return {"setting": round(p.setting, 3), "cut": p.cut, "mean_ms": p.mean_ms, "p50_ms": p.p50_ms,
            "p95_ms": p.p95_ms}  # fmt: skip


if __name__ == "__main__":
    main()
