"""Which existing thing a call is about: an ordered drink, a device of the house.

A small model changes things that are not there, makes things again that are, and takes the thing
of the turn before although the user has named another. The tools' readings know what there is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from voice.types import Message, ToolCall, ToolSpec
from voice.understanding.corrections import MAKING, failed_ones
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
_ONE_OF = re.compile(r"\bone of (?:the|my|our|these|those) (\w+(?: \w+)?)", re.IGNORECASE)
_LONGEST_NAME = 3
"""Most words of a thing's name."""
_THE_ONE = re.compile(r"\bthe (\w+) (?=ones?\b)", re.IGNORECASE)
_HAVING_IT = re.compile(
    r"\b(?:have|get|take|like|want|do) (?:it|that|them|those) (?:with|without|in|as)\b",
    re.IGNORECASE,
)
_LIKE = re.compile(
    r"\b(?:the|that|my|his|her|their) same\b|^(?:and |ok |okay )?same\b"
    r"|\b(?:another|more|one) (?:one )?like\b"
)
"""Wants a thing like one from before."""


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


def changed_instead(call: ToolCall, tools: Mapping[str, ToolSpec], message: str) -> ToolCall:
    """The call; one that makes a thing again for "can I have that with soy" changes it instead."""
    verb, _, thing = call.name.partition("_")
    change, maker = tools.get(f"change_{thing}"), tools.get(call.name)
    if verb not in MAKING or not (change and maker) or not _HAVING_IT.search(message):
        return call
    if any(str(call.arguments.get(name, "")) in message for name in maker.required):
        return call
    taken = {n: v for n, v in _taken(call, change).items() if n != maker.counting}
    return replace(call, name=change.name, arguments=taken)


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
            if value.casefold() == "one" and (several := _ONE_OF.search(message)):
                named = " ".join(w for w in several[1].split() if w.casefold() not in GRAMMAR)
                found[number] = replace(call, arguments={**call.arguments, name: named or value})
                continue
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


def as_called(call: ToolCall, spec: ToolSpec, message: str) -> ToolCall:
    """The call, about its thing as the message calls it: "take the plain one off".

    What tells the one from others is taken from the message, and what is removed is called no more
    than it is there: "the latte" is no "iced latte". The tool then says if there is no such thing.
    """
    things = [n for n in spec.required if n in spec.readings and spec.readings[n].anywhere]
    if len(things) != 1 or things[0] not in call.arguments:
        return call
    value = str(call.arguments[things[0]]).lower()
    said = f" {' '.join(WORD.findall(message.lower()))} "
    if f" {value} " in said:
        return call
    told = [one[1] for one in _THE_ONE.finditer(message) if one[1].lower() not in GRAMMAR]
    words = value.split()
    kept = [word for word in words if f" {word} " in said]
    if len(told) == 1:
        return replace(call, arguments={**call.arguments, things[0]: f"{told[0]} one"})
    named = re.search(r"\bthe (\w+(?: \w+)?)\W*$", message, re.IGNORECASE)
    if spec.undoes and named and not kept:
        # "Lose the whipped cream" does not take the mocha away.
        return replace(call, arguments={**call.arguments, things[0]: named[1]})
    if not spec.undoes or kept[-1:] != words[-1:]:
        return call
    return replace(call, arguments={**call.arguments, things[0]: " ".join(kept)})


def like_before(
    call: ToolCall, spec: ToolSpec, message: str, before: Sequence[Message]
) -> ToolCall:
    """The call, with the details of the thing that the message wants another one like.

    "The same but small" is like the newest one made, "another one like the first" like the first;
    the message's own words win.
    """
    said = message.lower()
    if not spec.counting or call.name.partition("_")[0] not in MAKING or not _LIKE.search(said):
        return call
    models = _models(call.name, spec, before)
    model = models[0 if re.search(r"\bfirst\b", said) else -1] if models else {}
    own = {n: v for n, v in call.arguments.items() if str(v).lower() in said}
    for name in spec.required:
        # "Another latte like the first" names what it is like.
        if str(own.pop(name, "")).lower() not in str(model.get(name, "")).lower():
            return call
    kept = {n: v for n, v in model.items() if n != spec.counting}
    return replace(call, arguments={**kept, **own}) if model else call


def _models(maker: str, spec: ToolSpec, before: Sequence[Message]) -> list[dict[str, object]]:
    """The values of the things made before, oldest first, as they were changed since."""
    made: list[dict[str, object]] = []
    failed = failed_ones(before)
    for call in (one for message in before for one in message.tool_calls):
        thing = " ".join(str(call.arguments.get(name, "")) for name in spec.required).lower()
        if call.call_id in failed:
            continue
        if call.name == maker:
            made.append(dict(call.arguments))
        elif call.name == f"change_{maker.partition('_')[2]}":
            of = [m for m in made if thing and thing in str(m.get(spec.required[0], "")).lower()]
            for model in of[-1:]:
                model.update((n, v) for n, v in call.arguments.items() if n not in spec.required)
    return made


def on_the_named(call: ToolCall, message: str) -> ToolCall:
    """The call, on the list that the message names if the call has another: "the shopping list".

    Of several, it is the first one behind the call's first value. That goes for any argument with
    the name that ends the tool's own: ``list`` in ``add_to_list``.
    """
    thing = call.name.rpartition("_")[2]
    said = message.casefold()
    named = [*re.finditer(rf"\b(?:the|my|our) (\w+) {re.escape(thing)}\b", said)]
    had = str(call.arguments.get(thing, "")).casefold()
    at = said.find(str(next(iter(call.arguments.values()), "")).casefold())
    # "Put on the one list tea and on the other" names each before what is put there.
    of_each = len(named) > 1 and len(said[: named[0].start()].split()) > 2
    behind = (one[1] for one in named if of_each and one.start() > at >= 0)
    meant = next(behind, "" if had in said or not named else named[0][1])
    return replace(call, arguments={**call.arguments, thing: meant}) if had and meant else call


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
