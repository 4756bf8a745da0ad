"""Judges what an agent did and said in a turn of an everyday conversation, without a model.

A turn has ``say``; ``outcomes`` (acceptable sets of calls, each with the accepted values of its
arguments; null means that the argument must be absent); ``tell`` (groups, of each of which one
alternative must be in the reply); ``not_tell`` (what must not be in it); and ``may_decline``.
Read-only calls that an outcome does not list do not count against it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from voice.tools.registry import ToolError
from voice.tools.spoken_numbers import digits
from voice.types import ToolCall

Turn = Mapping[str, Any]

_DECLINING = re.compile(
    r"\b(?:sorry|can't|cannot|can not|don't know|do not know|not able|unable|no tool|not sure"
    r"|afraid|beyond|which one|no way to|couldn't|could not|no (?:answer|idea|expert)"
    r"|wouldn't know)\b|\?\s*$"
)
_OPPOSITES = (
    ("set", "cancel"), ("add", "remove"), ("order", "remove"), ("add", "clear"),
    ("order", "cancel"),
)  # fmt: skip
_STATES = (
    ("on", "off"), ("open", "closed"), ("open", "close"), ("locked", "unlocked"),
    ("lock", "unlock"),
)  # fmt: skip
_NEGATION = "negation"


class Verdict(StrEnum):
    """The verdict on a turn.

    Attributes:
        RIGHT: The calls and the reply are among those expected.
        DECLINED: Nothing was changed, and the agent says that it cannot, or asks back.
        WRONG: Anything else.
        OPPOSITE: The agent did the opposite of what was asked.
    """

    RIGHT = "right"
    DECLINED = "honestly declined"
    WRONG = "wrong"
    OPPOSITE = "opposite"


def judge(
    turn: Turn, kind: str, calls: Sequence[ToolCall], reply: str, read_only: frozenset[str]
) -> Verdict:
    """Judge a turn.

    Args:
        turn: What was said, and what is expected.
        kind: Of the conversation.
        calls: The agent's calls, in order.
        reply: All that the agent said.
        read_only: Names of the tools that change nothing.
    """
    said = _plain(reply)
    changing = [call for call in calls if call.name not in read_only]
    wanted = turn["outcomes"]
    expected = list(itertools.chain.from_iterable(wanted))
    if any(_opposes(call, expected) for call in changing):
        return Verdict.OPPOSITE
    if changing and kind == _NEGATION and wanted == [[]]:
        return Verdict.OPPOSITE
    done = any(_fits(calls, outcome, read_only) for outcome in wanted)
    absurd = any(_has(said, words) for words in turn["not_tell"])
    told = all(any(_has(said, words) for words in group) for group in turn["tell"])
    declines = _DECLINING.search(said) is not None
    if done and not absurd and (told or (turn["may_decline"] and declines)):
        return Verdict.RIGHT
    if not changing and declines and not absurd:
        return Verdict.DECLINED
    return Verdict.WRONG


def _fits(
    calls: Sequence[ToolCall], outcome: Sequence[Mapping[str, Any]], read_only: frozenset[str]
) -> bool:
    """Whether the calls are an outcome's, in any order; unlisted read-only calls do not count."""
    listed = {expected["tool"] for expected in outcome}
    made = [call for call in calls if call.name in listed or call.name not in read_only]
    if len(made) != len(outcome):
        return False
    return any(
        all(_matches(call, expected) for call, expected in zip(order, outcome, strict=True))
        for order in itertools.permutations(made)
    )


def _matches(call: ToolCall, expected: Mapping[str, Any]) -> bool:
    if call.name != expected["tool"]:
        return False
    for name, accepted in expected["args"].items():
        given = call.arguments.get(name)
        if accepted is None:
            if given not in (None, ""):
                return False
        elif given is None or _value(str(given)) not in {_value(value) for value in accepted}:
            return False
    return True


def _opposes(call: ToolCall, expected: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a call is not expected and does the opposite of one that is."""
    if call.name == "set_device":
        given = _value(str(call.arguments.get("state", "")))
        states = [e["args"].get("state") or () for e in expected if e["tool"] == call.name]
        accepted = {_value(state) for some in states for state in some}
        reverse = {other for pair in _STATES if given in pair for other in pair} - {given}
        return given not in accepted and bool(reverse & accepted)
    if call.name in {one["tool"] for one in expected}:
        return False
    verb, _, thing = call.name.partition("_")
    for one in expected:
        wanted, _, other = one["tool"].partition("_")
        same = bool(set(thing.split("_")) & set(other.split("_")))
        if same and any({verb, wanted} == set(pair) for pair in _OPPOSITES):
            return True
    return False


def _value(text: str) -> str:
    """An argument normalised for comparison: numbers in digits, no marks, no articles."""
    try:
        said = digits(text, fractions=False)
    except ToolError:
        said = text.lower()
    words = re.sub(r"[^\w\s]", " ", said.replace("'", "")).split()
    return " ".join(word for word in words if word not in ("the", "a", "an", "my"))


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")


def _has(said: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_plain(words))}(?!\w)", said) is not None
