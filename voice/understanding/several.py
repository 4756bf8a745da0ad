"""Several of one kind by their values alone: "ten minutes for the pasta and another for twelve".

The values are read by the tool that sets such a thing. Each becomes a request that stands alone,
with what it leaves to its neighbours: the day of "7 and 8 on Saturday", the unit of "three minutes
and another for six", the hour of "six, and again at quarter past". The words are English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from voice.tools.spoken_dates import shared_day
from voice.types import Reading, ToolSpec
from voice.understanding.english import ARTICLES, GRAMMAR, NUMBERS, VERBS, word_set

_LONGEST, _MOST = 7, 40
"""Words of a value, and of a request."""
_WORD = re.compile(r"[^\s,;]+")
_EDGES = word_set("and for at of in to the another one again then on please with by about")
_LENGTH = re.compile(r"\b(seconds?|minutes?|hours?|secs?|mins?)\b", re.IGNORECASE)
_HOUR = re.compile(
    r"\b(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
)
_NO_HOUR = re.compile(r"(?:.* )?(?:past|after|to|before)", re.IGNORECASE)
_COUNTED = re.compile(r" (?:one|timer|alarm|more|other|of|different)", re.IGNORECASE)
_BETWEEN = re.compile(
    r"(?: (?:timer|alarm))?"
    r"(?P<rest>(?: (?:for|called|named) (?!another\b|one\b)[\w']+(?: [\w']+){0,2}?)?)"
    r"(?:,? (?:and|then|plus)(?: (?:also|then))?|,)"
    r"(?: (?:set|start|put|do|make|wake me|get me up))?"
    r"(?: (?:another|one more|one|(?:a|the) (?:second|third|other|next)|again|an?|also))*"
    r"(?: (?:one|timer|alarm|time))?(?: (?:for|at|of|in|to))? ?",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"(?: (?:timer|alarm)s?)?(?P<rest>(?: (?:for|called|named) [\w']+(?: [\w']+){0,3})?)"
    r"(?:,? (?:please|thanks|thank you|too|as well|each))*[.!?]*",
    re.IGNORECASE,
)
_CALLED = {"alarm": re.compile(r"\b(?:alarms?|wake|get (?:me|us) up)\b", re.IGNORECASE)}
_SMALL = (
    GRAMMAR | VERBS | NUMBERS | ARTICLES | word_set("timer timers alarm alarms first couple set")
) - word_set(
    "cancel delete stop remove change move clear skip snooze remind remember what what's when how"
    " is are not calculate convert add edit extend lengthen shorten"
)  # fmt: skip


def several(request: str, tools: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """The parts of a request for several things of one kind; none where it is none.

    "Three minutes and another for six" is "set a timer for three minutes" and "… for six minutes".
    """
    named = {thing for thing in ("timer", "alarm") if re.search(rf"\b{thing}s?\b", request, re.I)}
    if len(_WORD.findall(request)) > _MOST or len(named) > 1:
        return ()
    for thing in ("timer", "alarm"):
        spec = tools.get(f"set_{thing}")
        required = [*spec.parameters.get("required", ())] if spec else []
        reading = spec.readings.get(required[0]) if spec and len(required) == 1 else None
        if reading and (parts := _parts(request, thing, reading)):
            return parts
    return ()


def _parts(request: str, thing: str, reading: Reading) -> tuple[str, ...]:
    places = _values(request, reading)
    if len(places) < 2:
        return ()
    lead, called = request[: places[0][0]], _CALLED.get(thing, re.compile(rf"\b{thing}s?\b", re.I))
    named = called.search(request) is not None
    words = {word.strip(".,:;!?").lower() for word in lead.split()} - {""}
    lengths = all(_LENGTH.search(request[a:b]) for a, b in places[:1])
    one = reading.read(request[places[0][0] : places[-1][1]]) is not None
    if one or not words <= _SMALL or not (named or (thing == "timer" and lengths)):
        return ()
    joints = [_BETWEEN.fullmatch(request[b:c]) for (_, b), (c, _) in pairwise(places)]
    behind = _BEHIND.fullmatch(request[places[-1][1] :])
    rests = [found["rest"] if found else None for found in (*joints, behind)]
    values = _whole([request[a:b] for a, b in places], thing)
    if None in rests:
        return ()
    values = [re.sub(rf"^an? (?=\w+ \w)| {thing}s?$", "", one, flags=re.I) for one in values]
    article = "an" if thing[0] in "aeiou" else "a"
    return tuple(
        f"set {article} {thing} for {value}{rest}"
        for value, rest in zip(values, rests, strict=True)
    )


def _values(request: str, reading: Reading) -> list[tuple[int, int]]:
    """Where the values of a request stand, the longest from the left."""
    words = [*_WORD.finditer(request)]
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(words):
        step = 1
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            here = words[at : at + length]
            edges = {here[0][0].lower(), here[-1][0].lower()}
            if length == 2 and _LENGTH.search(here[-1][0]):
                # "One minute", but not "another one".
                edges.discard("one")
            span = request[here[0].start() : here[-1].end()].rstrip(".!?")
            # "A second one" is no length.
            counted = _is_number(span) or "second" in edges
            counts = counted and _COUNTED.match(request, here[-1].end()) is not None
            if (
                counts
                or edges & _EDGES
                or re.search(r"[,;]| and ", span)
                or not _reads(span, reading)
            ):
                continue
            places.append((here[0].start(), here[0].start() + len(span)))
            step = length
            break
        at += step
    return places


def _reads(span: str, reading: Reading) -> bool:
    if reading.read(span) is not None:
        return True
    hardly = reading.hardly
    return _is_number(span) and hardly is not None and hardly(span) is not None


def _is_number(span: str) -> bool:
    return span.isdigit() or {*span.lower().replace("-", " ").split()} <= NUMBERS


def _whole(values: Sequence[str], thing: str) -> list[str]:
    """Values with what each leaves to its neighbours."""
    if thing == "alarm":
        whole: list[str] = []
        for value in values:
            hour = _HOUR.search(whole[-1].lower()) if whole else None
            whole.append(f"{value} {hour[0]}" if hour and _NO_HOUR.fullmatch(value) else value)
        return shared_day(whole)
    units = [found[1] if (found := _LENGTH.search(value)) else "" for value in values]
    return [
        value if unit else f"{value} {next(filter(None, (*units[at::-1], *units[at:])), '')}"
        for at, (value, unit) in enumerate(zip(values, units, strict=True))
    ]
