"""Finds the lengths of time that a text says: "an hour and a half" is 90 for "minutes"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlm.language.spoken_numbers import numbers_in

_SECONDS = {
    "second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "h": 3600,
    "day": 86_400, "week": 604_800, "fortnight": 1_209_600,
}  # fmt: skip
_SMALLER = {3600: 60, 60: 1}
_PARTS = {"half": 0.5, "quarter": 0.25, "three quarters": 0.75}
_DIGITS = 4
"""Decimal places of a length in a larger unit: 20 minutes are 0.3333 hours."""

_Found = tuple[float, int, int]
"""A number or a length in seconds, and the start and end of its words' place in the text."""


def durations_in(text: str, name: str) -> list[float]:
    """The lengths of time in a text, in the unit that a name states: 90 for "minutes".

    Args:
        text: What is said.
        name: The name, in words.

    Returns:
        Empty if the name states no unit, and if the text says no length in any other words than a
        number of that unit.
    """
    stated = _STATED.search(name)
    if not stated:
        return []
    unit = _seconds(stated[1])
    numbers = [(float(value), start, end) for value, start, end in numbers_in(text)]
    lengths = list(_lengths(text, numbers))
    found = [round(seconds / unit, _DIGITS) for seconds, _, _ in lengths]
    return [] if {value for value, _, _ in numbers}.issuperset(found) else found


def _lengths(text: str, numbers: list[_Found]) -> Iterator[_Found]:
    """The lengths of time in a text; "1 hour 20 minutes" is one."""
    ending = {end: (value, start) for value, start, end in numbers}
    starting = {start: (value, end) for value, start, end in numbers}
    last: _Found | None = None
    least = 0
    for found in _UNIT.finditer(text):
        unit = _seconds(found[1])
        amount = _amount(text, found.start(), ending)
        if amount is None:
            continue
        (count, start), end = amount, found.end()
        if more := _MORE.match(text, end):
            count, end = count + _PARTS[more[1].lower()], more.end()
        seconds = count * unit
        if (joint := _JOINT.match(text, end)) and joint.end() in starting:
            # "An hour and ten".
            value, behind = starting[joint.end()]
            if unit in _SMALLER and 10 <= value < 60 and _OVER.match(text, behind):
                seconds, end = seconds + value * _SMALLER[unit], behind
        if last and unit < least and _JOINT.fullmatch(text, last[2], start):
            seconds, start = last[0] + seconds, last[1]
        elif last:
            yield last
        last, least = (seconds, start, end), unit
    if last:
        yield last


def _amount(text: str, end: int, numbers: dict[int, tuple[float, int]]) -> tuple[float, int] | None:
    """How many units the words before a unit say, and where they start."""
    before = text[max(0, end - _LONGEST_BEFORE) : end]
    offset = end - len(before)
    filler = _FILLER.search(before)
    assert filler
    if (at := offset + filler.start()) in numbers:
        return numbers[at]
    found = _FEW.search(before)
    if found is None:
        return None
    start = offset + found.start()
    if not found["part"]:
        return 1.0, start
    part = _PARTS[found["part"].lower()]
    # "Eight and a quarter hours".
    joined = text.endswith(_AND, 0, start)
    whole = numbers.get(start - len(_AND)) if joined else None
    return (whole[0] + part, whole[1]) if whole else (part, start)


def _seconds(unit: str) -> int:
    return _SECONDS[unit.lower().removesuffix("s") or "s"]


_NAMES = "hours?|hrs?|minutes?|mins?|seconds?|secs?|days?|weeks?|fortnights?"
# "Minute" is a part of a time of day, and "per min" a rate.
_STATED = re.compile(r"(?<!per )\b(hours|hrs|minutes|mins?|seconds|secs?|days|weeks)$")
_UNIT = re.compile(rf"(?<![^\W\d_])({_NAMES}|(?<=\d)(?<!\d{{4}})[hs])(?![^\W_])", re.IGNORECASE)
_FILLER = re.compile(r"(?: (?:of|more|full|whole|extra))?[ -]?$", re.IGNORECASE)
_FEW = re.compile(
    r"\b(?:(?:an? )?(?P<part>half|three quarters|quarter)(?: of)?(?: an?)?|an?|another"
    r"|the (?:past|last|coming))(?: (?:more|full|whole|extra))? $",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 40
_AND = " and "
_MORE = re.compile(
    rf"\s+and (?:an? )?(half|quarter|three quarters)\b(?! (?:of|{_NAMES}))", re.IGNORECASE
)
_JOINT = re.compile(r",?(?:\s+and)?\s*", re.IGNORECASE)
_OVER = re.compile(r"\s*(?:[.,;!?]|$)")
