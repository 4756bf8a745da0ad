"""What a rule for the end of a turn costs on recordings: dead air, and turns cut off.

The recordings are those of people and of the demo, and those in the agents' domains once more with
a pause put between two words. They are traced once (`benchmarks.voice.pauses`), and the cues at
each pause are kept in a file, so that every rule is tried on the same pauses. One half of them is
for tuning (`benchmarks.voice.corpus.is_put_aside`). The only rule defined here is the plainest:
silence alone. Other modules bring theirs.
"""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.report import shipped_checkpoint
from benchmarks.voice.corpus import (
    PAUSES_MS,
    Utterance,
    everything,
    is_put_aside,
    orders_of,
    with_pauses,
)
from benchmarks.voice.pauses import Traced, Tracer, dead_air_ms, model_opinion
from voice.config import AsrConfig
from voice.hearing.end_of_turn import PROFILES, Cues, Limits, Profile

KEPT = Path.home() / ".cache" / "quicksilver"
BUDGETS = (0.03, 0.05, 0.1)
BARS = tuple(np.arange(-4, 9, 0.125).tolist())
SILENCES_MS = tuple(range(100, 1500, 20))

Wait = Callable[[Cues], float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Point:
    """A rule at one setting: share of turns cut off, and dead air of the others."""

    setting: float
    cut: float
    mean_ms: float
    p50_ms: float
    p95_ms: float


def is_held_out(name: str) -> bool:
    """Whether a name, by its hash, is in the held-out half: nothing is fitted to such speakers.

    Recordings whose speakers have no names are split by `benchmarks.voice.corpus.is_put_aside`.
    """
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def kept(name: str, find: Callable[[], T], fresh: bool) -> T:
    """The result of ``find`` for the shipped checkpoint, kept in a file unless asked for afresh."""
    file = KEPT / f"{name}-{'-'.join(shipped_checkpoint().values())}.pickle"
    if file.is_file() and not fresh:
        with file.open("rb") as stored:
            known: T = pickle.load(stored)
            return known
    found = find()
    KEPT.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(found))
    return found


def in_halves(heard: Sequence[Traced]) -> tuple[list[Traced], list[Traced]]:
    """The half that is put aside, and the one to tune on."""
    aside = [traced for traced in heard if is_put_aside(traced.name)]
    return aside, [traced for traced in heard if not is_put_aside(traced.name)]


def traces(fresh: bool) -> list[Traced]:
    """All recordings as detection and the default recogniser hear them."""
    return kept("endpointing-whisper", _hear_all, fresh)


def _hear_all() -> list[Traced]:
    tracer = Tracer(model_opinion(), AsrConfig(engine="whisper"))
    said = [*everything(), *orders_of("orders-more.jsonl")]
    heard = [tracer.trace(utterance) for utterance in said]
    clear = [u for u in said if u.kind in ("demo", "command")]
    # The orders have no transcripts, so the recogniser's words tell where a pause may go.
    clear += [_with_words(u, t) for u, t in zip(said, heard, strict=True) if u.kind == "order"]
    # Each recording gets one of the lengths in turn, so that no speaker counts for more.
    turns = [with_pauses(clear[n :: len(PAUSES_MS)], [ms]) for n, ms in enumerate(PAUSES_MS)]
    return heard + [tracer.trace(utterance) for paused in turns for utterance in paused]


def _with_words(order: Utterance, traced: Traced) -> Utterance:
    return replace(order, text=traced.pauses[-1].cues.text if traced.pauses else "")


def point(heard: Sequence[Traced], wait: Wait, setting: float = 0.0) -> Point:
    """Try a rule on recordings."""
    return point_of([dead_air_ms(traced, wait) for traced in heard], setting)


def point_of(found: Sequence[float | None], setting: float = 0.0) -> Point:
    """The point that follows from each recording's dead air in ms; None where it was cut off."""
    ended = [ms for ms in found if ms is not None]
    cut = round(1 - len(ended) / len(found), 4)
    if not ended:
        return Point(setting, cut, math.inf, math.inf, math.inf)
    p50, p95 = np.percentile(ended, [50, 95])
    return Point(setting, cut, round(float(np.mean(ended))), round(p50), round(p95))


def silence_only(setting: float) -> Wait:
    """A rule that wants the same silence at every pause."""
    return lambda _: setting


def within(bar: float) -> Limits:
    """The patient profile's limits, with another bar and a shortest silence of 160 ms."""
    return replace(PROFILES[Profile.PATIENT], bar=bar, shortest_ms=160)


def curve(
    heard: Sequence[Traced], rule: Callable[[float], Wait], settings: Sequence[float]
) -> list[Point]:
    """A rule at every setting."""
    return [point(heard, rule(setting), setting) for setting in settings]


def cheapest(points: Sequence[Point], budget: float) -> Point | None:
    """The point with the least mean dead air that cuts off no more than a share of turns."""
    within = [p for p in points if p.cut <= budget]
    return min(within, key=lambda p: p.mean_ms) if within else None


def grouped(heard: Sequence[Traced]) -> dict[str, list[Traced]]:
    """Recordings by kind; those in the agents' domains form two groups, without and with pauses."""
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


def domain(heard: Sequence[Traced]) -> list[Traced]:
    """Recordings in the agents' domains, and those with pauses put into them."""
    groups = grouped(heard)
    return groups["in domain"] + groups["in domain, with pauses"]


def row(p: Point | None) -> dict[str, float] | None:
    """A point as it stands in a results file; None where there is none."""
    if p is None:
        return None
    return {"setting": round(p.setting, 3), "cut": p.cut, "mean_ms": p.mean_ms, "p50_ms": p.p50_ms,
            "p95_ms": p.p95_ms}  # fmt: skip
