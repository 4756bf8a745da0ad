"""Decides which of the dates that a text says each date parameter of a call may be.

Each date is used once, in the order in which they are said, unless the words before one name a
parameter ("it ends on 9 June and starts on 3 June"). This module knows nothing of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from dlm.grammar.said import Accepts, Said, with_said
from dlm.language.identifiers import words
from dlm.language.schema import admits_null, options, plain
from dlm.language.written_dates import (
    SaidDate,
    dates_in,
    is_range,
    said_dates,
    says_relative,
)

_DESCRIBED = re.compile(r"\byyyy-mm-dd\b|\biso(?:[ -]?8601)?[ -](?:format(?:ted)? )?date\b", re.I)
_WORD = re.compile(r"[^\W_]+")
_LONGEST_LABEL = 40
_STEM = 4
"""Leading letters in which a word of a text must agree with one of a name: "starts", "start"."""
_LAST = frozenset(("end", "ends", "last", "to", "until", "till", "return", "checkout", "back"))
"""Words that mark a parameter's name as the later one of two dates."""
_HEAD = re.compile(
    r"(?:.*(?:\n|: ))?\W*(?:(?:\w+ )?(?:date|sent|written|today|dated)\b.{0,12})?", re.IGNORECASE
)
_COMMON = frozenset(("date", "day", "days", "time", "for", "the", "and", "from", "until"))


def with_days(
    properties: Mapping[str, Mapping[str, Any]],
    required: Collection[str],
    definitions: Mapping[str, Any],
    texts: Sequence[str],
    accepts: Accepts,
) -> dict[str, Mapping[str, Any]]:
    """New schemas for the properties that are dates, limited to days that the texts say.

    Empty if the texts say none, or no property is a date.
    """
    dates = {name: _as_date(one, definitions) for name, one in properties.items()}
    days = days_of([name for name, one in dates.items() if one is not None], required, texts)
    said = Said.of(texts) if days else None
    made: dict[str, Mapping[str, Any]] = {}
    for name, one in dates.items():
        if said is not None and one is not None:
            value = with_said(one, said.with_days(days[name]), accepts)
            value.pop("$defs", None)
            made[name] = value
    return made


def _as_date(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of a property that is a date by its format or description; None for others."""
    value = {key: part for key, part in plain(schema, definitions).items() if key != "$defs"}
    if value.get("type") != "string" or options(value):
        return None
    told = value.get("description")
    if "format" not in value and isinstance(told, str) and _DESCRIBED.search(told):
        value["format"] = "date"
    if value.get("format") != "date":
        return None
    return {"anyOf": [value, {"type": "null"}]} if admits_null(schema) else value


def days_of(
    names: Sequence[str], required: Collection[str], texts: Sequence[str]
) -> dict[str, Sequence[str]]:
    """For each date parameter, the days that it may be; empty if the texts say none.

    ``names`` are in the order in which they are declared.
    """
    text = "\n".join(texts)
    # Few requests have a date parameter, so the texts are read only if there is one.
    days = dates_in(text) if names else []
    if not days:
        return {}
    said = {one.days: one for one in reversed(said_dates(text))}
    ordered = sorted(said.values(), key=lambda one: one.start)
    # A later message may correct an earlier date, and the order of "tomorrow" tells nothing.
    several = sum(bool(dates_in(one)) for one in texts) > 1
    if several or len(ordered) != len(names) or says_relative(text):
        return dict.fromkeys(names, days)
    if not (
        is_range(text, ordered) or (set(names) <= set(required) and not _heads(text, ordered[0]))
    ):
        return dict.fromkeys(names, days)
    named = _named(names, text, ordered)
    rest = iter([one for one in ordered if one not in named.values()])
    last = [name for name in names if not _LAST.isdisjoint(words(name).split())]
    placed = [*(name for name in names if name not in last), *last] if len(names) == 2 else names
    found = {name: named[name] if name in named else next(rest) for name in placed}
    return {name: [day.isoformat() for day in found[name].days] for name in names}


def _heads(text: str, first: SaidDate) -> bool:
    """Whether the first date heads a letter, so that it may belong to any of the parameters."""
    alone = text[first.end : first.end + 1] in (":", "\n")
    return alone or _HEAD.fullmatch(text, 0, first.start) is not None


def _named(names: Sequence[str], text: str, said: Sequence[SaidDate]) -> dict[str, SaidDate]:
    """The date of each name whose words stand before exactly one date, without other names'."""
    stems = {name: _stems(words(name).split()) for name in names}
    ends = [0, *(one.end for one in said)]
    labels = [
        _stems(_WORD.findall(text[max(end, one.start - _LONGEST_LABEL) : one.start].lower()))
        for one, end in zip(said, ends, strict=False)
    ]
    found = {}
    for name in names:
        others = set[str]().union(*(stems[other] for other in names if other != name))
        own = [
            one
            for one, label in zip(said, labels, strict=True)
            if label & (stems[name] - others) and not label & (others - stems[name])
        ]
        if len(own) == 1:
            found[name] = own[0]
    return found


def _stems(said: Iterable[str]) -> set[str]:
    return {one[:_STEM] for one in said if len(one) > 2 and one not in _COMMON}
