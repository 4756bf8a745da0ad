"""All measurements of a checkpoint or an endpoint, as one dictionary of figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlm.datagen import examples
from dlm.effort import Effort
from dlm.engine.engine import Engine, Finished, Request
from dlm.evaluate import talk
from dlm.evaluate.cases import CALLS, Case, cases
from dlm.evaluate.efforts import accuracy, speed
from dlm.evaluate.scores import Ask, Scores, score
from dlm.evaluate.sets import SEED, SETS, Material, chosen

OPENERS = 500
CHAT_PAIRS = 120
SPEED_CASES = 60
FREE_CASES = 150

_WHOLE = ("own", "others", "data")
"""Sets whose cases are also used to measure speed, spans and efforts."""
_IN_SCOPE = ("own", "others", "noise")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure.

    Attributes:
        corpora: Directory of the text corpora; without it, sets made from them are left out.
        names: Names of the sets.
        scale: Factor on the usual number of cases.
        spans: Whether string arguments must be spans of what the user said.
        extras: Whether talk, speed and the comparison without spans are measured too.
        seed: Seed of the cases.
        data: File of dialogues in the chat format of fine-tuning; they become the set "data".
        effort: Effort of the answers to the sets; an endpoint uses its own.
    """

    corpora: Path | None = None
    names: tuple[str, ...] = tuple(SETS)
    scale: float = 1.0
    spans: bool = True
    extras: bool = True
    seed: int = SEED
    data: Path | None = None
    effort: Effort = Effort.INSTANT


@dataclass(slots=True)
class Results:
    """Figures, and the wrong answers by set."""

    figures: dict[str, Any] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)


def ask_engine(engine: Engine) -> Ask:
    """An engine's answers; None for a malformed one."""

    def ask(request: Request) -> Finished | None:
        try:
            return engine.answer(request)
        except ValueError:
            return None

    return ask


def evaluate(
    plan: Plan,
    ask: Ask,
    engine: Engine | None,
    report: Callable[[str], None],
    results: Results | None = None,
) -> Results:
    """Measure what a plan asks for.

    Args:
        engine: Used for perplexity and for speed at each effort; None for an endpoint.
        report: Called with a line for each finished set.
        results: Filled in, even if an answer raises: then with the figures up to it.
    """
    began = time.monotonic()
    material = Material.load(plan.corpora, plan.seed)
    results = results or Results()
    asked = {name: chosen(name, material, plan.scale) for name in plan.names}
    if plan.data is not None:
        asked["data"] = list(cases(examples.read(plan.data)))
    scored: dict[str, Scores] = {}

    def answers(request: Request) -> Finished | None:
        return ask(replace(request, effort=plan.effort))

    try:
        for name in [name for name, some in asked.items() if some]:
            scored[name] = Scores()
            score(asked[name], answers, plan.spans, scored[name])
            report(f"{name}: {len(asked[name])} cases")
    finally:
        _sum_up(scored, results)
    if plan.extras:
        _extras(plan, material, ask, engine, asked, results.figures)
    results.figures["seconds"] = round(time.monotonic() - began, 1)
    return results


def _sum_up(scored: dict[str, Scores], results: Results) -> None:
    """Fill in the figures of the sets, as far as their cases were answered."""
    sets = {name: scores.figures() for name, scores in scored.items() if scores.counts}
    whole = Scores()
    for name, scores in scored.items():
        if name in _WHOLE:
            whole.spend(scores.forwards)
        results.failures += [{"set": name, **failure} for failure in scores.failures]
    results.figures["sets"] = sets
    results.figures["replies"] = _replies(sets.values())
    results.figures["tokens_per_forward"] = whole.paces()
    if "out_of_scope" in sets:
        results.figures["out_of_scope"] = _scope(sets)


def _extras(
    plan: Plan,
    material: Material,
    ask: Ask,
    engine: Engine | None,
    asked: dict[str, list[Case]],
    figures: dict[str, Any],
) -> None:
    asking = [c for name in _WHOLE for c in asked.get(name, ())]
    calls = [c for c in asking if c.kind in CALLS]
    some = calls[: max(1, round(FREE_CASES * plan.scale))]
    if some:
        free = score(some, ask, spans=False)
        bound = score(some, ask, spans=True)
        shares = {"call": bound.share("call"), "call_free": free.share("call")}
        figures["spans"] = {"cases": len(some)} | {k: round(v, 4) for k, v in shares.items()}
    if material.heldout is not None and plan.corpora is not None:
        count = max(1, round(OPENERS * plan.scale))
        pairs = talk.openers(material.heldout, plan.corpora, count, plan.seed)
        figures["talk"] = talk.small_talk(pairs, ask)
        if engine is not None:
            chat = pairs[: max(1, round(CHAT_PAIRS * plan.scale))]
            figures["talk"]["perplexity"] = talk.perplexity(chat, engine)
    if engine is not None:
        mixed = asking[: max(2, round(SPEED_CASES * plan.scale))]
        figures["speed"] = speed(mixed, ask)
        if some and engine.model.config.reasons:
            figures["efforts"] = accuracy(some, ask)


def _replies(sets: Iterable[dict[str, Any]]) -> dict[str, float | int]:
    """Mean scores of replies to tool results, over all sets that have them."""
    having = [s for s in sets if "reply" in s]
    cases = sum(s["reply_cases"] for s in having)

    def mean(name: str) -> float:
        return round(sum(s[name] * s["reply_cases"] for s in having) / cases, 4) if cases else 0.0

    return {
        "grounded": mean("reply"),
        "cases": cases,
        "words": mean("reply_words"),
        "loops": mean("reply_loops"),
    }


def _scope(sets: dict[str, Any]) -> dict[str, float]:
    """Recall and precision of declining, and how often a servable request is declined."""
    outside = sets["out_of_scope"]
    recall, count = outside["decision"], outside["decision_cases"]
    refused = served = 0.0
    for name in _IN_SCOPE:
        scores = sets.get(name, {})
        served += scores.get("called_cases", 0)
        refused += (1 - scores.get("called", 0)) * scores.get("called_cases", 0)
    declined = recall * count
    precision = declined / (declined + refused) if declined + refused else 0.0
    return {
        "recall": round(recall, 4),
        "precision": round(precision, 4),
        "false_refusals": round(refused / served, 4) if served else 0.0,
    }
