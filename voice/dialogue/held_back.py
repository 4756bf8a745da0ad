"""Calls of an answer that are not made at once: the user is asked first.

A required value that cannot be read is asked for. A call that cannot be taken back is asked about,
unless the user has asked for it plainly; so is the end of the conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from voice.dialogue.english import agrees, disagrees
from voice.dialogue.farewell import SHALL_I_END, agrees_to_end, says_goodbye
from voice.types import ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Calls that are made, and why others are not.

    Attributes:
        made: In their order.
        question: What the user is asked where none is made.
        unconfirmed: What a "yes" to the question makes.
    """

    made: tuple[ToolCall, ...]
    question: str = ""
    unconfirmed: tuple[ToolCall, ...] = ()


def readable_ones(calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> HeldBack:
    """The calls whose required values can be read, or the question for one that cannot.

    None is made where one of them takes something back that another was to put in its place.
    """
    asked = {call.call_id: _question(call, tools.get(call.name)) for call in calls}
    made = tuple(call for call in calls if not asked[call.call_id])
    undoes = any(call.name in tools and tools[call.name].undoes for call in made)
    if len(made) == len(calls) or (made and not undoes):
        return HeldBack(made)
    return HeldBack((), next(filter(None, asked.values())))


def confirmed_ones(
    calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec], message: str
) -> HeldBack:
    """The calls that need no question, or have an answer to it in the user's message.

    What would end the conversation gives way to what the message asks for as plainly: "that's all,
    thanks" places an order that is open.
    """
    calls = _instead_of_the_end(calls, tools, message)
    asked = {call.call_id: _doubt(tools.get(call.name), message) for call in calls}
    made = tuple(call for call in calls if not asked[call.call_id])
    held = tuple(call for call in calls if asked[call.call_id])
    return HeldBack(made, next(filter(None, asked.values()), ""), held)


def _instead_of_the_end(
    calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec], message: str
) -> Sequence[ToolCall]:
    ends = [call for call in calls if call.name in tools and tools[call.name].ends]
    if not ends:
        return calls
    rest = [call for call in calls if call not in ends]
    for spec in tools.values():
        asked = spec.confirmation
        if asked and not asked.always and asked.plainly(message) and asked.question():
            made = any(call.name == spec.name for call in rest)
            return rest if made else [*rest, replace(ends[0], name=spec.name, arguments={})]
    return calls


def agreed(calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec], message: str) -> bool | None:
    """Whether the message behind a question about ``calls`` says yes to it, or no.

    None where it says neither, and for calls that were not held back.
    """
    answers = [_answer(tools[call.name], message) for call in calls]
    return None if None in answers or not answers else all(answers)


def _answer(spec: ToolSpec, message: str) -> bool | None:
    if spec.ends:
        return agrees_to_end(message) or None
    # "No" to "anything else?" asks for an order plainly; here it is a no.
    if disagrees(message):
        return False
    asked = spec.confirmation
    return agrees(message) or (asked is not None and asked.plainly(message)) or None


def _question(call: ToolCall, spec: ToolSpec | None) -> str:
    """What is to be asked for want of a value; empty where all can be read."""
    if spec is None:
        return ""
    for name in spec.parameters.get("required", ()):
        reading, value = spec.readings.get(name), call.arguments.get(name)
        question = reading.question(value) if reading and isinstance(value, str) else ""
        if question:
            return question
    return ""


def _doubt(spec: ToolSpec | None, message: str) -> str:
    if spec is None:
        return ""
    if spec.ends:
        return "" if message and says_goodbye(message) else SHALL_I_END
    asked = spec.confirmation
    if asked is None or (asked.plainly(message) and not asked.always):
        return ""
    return asked.question()
