"""Finds the days and times of day in a text, and writes them as JSON's formats do.

It reads English months and weekdays, figures in any order that makes a day, and times with or
without am or pm. A day without a year is taken to be in the year of a whole date of the text, or
near one, and "Friday" is the first Friday after one. What can be read in two ways is given in both,
but all figures of a text have the same order. There is no clock: in a text without a whole date,
"tomorrow" gives no day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise

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
_TO = r" ?(?:[-–—]|\b(?:to|until|till|through|and)\b) ?(?:the )?"
_OTHER = r"(?P<other>(?<![\d:.])\d{1,2})(?:st|nd|rd|th)?"
"""The day of another date in the same month: "3 to 9 June"."""
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_OTHER}{_TO})?(?P<named>{_DAY}(?: of)?[ -]{_MONTH}(?:,?[ -]{_YEAR})?)",
        rf"\b(?P<named>{_MONTH} (?:the )?{_DAY}\b)"
        rf"(?:{_TO}{_OTHER}\b(?!:| (?:of )?{_MONTH.replace('?P<month>', '?:')}))?(?:,? {_YEAR})?",
    )
)
_RANGE = re.compile(r"[ ,]*(?:[-–—]|\b(?:to|until|till|through)\b)(?: the)? *", re.IGNORECASE)
_FIGURES = re.compile(r"(?<![\d/.-])(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?![\d/-])")
_NEAR = {"yesterday": -1, "today": 0, "tomorrow": 1}
# "Tuesday, 5 March" is one day.
_RELATIVE = re.compile(
    rf"\b(?:{'|'.join((*_NEAR, *WEEKDAYS))})\b(?!,? (?:\d|{_MONTH.replace('?P<month>', '?:')}))",
    re.IGNORECASE,
)
_NEARBY_DAYS = 183
_MOST_YEARS = 64
"""Most whole dates whose years are tried for dates without a year."""
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


@dataclass(frozen=True, slots=True)
class SaidDate:
    """A date that a text says.

    Attributes:
        days: The days that it may mean.
        start: Where it begins in the text.
        end: Where it ends.
    """

    days: tuple[date, ...]
    start: int
    end: int


def dates_in(text: str) -> list[str]:
    """The days that a text may name, without duplicates: "2024-03-12"."""
    said = said_dates(text)
    whole = dict.fromkeys(day for one in _whole(text) for day in one.days)
    near = [_near(found[0].lower(), day) for found in _RELATIVE.finditer(text) for day in whole]
    days = (*(day for one in said for day in one.days), *near)
    return list(dict.fromkeys(day.isoformat() for day in days))


def said_dates(text: str) -> list[SaidDate]:
    """The dates that a text says explicitly, in words or figures, in its order."""
    whole = _whole(text)
    days = list(dict.fromkeys(day for one in whole for day in one.days))[:_MOST_YEARS]
    bare = [one for found in _named(text) if not found["year"] for one in _in_years(found, days)]
    said: list[SaidDate] = []
    for one in sorted((*whole, *bare), key=lambda one: (one.start, -one.end)):
        if one.days and not (said and one.start < said[-1].end):
            said.append(one)
    for at, (first, second) in enumerate(pairwise(said)):
        if is_range(text, (first, second)):
            said[at : at + 2] = _in_order(first, second)
    return said


def is_range(text: str, said: Sequence[SaidDate]) -> bool:
    """Whether ``said`` are two dates that form a range in a text: "from 3 June to 9 June"."""
    between = len(said) == 2 and _RANGE.fullmatch(text, said[0].end, said[1].start)
    return bool(between)


def says_relative(text: str) -> bool:
    """Whether a text names days relative to today: "tomorrow", "Friday"."""
    return _RELATIVE.search(text) is not None


def _named(text: str) -> Iterator[re.Match[str]]:
    return (found for pattern in _DATES for found in pattern.finditer(text))


def _whole(text: str) -> list[SaidDate]:
    """The dates that have a year."""
    named = [found for found in _named(text) if found["year"]]
    figures = list(_FIGURES.finditer(text))
    return [
        *(one for found in named for one in _parts(found, [int(found["year"])])),
        *(SaidDate(days, *found.span()) for found, days in _of_figures(figures)),
    ]


def _parts(found: re.Match[str], years: Sequence[int]) -> Iterator[SaidDate]:
    """The one or two dates of a match, in each of some years."""
    for part, place in (("other", "other"), ("day", "named")):
        if found[part]:
            days = tuple(day for year in years for day in _days(found, year, part))
            yield SaidDate(days, *found.span(place))


def _in_years(found: re.Match[str], others: Sequence[date]) -> Iterator[SaidDate]:
    """Dates without a year: in the years of ``others``, or near them."""
    years = dict.fromkeys(year for one in others for year in (one.year, one.year - 1, one.year + 1))
    for one in _parts(found, list(years)):
        days = tuple(
            day
            for day in one.days
            if any(day.year == other.year or _is_near(day, other) for other in others)
        )
        yield replace(one, days=days)


def _is_near(day: date, other: date) -> bool:
    return abs((day - other).days) <= _NEARBY_DAYS


def _in_order(first: SaidDate, second: SaidDate) -> tuple[SaidDate, SaidDate]:
    """The two dates of a range, limited to readings in which the first is not after the second."""
    early = tuple(day for day in first.days if day <= max(second.days)) or first.days
    late = tuple(day for day in second.days if day >= min(early)) or second.days
    return replace(first, days=early), replace(second, days=late)


def times_in(text: str) -> list[str]:
    """The times of day that a text may name, without duplicates: "16:30:00Z"."""
    return list(dict.fromkeys(f"{found}Z" for found in (*_clocks(text), *_spoken(text))))


def _days(found: re.Match[str], year: int, part: str) -> Iterator[date]:
    month = next(n for n, name in enumerate(MONTHS, 1) if name[:3] == found["month"][:3].lower())
    yield from _valid(year, month, int(found[part]))


def _of_figures(
    found: Sequence[re.Match[str]],
) -> Iterator[tuple[re.Match[str], tuple[date, ...]]]:
    """The days of dates in figures: all with the day first, or all with the month first."""
    readings = [(one, *_orders(one)) for one in found]
    for one, day_first, month_first in readings:
        others = [other for other in readings if other[1] != other[2]]
        only = [n for n in (1, 2) if all(other[n] for other in others)]
        # If several may be either, the day comes first, as in most of the world.
        if len(others) > 1 and only:
            yield one, (day_first if only[0] == 1 else month_first)
        else:
            yield one, tuple(dict.fromkeys((*day_first, *month_first)))


def _orders(found: re.Match[str]) -> tuple[tuple[date, ...], tuple[date, ...]]:
    """The days that figures mean with the day first, and with the month first."""
    first, joint, second, third = found.groups()
    if len(first) == 4:
        days = tuple(_valid(int(first), int(second), int(third)))
        return days, days
    if len(third) == 4 or (len(third) == 2 and joint == "/"):
        year, one, two = int(third) + (0 if len(third) == 4 else 2000), int(second), int(first)
        return tuple(_valid(year, one, two)), tuple(_valid(year, two, one))
    return (), ()


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
