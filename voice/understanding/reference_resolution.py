"""Which existing thing a call is about: an ordered drink, a device of the house.

A small model changes things that are not there, makes things again that are, and takes the thing
of the turn before although the user has named another. The tools' readings know what there is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from voice.types import Message, ToolCall, ToolSpec
from voice.understanding.corrections import MAKING
from voice.understanding.english import GRAMMAR, word_set
from voice.understanding.missed_requests import WORD, carriers
from voice.understanding.opposites import asks_to_end

_CHANGING = re.compile(
    r"\b(?:change|make|swap|switch|replace|turn|instead|it|that|them|one|mine)\b", re.IGNORECASE
)
"""Words that refer to something that is already there."""
_POINTING = GRAMMAR | {"only", "first", "last"}
"""Words that name no thing by themselves."""
_SEVERAL = word_set("all both everything everybody everyone them these those they lot each")
_LONGEST_NAME = 3
"""Most words of a thing's name."""


def made_instead(call: ToolCall, tools: Mapping[str, ToolSpec], message: str) -> ToolCall:
    """The call; a change of something that is not there becomes a call that makes it.

    "I also want an espresso" changes none. Messages that speak of a change keep their call.
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
    """The calls, made about the things that the message names: "and the tea, make that decaf".

    A call's thing is replaced if no word of the message names it, or if another call has the same
    one. It becomes a thing that the message names and no call has; failing that, as for "a bit
    brighter", the thing of the newest earlier call.

    Args:
        calls: The calls for what is asked.
        tools: The tools by name.
        message: What is asked, which may be a part of the ``whole`` message.
        before: The dialogue.
        whole: The whole message.
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
    """The call, on the list that the message names if the call has another: "the shopping list".

    That goes for any argument with the name that ends the tool's own: ``list`` in ``add_to_list``.
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
    """The call, about the thing of the newest earlier call, its details (the room) included."""
    made = (one for message in reversed(before) for one in reversed(message.tool_calls))
    newest = next((one for one in made if name in one.arguments), None)
    if newest is None or newest.arguments[name] == call.arguments[name]:
        return call
    same = newest.arguments if newest.name == call.name else {}
    kept = {argument: value for argument, value in same.items() if argument not in spec.readings}
    return replace(call, arguments={**kept, **call.arguments, name: newest.arguments[name]})


def _named(words: Sequence[str], open_: Sequence[bool], spec: ToolSpec, name: str) -> str:
    """Words in no call that name an existing thing; empty if there are none."""
    for length in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - length + 1):
            span = " ".join(words[start : start + length])
            if not _POINTING.isdisjoint(span.casefold().split()):
                continue
            if all(open_[start : start + length]) and spec.readings[name].there(span):
                return span
    return ""


def _taken(call: ToolCall, spec: ToolSpec) -> dict[str, object]:
    """The arguments of a call that another tool also takes."""
    known = spec.properties
    return {name: value for name, value in call.arguments.items() if name in known}
