"""What answers cost at each effort: tokens per forward, and milliseconds behind a warm prompt."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

from dlm.effort import Effort
from dlm.evaluate.cases import CALLS, Case
from dlm.evaluate.scores import Ask

REPLY_TOKENS = 24


def speed(asked: list[Case], ask: Ask) -> dict[str, dict[str, float]]:
    """Answer cases at every effort, behind prompts that are known.

    An answer is expected to begin as the last one like it did (`dlm.decoding.first_token_cache`),
    so no case is answered twice in a row: what an effort is helped by is what other cases had
    before it.

    Returns:
        By effort: tokens per forward of calls and of replies, median milliseconds of both, and of
        a reply of 24 tokens in proportion.
    """
    return {str(effort): _at(effort, asked, ask) for effort in Effort}


def _at(effort: Effort, asked: list[Case], ask: Ask) -> dict[str, float]:
    spent: dict[str, list[tuple[float, int, int]]] = {"calls": [], "replies": []}
    for case in asked:
        request = replace(case.request(), effort=effort)
        # An answer that is begun for it teaches the engine the prompt, and nothing else.
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
