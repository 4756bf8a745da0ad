"""Days and times of day that stand in a text, as JSON's formats write them.

It reads English months and weekdays, figures in any order that makes a day, and times with or
without a half of the day. A day without a year is one near a whole date of the text or of its year,
and "Friday" is the first behind one. What can be read in two ways is given in both. Knows no clock:
a text that names no whole date says no day by "tomorrow".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from dlm.language.spoken_numbers import VALUES

MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
]  # fmt: skip
WEEKDAYS = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
]  # fmt: skip

_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})\b"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}(?: of)?[ -]{_MONTH}(?:,?[ -]{_YEAR})?",
        rf"\b{_MONTH} (?:the )?{_DAY}\b(?:,? {_YEAR})?",
    )
)
_FIGURES = re.compile(r"(?<![\d/.-])(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?![\d/-])")
_NEAR = {"yesterday": -1, "today": 0, "tomorrow": 1}
# "Tuesday, 5 March" is one day.
_RELATIVE = re.compile(
    rf"\b(?:{'|'.join((*_NEAR, *WEEKDAYS))})\b(?!,? (?:\d|{_MONTH.replace('?P<month>', '?:')}))",
    re.IGNORECASE,
)
_NEARBY_DAYS = 183
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?(?::(?P<second>\d\d))?"
    r"(?P<half> ?[ap]\.?m\b)?(?![\d:])",
    re.IGNORECASE,
)
_SAID = re.compile(
    rf"\b(?P<part>half past|quarter past|quarter to) (?P<hour>{'|'.join(VALUES)}|\d+)\b"
    r"|\b(?P<noon>noon|midday|midnight)\b",
    re.IGNORECASE,
)
_PARTS = {"half past": 30, "quarter past": 15, "quarter to": -15}


def dates_in(text: str) -> list[str]:
    """The days that a text may name, each once: "2024-03-12"."""
    named = [found for pattern in _DATES for found in pattern.finditer(text)]
    whole = [day for found in named if found["year"] for day in _days(found, int(found["year"]))]
    whole += [day for found in _FIGURES.finditer(text) for day in _of_figures(found)]
    bare = [found for found in named if not found["year"]]
    some = [day for found in bare for other in whole for day in _beside(found, other)]
    near = [_near(found[0].lower(), day) for found in _RELATIVE.finditer(text) for day in whole]
    return list(dict.fromkeys(day.isoformat() for day in (*whole, *some, *near)))


def times_in(text: str) -> list[str]:
    """The times of day that a text may name, each once: "16:30:00Z"."""
    return list(dict.fromkeys(f"{found}Z" for found in (*_clocks(text), *_spoken(text))))


def _days(found: re.Match[str], year: int) -> Iterator[date]:
    month = next(n for n, name in enumerate(MONTHS, 1) if name[:3] == found["month"][:3].lower())
    yield from _valid(year, month, int(found["day"]))


def _beside(found: re.Match[str], other: date) -> Iterator[date]:
    """Days without a year, near another day or of its year."""
    for year in (other.year, other.year - 1, other.year + 1):
        for day in _days(found, year):
            if year == other.year or abs((day - other).days) <= _NEARBY_DAYS:
                yield day


def _of_figures(found: re.Match[str]) -> Iterator[date]:
    first, _, second, third = found.groups()
    if len(first) == 4:
        yield from _valid(int(first), int(second), int(third))
    elif len(third) == 4:
        yield from _valid(int(third), int(second), int(first))
        yield from _valid(int(third), int(first), int(second))


def _valid(year: int, month: int, day: int) -> Iterator[date]:
    try:
        yield date(year, month, day)
    except ValueError:
        return


def _near(word: str, day: date) -> date:
    if word in _NEAR:
        return _shifted(day, _NEAR[word])
    return _shifted(day, (WEEKDAYS.index(word) - day.weekday() - 1) % 7 + 1)


def _shifted(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return day


def _clocks(text: str) -> Iterator[str]:
    for found in _CLOCK.finditer(text):
        hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
        if found["half"]:
            hour = hour % 12 + (12 if "p" in found["half"].lower() else 0)
        elif found["minute"] is None:
            continue
        if hour < 24 and minute < 60 and second < 60:
            yield f"{hour:02d}:{minute:02d}:{second:02d}"


def _spoken(text: str) -> Iterator[str]:
    for found in _SAID.finditer(text):
        if found["noon"]:
            yield "00:00:00" if found["noon"].lower() == "midnight" else "12:00:00"
            continue
        word = found["hour"].lower()
        hour = VALUES[word] if word in VALUES else int(word)
        for half in (0, 12) if 1 <= hour <= 12 else ():
            minutes = (60 * (hour % 12 + half) + _PARTS[found["part"].lower()]) % 1440
            yield f"{minutes // 60:02d}:{minutes % 60:02d}:00"
