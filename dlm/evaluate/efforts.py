"""Benefit and cost of each effort: correct calls, tokens, and time after a cached prompt."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

from dlm.effort import Effort
from dlm.engine.engine import Finished, Request
from dlm.evaluate.cases import CALLS, Case
from dlm.evaluate.scores import Ask, score

REPLY_TOKENS = 24


def accuracy(asked: list[Case], ask: Ask) -> dict[str, dict[str, float]]:
    """Answer cases at every effort.

    Args:
        asked: Cases whose answers are calls.

    Returns:
        By effort: shares of exact calls and of right tools, and mean tokens of an answer.
    """
    return {str(effort): _accuracy_at(effort, asked, ask) for effort in Effort}


def _accuracy_at(effort: Effort, asked: list[Case], ask: Ask) -> dict[str, float]:
    spent: list[int] = []

    def measured(request: Request) -> Finished | None:
        finished = ask(replace(request, effort=effort))
        if finished is not None:
            spent.append(finished.usage.answer_tokens)
        return finished

    figures = score(asked, measured, spans=True).figures()
    kept: dict[str, float] = {n: figures[n] for n in ("call", "tool") if n in figures}
    return {**kept, "tokens": round(sum(spent) / max(1, len(spent)), 1)}


def speed(asked: list[Case], ask: Ask) -> dict[str, dict[str, float]]:
    """Answer cases at every effort, each after its prompt was cached.

    The engine expects an answer to begin like the last similar one
    (`dlm.decoding.first_token_cache`). So no case is answered twice in a row, and only other cases
    can make an answer faster.

    Returns:
        By effort, for calls and for replies: tokens per forward, median milliseconds, and mean
        milliseconds per 24 tokens.
    """
    return {str(effort): _speed_at(effort, asked, ask) for effort in Effort}


def _speed_at(effort: Effort, asked: list[Case], ask: Ask) -> dict[str, float]:
    spent: dict[str, list[tuple[float, int, int]]] = {"calls": [], "replies": []}
    for case in asked:
        request = replace(case.request(), effort=effort)
        # One token after a given prefix caches the prompt and nothing of the answer.
        ask(replace(request, effort=Effort.INSTANT, prefix="I", max_tokens=1))
        began = time.perf_counter()
        finished = ask(request)
        took_ms = (time.perf_counter() - began) * 1000
        if finished is not None:
            used = finished.usage
            name = "calls" if case.kind in CALLS else "replies"
            forwards = used.forwards - used.prefills
            spent[name].append((took_ms, used.answer_tokens, forwards))
    figures: dict[str, float] = {}
    for name, rows in spent.items():
        tokens, forwards = sum(r[1] for r in rows), sum(r[2] for r in rows)
        if forwards and tokens:
            figures[f"tokens_per_forward_{name}"] = round(tokens / forwards, 2)
            figures[f"ms_{name}"] = round(statistics.median(r[0] for r in rows), 1)
            whole_ms = sum(r[0] for r in rows)
            figures[f"ms_{REPLY_TOKENS}_tokens_{name}"] = round(whole_ms / tokens * REPLY_TOKENS, 1)
    return figures
