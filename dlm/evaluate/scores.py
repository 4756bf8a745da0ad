"""Scores of answers against the scripted ones.

Arguments are exact when they are the same words. Differences that the tools ignore do not count:
case, punctuation, an article before a value, and whether a device's room is part of its name.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dlm.engine.engine import Finished, Request
from dlm.evaluate.cases import CALLS, Case, Kind
from dlm.language.messages import Answer, Call

_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")
_COUNT = re.compile(r"\b\d+ (?:items?|reminders?|timers?)(?=:)")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b(?!')")
NUMBER_OR_WORD = r"\d+(?:[.:,]\d+)*|[^\W\d_]+(?:'[a-z]+)?"
_LOOP = 3
"""A reply is a loop if the same three successive words occur this often in it."""
_ARTICLES = ("a ", "an ", "the ", "my ", "some ")

Ask = Callable[[Request], Finished | None]
"""Answers a request; None when the answer was malformed."""


@dataclass(slots=True)
class Scores:
    """Counts over cases.

    Attributes:
        counts: Name of a score → (hits, cases).
        forwards: Kind of answer (replies, calls) → (forwards, tokens); forwards of the prompt
            alone are left out.
        failures: The wrong answers, as JSON objects.
    """

    counts: dict[str, tuple[float, int]] = field(default_factory=dict)
    forwards: dict[str, tuple[int, int]] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, hit: float) -> None:
        """Add a case to a score; ``hit`` is the share of it that is right."""
        hits, cases = self.counts.get(name, (0, 0))
        self.counts[name] = (hits + hit, cases + 1)

    def spent(self, kind: str, finished: Finished) -> None:
        """Add the cost of an answer."""
        used = finished.usage
        self.spend({kind: (used.forwards - used.prefills, used.answer_tokens)})

    def spend(self, more: Mapping[str, tuple[int, int]]) -> None:
        """Add costs in the form of `forwards`."""
        for kind, (forwards, tokens) in more.items():
            before = self.forwards.get(kind, (0, 0))
            self.forwards[kind] = (before[0] + forwards, before[1] + tokens)

    def paces(self) -> dict[str, float]:
        """Tokens per forward, by kind; none for an endpoint, which reports no forwards."""
        spent = sorted(self.forwards.items())
        return {kind: round(tokens / forwards, 2) for kind, (forwards, tokens) in spent if forwards}

    def share(self, name: str) -> float:
        """Hits of a score per case; nan if there was no case."""
        hits, cases = self.counts.get(name, (0, 0))
        return hits / cases if cases else float("nan")

    def figures(self) -> dict[str, float | int]:
        """All shares with their number of cases, and tokens per forward."""
        out: dict[str, float | int] = {}
        for name, (_, cases) in sorted(self.counts.items()):
            out[name] = round(self.share(name), 4)
            out[f"{name}_cases"] = cases
        out |= {f"tokens_per_forward_{kind}": pace for kind, pace in self.paces().items()}
        return out


def score(
    asked: Iterable[Case], ask: Ask, spans: bool = True, into: Scores | None = None
) -> Scores:
    """Answer cases and count what is right.

    Args:
        spans: Whether string arguments must be spans of what the user said.

    Returns:
        ``well_formed``; ``decision`` (call or talk); ``tool`` (names); ``call`` (names and
        arguments), also by kind (such as ``call_parallel``); ``slots`` (share of arguments that are
        right); ``ask`` and ``decline`` (no call, and for ``ask`` a question); ``reply`` (has a
        number of the result, and every number and name is from the dialogue); ``reply_words`` and
        ``reply_loops`` (words per reply, share that repeat themselves); ``told`` (has every value
        that was asked for, and no number or name from elsewhere); ``fits`` (one of the replies that
        fit); ``exact`` and ``fields`` (share of JSON answers that are right, and of their values).
    """
    scores = into if into is not None else Scores()
    for case in asked:
        finished = ask(case.request(spans))
        if not compare(scores, case, finished):
            answer = finished.answer if finished else None
            scores.failures.append(_failure(case, answer))
    return scores


def compare(scores: Scores, case: Case, finished: Finished | None) -> bool:
    """Count one answer, and return whether it is right in every respect that its kind requires."""
    scores.add("well_formed", finished is not None)
    answer = finished.answer if finished else Answer("", ())
    decided = finished is not None and bool(answer.calls) == (case.kind in CALLS)
    scores.add("decision", decided)
    if finished:
        scores.spent("calls" if case.kind in CALLS else "replies", finished)
    if case.kind in CALLS:
        right = _plain(answer.calls) == _plain(case.wanted.calls)
        names = [call.name for call in case.wanted.calls]
        scores.add("called", decided)
        scores.add("tool", [call.name for call in answer.calls] == names)
        scores.add("call", right)
        scores.add(f"call_{case.kind}", right)
        scores.add("slots", _slots(answer.calls, case.wanted.calls))
        return right
    if case.values:
        right = decided and told(case, answer.content)
        scores.add("told", right)
        return right
    if case.kind is Kind.JSON:
        share = _same_fields(answer.content, case.wanted.content)
        scores.add("exact", share == 1)
        scores.add("fields", share)
        return share == 1
    if case.kind is Kind.REPLY:
        right = decided and grounded(case, answer.content)
        scores.add("reply", right)
        scores.add("reply_words", len(answer.content.split()))
        scores.add("reply_loops", loops(answer.content))
        return right
    right = (
        decided and bool(answer.content) and (case.kind is not Kind.ASK or "?" in answer.content)
    )
    scores.add(str(case.kind), right)
    if case.fitting:
        right = answer.content in case.fitting
        scores.add("fits", right)
    return right


def _same_fields(got: str, wanted: str) -> float:
    """The share of two JSON objects' values that are the same, ignoring case."""
    try:
        found = _leaves(json.loads(got.casefold()))
    except ValueError:
        return 0.0
    expected = _leaves(json.loads(wanted.casefold()))
    return len(found & expected) / len(found | expected) if found or expected else 1.0


def _leaves(value: Any, path: str = "") -> set[tuple[str, str]]:
    if not isinstance(value, dict):
        return {(path, json.dumps(value))}
    return {leaf for key, inner in value.items() for leaf in _leaves(inner, f"{path}.{key}")}


def grounded(case: Case, content: str) -> bool:
    """Whether a reply has a number of the result, and no number or name from outside the dialogue.

    One number is enough, and none is needed if the scripted reply has none beyond the user's.
    """
    known = " ".join(t.content for t in case.turns)
    spoken = set(_NUMBER.findall(" ".join(t.content for t in case.turns if t.role == "user")))
    results_text = " ".join(t.content for t in case.turns if t.role == "tool")
    asked = next((t.content for t in reversed(case.turns) if t.role == "user"), "")
    if "how many" not in asked.lower():
        # A reply that lists the items need not count them.
        results_text = _COUNT.sub("", results_text)
    results = set(_NUMBER.findall(results_text))
    numbers = set(_NUMBER.findall(content))
    scripted = set(_NUMBER.findall(case.wanted.content))
    fresh = results - spoken if scripted - spoken else set()
    names = {name.lower() for name in _NAME.findall(content)}
    allowed = known.lower() + case.wanted.content.lower()
    return (
        bool(content)
        and (not fresh or bool(fresh & numbers))
        and numbers <= set(_NUMBER.findall(known))
        and all(name in allowed for name in names)
    )


def told(case: Case, content: str) -> bool:
    """Whether a reply has every value of a case, and no number or name from elsewhere.

    A number may be written as in the dialogue or as in the scripted reply: "19:30" or "7:30 PM".
    """
    known = " ".join((*(turn.content for turn in case.turns), case.wanted.content))
    said, allowed = _bare(content), _bare(known)
    return (
        all(any(_within(option, said) for option in v.split("|")) for v in case.values)
        and set(_NUMBER.findall(content)) <= set(_NUMBER.findall(known))
        and all(f" {name.lower()} " in allowed for name in _NAME.findall(content))
    )


def _within(option: str, said: str) -> bool:
    return option in said if option == "n't" else _bare(option) in said


def _bare(text: str) -> str:
    """Lower-case words with spaces around each, without punctuation outside words and numbers."""
    return f" {' '.join(re.findall(NUMBER_OR_WORD, text.lower()))} "


def loops(text: str) -> bool:
    """Whether a reply repeats itself."""
    words = re.findall(r"[\w']+", text.lower())
    runs = Counter(zip(words, words[1:], words[2:], strict=False))
    return max(runs.values(), default=0) >= _LOOP


def plain(value: object) -> str:
    """An argument without the differences that tools ignore."""
    text = re.sub(r"[.,!?]+(?=\s|$)", "", str(value).lower()).strip()
    for article in _ARTICLES:
        text = text.removeprefix(article)
    return text


def _plain(calls: tuple[Call, ...]) -> list[tuple[str, dict[str, str]]]:
    # A null argument counts as one that is not given.
    return [
        (c.name, _joined({k: plain(v) for k, v in c.arguments.items() if v is not None}))
        for c in calls
    ]


def _joined(arguments: dict[str, str]) -> dict[str, str]:
    """Device and room as one argument, "kitchen light", however the two were split."""
    if "device" not in arguments or "room" not in arguments:
        return arguments
    room, device = arguments["room"], arguments["device"]
    whole = device if device.startswith(f"{room} ") else f"{room} {device}"
    return {k: v for k, v in arguments.items() if k != "room"} | {"device": whole}


def _slots(got: tuple[Call, ...], wanted: tuple[Call, ...]) -> float:
    """Share of all wanted or given arguments that are right; tool names count as arguments."""
    sides = []
    for calls in (got, wanted):
        sides.append(
            {(i, "", c.name) for i, c in enumerate(calls)}
            | {(i, k, v) for i, (_, given) in enumerate(_plain(calls)) for k, v in given.items()}
        )
    given, right = sides
    return len(given & right) / len(given | right) if given | right else 1.0


def _failure(case: Case, answer: Answer | None) -> dict[str, Any]:
    wanted = [[c.name, dict(c.arguments)] for c in case.wanted.calls] or case.wanted.content
    got: Any = None
    if answer is not None:
        got = [[c.name, dict(c.arguments)] for c in answer.calls] or answer.content
    spoken = [turn for turn in case.turns if turn.role != "system" and turn.content]
    return {
        "kind": str(case.kind),
        "said": [f"{turn.role}: {turn.content}" for turn in spoken[-4:]],
        "wanted": wanted,
        "got": got,
        "tools": [f"{t.name}({', '.join(t.properties)})" for t in case.tools],
    }
