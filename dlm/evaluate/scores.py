"""Scores of answers against the dialogues they should have continued.

Every assistant message of a dialogue is one case: the model sees what comes before it, true to the
script, and its answer is compared with the scripted one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dlm.engine import Finished, Request
from dlm.template import Answer, Call, Tool, Turn, turn_of

SAID_MESSAGES = 3
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")

Ask = Callable[[Request], Finished | None]
"""Answers a request; None when the answer was malformed."""


@dataclass(slots=True)
class Scores:
    """Counts over cases.

    Attributes:
        counts: Name of a score → (hits, cases).
        forwards: Model forwards spent behind the prompt, and tokens they brought, for replies and
            for calls.
    """

    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    forwards: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, name: str, hit: bool) -> None:
        """One more case of a score."""
        hits, cases = self.counts.get(name, (0, 0))
        self.counts[name] = (hits + hit, cases + 1)

    def spent(self, kind: str, finished: Finished) -> None:
        """What an answer cost."""
        forwards, tokens = self.forwards.get(kind, (0, 0))
        used = finished.usage
        self.forwards[kind] = (forwards + used.forwards, tokens + used.answer_tokens)

    def share(self, name: str) -> float:
        """Hits of a score per case; nan where there was none."""
        hits, cases = self.counts.get(name, (0, 0))
        return hits / cases if cases else float("nan")

    def figures(self) -> dict[str, float | int]:
        """All shares with their number of cases, and tokens per forward."""
        out: dict[str, float | int] = {}
        for name, (_, cases) in sorted(self.counts.items()):
            out[name] = round(self.share(name), 4)
            out[f"{name}_cases"] = cases
        for kind, (forwards, tokens) in sorted(self.forwards.items()):
            out[f"tokens_per_forward_{kind}"] = round(tokens / max(1, forwards), 2)
        return out


def score(rows: Iterable[Mapping[str, Any]], ask: Ask, spans: bool = True) -> Scores:
    """Answer every case of some dialogues.

    Args:
        rows: Dialogues of the training data's form.
        ask: Answers a request.
        spans: Whether string arguments must be spans of what the user said.

    Returns:
        ``decision`` (call or talk), ``tool`` (names), ``call`` (names and arguments), ``reply``
        (every number of the result said, and no other), ``well_formed``.
    """
    scores = Scores()
    for row in rows:
        tools = tuple(Tool(t["name"], t["description"], t["parameters"]) for t in row["tools"])
        turns = [Turn("system", row["system"])] if row.get("system") else []
        for message in row["messages"]:
            turn = turn_of(message)
            if turn.role == "assistant" and len(turns) > 1:
                said = [t.content for t in turns if t.role == "user"][-SAID_MESSAGES:]
                finished = ask(Request(tuple(turns), tools, said=tuple(said) if spans else None))
                _compare(scores, turns, turn, finished)
            turns.append(turn)
    return scores


def _compare(scores: Scores, turns: list[Turn], wanted: Turn, finished: Finished | None) -> None:
    scores.add("well_formed", finished is not None)
    answer = finished.answer if finished else Answer("", ())
    scores.add("decision", bool(answer.calls) == bool(wanted.calls))
    if finished:
        scores.spent("calls" if wanted.calls else "replies", finished)
    if wanted.calls:
        names = [call.name for call in wanted.calls]
        scores.add("tool", [call.name for call in answer.calls] == names)
        scores.add("call", _plain(answer.calls) == _plain(wanted.calls))
    elif turns[-1].role == "tool":
        results = " ".join(t.content for t in turns if t.role == "tool")
        said = set(_NUMBER.findall(answer.content))
        needed = set(_NUMBER.findall(wanted.content))
        known = set(_NUMBER.findall(results + " ".join(t.content for t in turns)))
        scores.add("reply", bool(answer.content) and needed <= said and said <= known)


def _plain(calls: tuple[Call, ...]) -> list[tuple[str, dict[str, str]]]:
    return [
        (c.name, {k: str(v).lower().strip(" .,!?") for k, v in c.arguments.items()}) for c in calls
    ]
