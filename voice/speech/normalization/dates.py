"""Says dates, years and times of day: "November 21, 2026", "2026-11-21", "11/21", "3:05 PM".

Times are read as written, without conversion to 12 hours.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable

from voice.speech.normalization.numbers import (
    Rule,
    integer,
    ordinal,
    previous_word,
    text_before,
    year,
)

MONTHS = "Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec"
"""Pattern for how the names of months begin."""

_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_YEAR_CUES = frozenset((
    "in", "since", "year", "from", "until", "till", "by", "before", "after", "of", "around",
))  # fmt: skip
_YEAR_BEFORE = re.compile(r"(?<!\d)(?:1[1-9]|20)\d\d(?: to|,? and|,? or|,) $")
_FIRST_YEAR, _LAST_YEAR = 1100, 2099
_FIRST_OWN_YEAR = 2010
"""From this on, a number is said like a year even if nothing indicates that it is one."""

_DECADE_CUE = re.compile(
    r"\b(?:the|lower|low|mid|upper|high|early|late|h(?:is|er)|their|my|your)[ -]"
    r"(?:'?(?:\d\d)?\d0'?s(?:,|,? and|,? or| to) )*$",
    re.I,
)
"""Text before decades, ages and temperatures: "the late 90s", "in her 30s", "the 60s and 70s"."""

_HALF = r"(?P<half>[aApP])(?:\.[ ]?|[ ]?)(?:[mM]\.(?=[ ]?[a-z0-9,;:?!-])|[mM](?![\w']))"
"""a.m. or p.m.; the last full stop is left out of the match if it may also end the sentence."""


def _say_time(match: re.Match[str]) -> str | None:
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if hour > 24 or (match["sign"] != ":" and not half):
        return None
    said = [integer(hour)]
    if minute:
        said.append(integer(minute) if minute > 9 else "oh " + integer(minute))
    elif hour > 12 or not half:
        said.append("o'clock" if 1 <= hour <= 12 else "hundred")
    if match["second"]:
        said.append(f"and {integer(int(match['second']))} seconds")
    return " ".join(said) + (f" {half.lower()} m" if half else "")


def _say_iso(match: re.Match[str]) -> str | None:
    said = _say_numeric(match)
    time = _TIME.match(match["time"]) if match["time"] else None
    return f"{said}, {_say_time(time) or ''}" if said and time else said


def _say_numeric(match: re.Match[str]) -> str | None:
    month, day = int(match["month"]), int(match["day"])
    written = match["year"]
    # Without a year, 29 February must still be a valid date; 2000 was a leap year.
    number = int(written or 2000) + (2000 if written and len(written) == 2 else 0)
    date = _date(number, month, day) or _date(number, day, month)
    if date is None:
        return None
    said = f"{_MONTH_NAMES[date.month - 1]} {ordinal(date.day)}"
    return f"{said}, {year(date.year)}" if written else said


def _date(number: int, month: int, day: int) -> datetime.date | None:
    """The date, or None if the numbers are not a date and must be read some other way."""
    if not (1 <= number <= 9999 and 1 <= month <= 12):
        return None
    known = 1 <= day <= calendar.monthrange(number, month)[1]
    return datetime.date(number, month, day) if known else None


def _say_month_first(match: re.Match[str]) -> str | None:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return None
    last = f" to {ordinal(int(match['last']))}" if match["last"] else ""
    return f"{_month(match['month'])} {ordinal(day)}{last}{_then_year(match)}"


def _say_day_first(match: re.Match[str]) -> str | None:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return None
    article = "" if previous_word(match) == "the" else "the "
    return f"{article}{ordinal(day)} of {_month(match['month'])}{_then_year(match)}"


def _then_year(match: re.Match[str]) -> str:
    return f", {year(int(match['year']))}" if match["year"] else ""


def _month(written: str) -> str:
    return next(name for name in _MONTH_NAMES if name.startswith(written[:3]))


def _day(written: str) -> str:
    return next(name for name in _DAY_NAMES if name.startswith(written[:3]))


def _say_year(match: re.Match[str]) -> str | None:
    number = int(match.group())
    if _FIRST_OWN_YEAR <= number <= _LAST_YEAR:
        return year(number)
    cued = previous_word(match) in _YEAR_CUES or _YEAR_BEFORE.search(text_before(match, 16))
    return year(number) if cued and _FIRST_YEAR <= number <= _LAST_YEAR else None


def _say_decade(match: re.Match[str]) -> str | None:
    century, decade = match["century"], int(match["decade"])
    decades = century or match.group().startswith("'") or _DECADE_CUE.search(text_before(match, 48))
    if not decades:
        return None
    if decade == 0:
        if century and 10 < int(century) < 20:
            return integer(int(century)) + " hundreds"
        return year(int(century + "00")) + "s" if century and century[1] == "0" else None
    said = integer(decade).removesuffix("y") + "ies" if decade > 10 else "tens"
    return f"{integer(int(century))} {said}" if century else said


def _rule(pattern: str, say: Callable[[re.Match[str]], str | None]) -> Rule:
    return re.compile(pattern), say


_TIME = re.compile(
    rf"(?P<hour>\d{{1,2}})(?:(?P<sign>[:.])(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?(?![\d:])"
    rf"(?:[ ]?{_HALF})?"
)
_MONTH = (
    "(?P<month>"
    + "|".join([*_MONTH_NAMES, *(rf"{name[:3]}\.?" for name in _MONTH_NAMES), r"Sept\.?"])
    + r")(?!\w)"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\w:%°]|[.,/]\d)"
_YEAR = r"(?:,? (?P<year>\d{4})(?![\w:%]|[.,]\d))"
_LAST_DAY = r"(?: ?[-–—] ?(?P<last>[1-3]?\d)(?:st|nd|rd|th)?(?![\w:%°/]|[.,/]\d))?"
_WEEKDAY = "(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs?)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
_DATED = rf"(?:{MONTHS}|\d{{1,2}}(?:st|nd|rd|th|:\d\d| ?[ap]\.?m))"

DATE_RULES: tuple[Rule, ...] = (
    _rule(
        r"(?P<year>\d{4})(?P<between>[-/])(?P<month>\d\d)(?P=between)(?P<day>\d\d)"
        r"(?:[T ](?P<time>\d\d:\d\d)(?::\d\d(?:\.\d{1,9})?)?Z?)?(?![\w:/-])",
        _say_iso,
    ),
    _rule(
        r"(?P<month>\d{1,2})(?P<between>[/.-])(?P<day>\d{1,2})(?P=between)"
        r"(?P<year>\d{4}|(?<=/)\d\d)(?![\w/-]|\.\d)",
        _say_numeric,
    ),
    _rule(rf"{_MONTH} {_DAY}{_LAST_DAY}{_YEAR}?", _say_month_first),
    _rule(rf"{_DAY} (?:of )?{_MONTH}{_YEAR}?", _say_day_first),
    _rule(
        rf"{_MONTH}{_YEAR}", lambda match: f"{_month(match['month'])} {year(int(match['year']))}"
    ),
    _rule(
        rf"(?P<first>{_WEEKDAY}) ?[-–—] ?(?P<last>{_WEEKDAY})(?!\w)",
        lambda match: f"{_day(match['first'])} to {_day(match['last'])}",
    ),
    _rule(
        rf"(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?:\.(?= )|(?=,? {_DATED}))",
        lambda match: _day(match.group()),
    ),
    (_TIME, _say_time),
    _rule(
        r"\d{1,4}:\d{1,4}(?![\w:])",
        lambda match: " to ".join(integer(int(part)) for part in match.group().split(":")),
    ),
    _rule(
        r"(?P<first>(?:1[1-9]|20)\d\d)[-–](?P<last>(?:1[1-9]|20)\d\d)(?![\w-])",
        lambda match: f"{year(int(match['first']))} to {year(int(match['last']))}",
    ),
    _rule(r"'?(?P<century>\d\d)?(?P<decade>\d0)'?s(?!\w)", _say_decade),
    _rule(r"\d{4}(?![\w%°/:-]|[.,]\d| ?[%°€$£])", _say_year),
)
"""Rules for dates and times, most specific first."""

MONTH_DAY_RULE: Rule = _rule(
    r"(?P<month>\d{1,2})/(?P<day>\d{1,2})(?P<year>(?!))?(?![\d/])", _say_numeric
)
"""Month and day alone. Tried after fractions, because "1/2" is a fraction rather than a date."""
