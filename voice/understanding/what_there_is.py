"""Which of the things that there are a call is about: an ordered drink, a device of the house.

A model of few words changes what is not there, makes again what is, and takes the thing of the
turn before where the user has named another. What a tool's readings know decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from voice.types import Message, ToolCall, ToolSpec
from voice.understanding.corrections import MAKING
from voice.understanding.english import GRAMMAR, word_set
from voice.understanding.left_out import WORD, carriers
from voice.understanding.opposites import asks_to_end

_CHANGING = re.compile(
    r"\b(?:change|make|swap|switch|replace|turn|instead|it|that|them|one|mine)\b", re.IGNORECASE
)
"""Says that something is there already."""
_POINTING = GRAMMAR | {"only", "first", "last"}
"""Names no thing by itself."""
_SEVERAL = word_set("all both everything everybody everyone them these those they lot each")
_LONGEST_NAME = 3
"""Words."""


def made_instead(call: ToolCall, tools: Mapping[str, ToolSpec], message: str) -> ToolCall:
    """A change of what is not there, as a call that makes it, unless a message speaks of one.

    "I also want an espresso" changes none.
    """
    verb, _, thing = call.name.partition("_")
    makers = (tools.get(f"{one}_{thing}") for one in sorted(MAKING))
    maker = next(filter(None, makers), None)
    speaks_of_it = _CHANGING.search(message) or asks_to_end(message)
    if verb != "change" or maker is None or speaks_of_it:
        return call
    readings = tools[call.name].readings
    required = maker.required
    if not required:
        return call
    for name in required:
        value = str(call.arguments.get(name, ""))
        denied = re.search(rf"\b(?:no|not|without) (?:\w+ )?{re.escape(value)}", message)
        there = name not in readings or not readings[name].question(value)
        known = name in maker.readings and maker.readings[name].read(value) is not None
        if denied or there or not known:
            return call
    return replace(call, name=maker.name, arguments=_taken(call, maker))


def about_the_named(
    calls: Sequence[ToolCall],
    tools: Mapping[str, ToolSpec],
    message: str,
    before: Sequence[Message] = (),
    whole: str = "",
) -> list[ToolCall]:
    """Calls about the things that a message names: "and the tea, make that decaf".

    Another one is taken where no word of the message names a call's own thing, or a second call has
    the same: what the message names and no call has; else, of "a bit brighter", the newest thing
    that a call of the messages before was about.

    Args:
        calls: For what is asked.
        tools: By name.
        message: What is asked, which may be a part of the ``whole`` message.
        before: The dialogue.
        whole: The message.
    """
    words = WORD.findall(message)
    folded = [word.casefold() for word in words]
    said = {*folded, *(word.casefold() for word in WORD.findall(whole))}
    found = list(calls)
    for number, call in enumerate(calls):
        spec = tools.get(call.name)
        if spec is None:
            continue
        for name in (n for n, one in spec.readings.items() if one.anywhere and n in call.arguments):
            value = str(call.arguments[name])
            others = [one for at, one in enumerate(found) if at != number and one.name == call.name]
            twice = value in (one.arguments.get(name) for one in others)
            if not twice and not {*value.casefold().split()}.isdisjoint(said):
                continue
            open_ = [carrier is None for carrier in carriers(folded, found)]
            if named := _named(words, open_, spec, name):
                found[number] = replace(call, arguments={**call.arguments, name: named})
            elif not twice and _SEVERAL.isdisjoint(folded):
                found[number] = _about_the_newest(call, spec, name, before)
    return found


def on_the_named(call: ToolCall, message: str) -> ToolCall:
    """A call on the list that a message names, where the call has another: "the shopping list".

    That is a value which a tool has its name from.
    """
    thing = call.name.rpartition("_")[2]
    named = re.search(rf"\b(?:the|my|our) (\w+) {re.escape(thing)}\b", message, re.IGNORECASE)
    had = str(call.arguments.get(thing, "")).casefold()
    if named is None or not had or had in message.casefold():
        return call
    return replace(call, arguments={**call.arguments, thing: named[1]})


def _about_the_newest(
    call: ToolCall, spec: ToolSpec, name: str, before: Sequence[Message]
) -> ToolCall:
    """A call about what the newest one with this argument was about, in the same room."""
    made = (one for message in reversed(before) for one in reversed(message.tool_calls))
    newest = next((one for one in made if name in one.arguments), None)
    if newest is None or newest.arguments[name] == call.arguments[name]:
        return call
    same = newest.arguments if newest.name == call.name else {}
    kept = {argument: value for argument, value in same.items() if argument not in spec.readings}
    return replace(call, arguments={**kept, **call.arguments, name: newest.arguments[name]})


def _named(words: Sequence[str], open_: Sequence[bool], spec: ToolSpec, name: str) -> str:
    """Words that no call has and that name a thing there is; empty where there are none."""
    for length in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - length + 1):
            span = " ".join(words[start : start + length])
            if not _POINTING.isdisjoint(span.casefold().split()):
                continue
            if all(open_[start : start + length]) and spec.readings[name].there(span):
                return span
    return ""


def _taken(call: ToolCall, spec: ToolSpec) -> dict[str, object]:
    """The arguments of a call that another tool takes."""
    known = spec.properties
    return {name: value for name, value in call.arguments.items() if name in known}
