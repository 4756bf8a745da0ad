"""Reads spoken numbers, amounts and durations.

Values come from a speech recogniser, so they are mostly words ("an hour and a half", "two and a
half"), but digits are read as well. text2num turns number words into digits; this module adds
fractions, articles and units of time. It does not know days or times of day.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from text_to_num import alpha2digit

from voice.tools.registry import ToolError, Unreadable

NUMBER = r"\d+(?:\.\d+)?"

DIGITS = {name: str(digit) for digit, name in enumerate(
    ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
)} | {"oh": "0"}  # fmt: skip
"""Words for single digits, as in a telephone number."""
_FRACTIONS = {"half": "0.5", "quarter": "0.25", "third": "0.333333333333333333"}
_FRACTION_WORD = "(half|quarter|third)"
_LARGE = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_OF_LARGE = re.compile(rf"\b({NUMBER}) ({'|'.join(_LARGE)})\b")
_PARTS_OF_LARGE = re.compile(rf"\b(\d*\.\d+) ({'|'.join(map(str, _LARGE.values()))})\b")
_UNIT_SECONDS = {
    "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600,
    "day": 86_400, "week": 604_800,
}  # fmt: skip
_SMALLER = {"week": "day", "day": "hour", "hour": "minute", "minute": "second"}
_UNIT = "(" + "|".join(_UNIT_SECONDS) + ")s?"
_LONGEST_S = 366 * 86_400
_LEAST_BARE = 10
"""A smaller number without a unit is not part of a length: "eleven minutes one for the fish"."""
_MOST_DIGITS = 24
"""Within the precision of decimal numbers, and more than anybody says."""
_LONGEST_CHARS = 300
"""More than anybody says; the patterns below take quadratic time."""
_KEPT = 8192
"""Cached texts: several readers read the same spans of a message."""


@lru_cache(_KEPT)
def digits(text: str, *, fractions: bool = True, ordinals: bool = False) -> str:
    """The text in lower case with its numbers as digits: "two and a half miles" → "2.5 miles".

    Args:
        text: The spoken words.
        fractions: Whether "and a half", "a quarter" and the like become decimals too.
        ordinals: Whether "second" and "third" are places in a row ("2nd"), not units and fractions.

    Raises:
        ToolError: The text is longer than 300 characters.
    """
    if len(text) > _LONGEST_CHARS:
        raise ToolError("That is too long to be read.")
    said = text.lower().strip().strip("?!.,")
    said = re.sub(r"(?<=\d),(?=\d{3}\b)", "", said)
    said = re.sub(r"[,?!]", " ", said)
    said = re.sub(r"\b([a-z]+)-([a-z]+)\b", r"\1 \2", said)
    said = re.sub(r"(?<=\bpoint )oh\b", "zero", said)
    # A recogniser writes "3 million", which text2num does not read.
    said = _OF_LARGE.sub(lambda match: _plain(Decimal(match[1]) * _LARGE[match[2]]), said)
    said = re.sub(r"\ba (?=hundred|thousand|million|billion)", "one ", said)
    if not ordinals:
        # Hidden from text2num, which reads them as ordinals.
        said = re.sub(r"\b(second|third)", r"q\1", said)
    said = alpha2digit(said, "en", threshold=0)
    said = re.sub(r"\bq(second|third)", r"\1", said)
    said = re.sub(r"(?<!\d )\bpoint (\d+)\b", r"0.\1", said)
    said = re.sub(r"\b(?:half a|a half) (?=dozen)", "0.5 ", said)
    said = re.sub(rf"\b(?:({NUMBER}|an?) )?dozen\b", _dozen, said)
    said = " ".join(said.split())
    said = _fractions(said) if fractions else said
    return _PARTS_OF_LARGE.sub(lambda match: _plain(Decimal(match[1]) * int(match[2])), said)


def amount(text: str, kind: str = "number") -> Decimal:
    """A spoken number: "twenty", "two and a half", "a", "half a", "minus five", "1,200".

    Raises:
        Unreadable: It is not a ``kind``, or is neither 0 nor of a magnitude from 1e-24 to 1e24.
    """
    said = re.sub(r"^(?:about|around|the) ", "", digits(text))
    said = re.sub(rf"^({NUMBER})(?: of)? an?$", r"\1", said)
    said = re.sub(r"^(?:minus|negative) ", "-", said).strip("$€£ ")
    if said in ("a", "an"):
        return Decimal(1)
    if said in ("a couple", "a couple of", "couple", "a pair of"):
        return Decimal(2)
    try:
        value = Decimal(said)
    except InvalidOperation:
        raise Unreadable(kind, text) from None
    if not value.is_finite() or (value and not -_MOST_DIGITS <= value.adjusted() < _MOST_DIGITS):
        raise Unreadable(kind, text)
    return value if value else Decimal(0)


def duration(text: str) -> timedelta:
    """A spoken length of time: "an hour and a half", "1 hour 30", "three quarters of an hour".

    Raises:
        Unreadable: It is not a length of time, is not positive, or is longer than a year.
    """
    said = digits(text)
    said = re.sub(r"^(?:(?:for|in|about|around|after|of|roughly|just|another) )+", "", said)
    said = re.sub(r" (?:from now|later|please|long|timer)$", "", said).replace("-", " ")
    said = re.sub(r"\ba (?:couple(?: of)?) ", "2 ", said)
    said = re.sub(r"\ba few ", "3 ", said)
    # "half an hour" and "three quarters of an hour" begin with 0.5 and 0.75 by now.
    said = re.sub(rf"({NUMBER})(?: of)? an? ", r"\1 ", said)
    said = re.sub(rf"^an? (?={NUMBER})", "", said)
    said = re.sub(r"\ban? ", "1 ", said)
    said = re.sub(rf"^({'|'.join(_UNIT_SECONDS)})\b", r"1 \1", said)
    seconds, rest = _summed(said)
    # Checked before it becomes a timedelta, which cannot hold every number.
    if rest or seconds > _LONGEST_S:
        raise Unreadable("duration", text)
    total = timedelta(seconds=float(seconds))
    if not total:
        raise Unreadable("duration", text)
    return total


def _summed(said: str) -> tuple[Decimal, str]:
    """The sum of a duration's parts in seconds, and the rest that could not be read."""
    seconds = Decimal(0)
    smaller: str | None = None
    largest = _LONGEST_S
    units = {"sec": "second", "min": "minute", "hr": "hour"}
    part = re.compile(rf"(?:and )?({NUMBER}) ?(?:{_UNIT}\b)?\s*")
    position = 0
    while match := part.match(said, position):
        value, unit = Decimal(match[1]), match[2]
        unit = units.get(unit, unit)
        if unit is None and smaller is not None and (value < 1 or value >= _LEAST_BARE):
            # "an hour and a half" is in hours, "1 hour 30" in minutes.
            unit = smaller if value >= 1 else _larger(smaller)
        if unit is None or min(value, Decimal(1)) * _UNIT_SECONDS[unit] >= largest:
            break
        # Each part must be smaller than the one before: "ten minutes and an hour" is no sum.
        largest = _UNIT_SECONDS[unit]
        seconds += value * _UNIT_SECONDS[unit]
        smaller = _SMALLER.get(unit)
        position = match.end()
    return seconds, said[position:]


def _larger(unit: str) -> str:
    return next(large for large, small in _SMALLER.items() if small == unit)


def _dozen(match: re.Match[str]) -> str:
    count = match[1] if match[1] and match[1][0].isdigit() else "1"
    return _plain(Decimal(count) * 12)


def _fractions(said: str) -> str:
    """Turn "2 and a half", "3 quarters", "a half" and "half" into decimal numbers.

    "half past" and "quarter to" stay, because they are times of day.
    """

    def mixed(match: re.Match[str]) -> str:
        whole, count = Decimal(match[1]), Decimal(match[2] or 1)
        # "A million and a half" is one and a half millions.
        unit = next((size for size in (10**9, 10**6) if whole and whole % size == 0), 1)
        return _plain(whole + count * unit * Decimal(_FRACTIONS[match[3]]))

    def several(match: re.Match[str]) -> str:
        return _plain(Decimal(match[1]) * Decimal(_FRACTIONS[match[2]]))

    said = re.sub(rf"\b({NUMBER}) and (?:an? |({NUMBER}) ){_FRACTION_WORD}s?\b", mixed, said)
    said = re.sub(
        rf"\b(?:an? )?{_FRACTION_WORD} (?=1000000(?:000)?\b)",
        lambda match: f"{_FRACTIONS[match[1]]} ",
        said,
    )
    said = re.sub(rf"\b({NUMBER}) {_FRACTION_WORD}s?\b(?! (?:past|to|after))", several, said)
    return re.sub(
        rf"\b(?:an? )?{_FRACTION_WORD}\b(?! (?:past|to|after|before|till|\d))",
        lambda match: _FRACTIONS[match[1]],
        said,
    )


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
