"""How right calls are at each effort, and how many tokens they take: what thinking is good for."""

from __future__ import annotations

from dataclasses import replace

from dlm.effort import Effort
from dlm.engine.engine import Finished, Request
from dlm.evaluate.cases import Case
from dlm.evaluate.scores import Ask, score


def efforts(asked: list[Case], ask: Ask) -> dict[str, dict[str, float]]:
    """Answer cases at every effort.

    Args:
        asked: Cases whose answers are calls.
        ask: Answers a request.

    Returns:
        By effort: shares of exact calls and of right tools, and tokens of an answer on average.
    """
    return {str(effort): _at(effort, asked, ask) for effort in Effort}


def _at(effort: Effort, asked: list[Case], ask: Ask) -> dict[str, float]:
    spent: list[int] = []

    def measured(request: Request) -> Finished | None:
        finished = ask(replace(request, effort=effort))
        if finished is not None:
            spent.append(finished.usage.answer_tokens)
        return finished

    figures = score(asked, measured, spans=True).figures()
    kept: dict[str, float] = {n: figures[n] for n in ("call", "tool") if n in figures}
    return {**kept, "tokens": round(sum(spent) / max(1, len(spent)), 1)}
