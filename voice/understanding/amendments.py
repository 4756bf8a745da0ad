"""Corrections of a call that the user is asked to confirm: "no, ear drops", "no, for Biscuit".

A value belongs to the only parameter that can be read from it, and free text to the parameter whose
old text stood behind the same word: "for Nero", "for Biscuit". In doubt nothing is corrected.
English only.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from voice.tools.registry import ToolError
from voice.tools.spoken_dates import is_moment
from voice.tools.spoken_numbers import amount
from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.english import (
    ARTICLES,
    GRAMMAR,
    HESITATING,
    NUMBERS,
    TAKING_BACK,
    VERBS,
    asks,
    plain,
    without_article,
    word_set,
)
from voice.understanding.repairs import kind_of
from voice.understanding.slot_values import Wanted, said_values

_CORRECTING = re.compile(rf"(?:{TAKING_BACK}|{HESITATING}|i said|not)\b|.* (?:instead|not)\b")
_LEAD = re.compile(rf"(?:(?:{TAKING_BACK}|{HESITATING}|please|i said|make it|it's|it is)\b ?)+")
_NO = re.compile(r"\s*(?:no|nope|sorry)\W*[,.;]\s*", re.IGNORECASE)
_COUNT = re.compile(
    rf"(?:(?:{TAKING_BACK}|{HESITATING}|just|only|make it|i said|(?:i|we) (?:want|need)) )*"
    r"(?P<count>\w+)(?: (?:of (?:them|those)|again|please|then|thanks))*"
)
"""Says how many, and nothing else."""
_TAIL = re.compile(r" (?:instead|please|sorry|then|though)$")
_NO_TEXT = word_set(
    "wrong incorrect nothing none never nobody later different enough too very so that's it's"
)
"""What is said instead of another text does not begin like this."""
_SOME_OF = re.compile(
    rf"(?:^(?:(?:and|so|ok|okay|{HESITATING}) )*|\b(?:in|on|for) )"
    rf"(?:{'|'.join(sorted(NUMBERS))}) of (?:the|them|those|these)\b"
)
_LONGEST, _LONGEST_TEXT = 12, 4
"""Most words of a correction, and of a free text in it."""


def amended(
    message: str, call: ToolCall, tool: ToolSpec, asked: str, alone: bool = False
) -> ToolCall | None:
    """The call with the values that a correction gives in place of its own.

    None if the message is no correction, says more than that, or leaves open which parameter is
    meant.

    Args:
        message: The answer to the question whether to make the call.
        asked: The request that led to the call, and the question.
        alone: Whether words alone may correct the only free text that is required: "no, bread".
    """
    said = plain(message)
    if not _CORRECTING.match(said) or len(said.split()) > _LONGEST or asks(message):
        return None
    wanted = [*_wanted(call, tool)]
    found = said_values(message, wanted, "")
    found = found or said_values(_without_units(message, plain(asked)), wanted, "")
    for name, words in found.items():
        if any(one.name != name and one.reads(words) for one in wanted):
            return None
    known = GRAMMAR | ARTICLES | word_set(plain(" ".join((asked, *found.values()))))
    if found and not known.issuperset(_LEAD.sub("", said, count=1).split()):
        return None
    read = {one.name: one.reading.read for one in wanted if one.name not in tool.readings}
    new: Mapping[str, object] = {
        n: read[n](w) if n in read else _without_article(w, tool.readings[n])
        for n, w in found.items()
    }
    new = new or _text(message, call, tool, plain(asked), alone)
    return replace(call, arguments={**call.arguments, **new}) if new else None


def with_details(message: str, call: ToolCall, tool: ToolSpec, asked: str) -> ToolCall | None:
    """The call in doubt, with the details that an answer gives: "four", "large".

    None if the message says anything else, or names another thing. Arguments as of `amended`.
    """
    number = _COUNT.fullmatch(plain(message))
    if number and tool.counting and kind_of(number["count"]) == "number":
        return replace(call, arguments={**call.arguments, tool.counting: number["count"]})
    # "No four" would be read as what is not wanted.
    said = _NO.sub("", message)
    new = None if asks(said) else amended(f"i mean, {said}", call, tool, asked)
    same = new and all(new.arguments.get(n) == call.arguments.get(n) for n in tool.required)
    return new if same else None


def of_those_made(
    call: ToolCall, request: str, tools: Mapping[str, ToolSpec], made: Container[frozenset[str]]
) -> ToolCall:
    """The call, as a change of some of the things that were made before: "one of the teas black".

    Args:
        call: Makes or changes something.
        request: In the user's words.
        tools: By name.
        made: The things (`thing_of`) that calls of the same tool made before.
    """
    changes, counting = f"change_{call.name.partition('_')[2]}", tools[call.name].counting
    if changes not in tools or not counting or not names_some(request):
        return call
    if call.name == changes and {*call.arguments} <= {*tools[changes].required, counting}:
        # How many are meant is not how many there are to be.
        return replace(call, arguments={n: v for n, v in call.arguments.items() if n != counting})
    known = thing_of(call, tools[call.name]) in made and not tools[call.name].undoes
    return replace(call, name=changes) if known else call


def names_some(request: str) -> bool:
    """Whether a request is about some of several things: "one of the teas black"."""
    return _SOME_OF.search(plain(request)) is not None


def thing_of(call: ToolCall, spec: ToolSpec) -> frozenset[str]:
    """The words that name a call's thing, in the singular: {"flat", "white"}."""
    values = (str(call.arguments.get(name, "")) for name in spec.required or call.arguments)
    words = {word for value in values for word in plain(value).split()} - GRAMMAR
    return frozenset(word.removesuffix("s") for word in words)


def _without_article(words: str, reading: Reading) -> str:
    alone = without_article(words)
    return alone if reading.read(alone) == reading.read(words) else words


def _without_units(message: str, asked: str) -> str:
    """The message without words after a number that stand after one in ``asked``: "pounds"."""
    said = pairwise(asked.split())
    units = {two for one, two in said if kind_of(one) == "number" and two not in GRAMMAR}
    behind = pairwise(["", *message.split()])
    kept = (
        two for one, two in behind if kind_of(one.lower()) != "number" or plain(two) not in units
    )
    return " ".join(kept)


def _wanted(call: ToolCall, tool: ToolSpec) -> Iterator[Wanted]:
    """The parameters of a call with values that can be read."""
    for name, schema in tool.properties.items():
        known = str(call.arguments[name]) if name in call.arguments else None
        reading = tool.readings.get(name) or reading_of(schema)
        if reading and not (reading.free and known is None):
            yield Wanted(name, _telling_apart(reading), known)


def reading_of(schema: Mapping[str, Any]) -> Reading | None:
    """How an option or a number is read, as the argument that it becomes; None for other types."""
    options = {str(one).casefold(): one for one in schema.get("enum", ())}
    if options:
        return Reading(lambda said: options.get(said.casefold()), lambda _: "")
    kind = schema.get("type")
    number = partial(_number, whole=kind == "integer")
    return Reading(number, lambda _: "") if kind in ("integer", "number") else None


def _number(said: str, whole: bool) -> float | None:
    if said.casefold() in ARTICLES:
        # "A" would be one.
        return None
    with suppress(ToolError):
        value = amount(said)
        if value == int(value):
            return int(value)
        return None if whole else float(value)
    return None


def _telling_apart(reading: Reading) -> Reading:
    """The reading; names of existing things, which all mean the same to it, mean themselves."""
    if not reading.anywhere:
        return reading
    return replace(reading, read=lambda said: reading.read(said) and said.casefold())


def _text(message: str, call: ToolCall, tool: ToolSpec, asked: str, alone: bool) -> dict[str, str]:
    """The free text of a correction, by its parameter; empty if there is none, or in doubt."""
    found: dict[str, str] = {}
    words = _TAIL.sub("", plain(message)).split()
    for name, value in call.arguments.items():
        if name in tool.readings or tool.properties.get(name, {}).get("enum"):
            continue
        if not (old := plain(value) if isinstance(value, str) else ""):
            continue
        places = {_last(part) for part in f" {asked} ".split(f" {old} ")[:-1]}
        bare = len(words) - len(_LEAD.sub("", " ".join(words), count=1).split()) - 1
        led = (at for at, word in enumerate(words) if word in places)
        only = alone and name in tool.free_texts
        at = max(led, default=bare if only else len(words))
        text = without_article(" ".join(words[at + 1 :]))
        first = text.split()[:1]
        named = text != old and (GRAMMAR | NUMBERS | _NO_TEXT).isdisjoint(first)
        # "Call Dad" may stand for "call Mum".
        verbs = VERBS - {*first} if first == old.split()[:1] else VERBS
        short = 0 < len(text.split()) <= _LONGEST_TEXT and verbs.isdisjoint(text.split())
        said = {*words[: max(at, 0)]} <= GRAMMAR | ARTICLES | {*old.split()}
        if named and short and said and not is_moment(text):
            at = message.lower().find(text)
            found[name] = message[at : at + len(text)] if at >= 0 else text
    return found if len(found) == 1 else {}


def _last(text: str) -> str:
    """The last word of a text that is no article; empty for none."""
    return next((word for word in reversed(text.split()) if word not in ARTICLES), "")
