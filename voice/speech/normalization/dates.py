"""Says dates, years and times of day: "November 21, 2026", "2026-11-21", "11/21", "3:05 PM".

Names of months and days are babel's. Times are read as written, without conversion to 12 hours.
"""

from __future__ import annotations

import calendar
import datetime
import re
from functools import cache

from babel.dates import get_day_names, get_month_names

from voice.speech.normalization.numbers import Rule, integer, ordinal, previous_word, year

_YEAR_CUES = frozenset(
    {
        "in",
        "since",
        "year",
        "from",
        "until",
        "till",
        "by",
        "before",
        "after",
        "of",
        "around",
        "circa",
    }
)
_YEAR_BEFORE = re.compile(r"(?<!\d)(?:1[1-9]|20)\d\d(?: to|,? and|,? or|,) $")
_FIRST_YEAR, _LAST_YEAR = 1100, 2099
_FIRST_OWN_YEAR = 2010
"""From here on a number is said like a year even where nothing shows that it is one."""

_DECADE = r"'?(?:\d\d)?\d0'?s"
_BEFORE_DECADES = re.compile(
    r"\b(?:the|lower|low|mid|middle|upper|high|early|late|h(?:is|er)|their|my|our|your)[ -]"
    rf"(?:{_DECADE}(?:,|,? and|,? or| to| through) )*$",
    re.I,
)
"""Before decades, ages and temperatures: "the late 90s", "in her 30s", "the 60s and 70s"."""

_TIMED = re.compile(r" (?:timer|countdown|delay|timeout|limit|mark|plank|rest|break)(?!\w)", re.I)
"""Behind seconds, whatever stands before them: "my 30s timer"."""

MONTHS = "Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec"
"""How their names begin."""

_HALF = r"(?P<half>[aApP])(?:\.[ ]?|[ ]?)(?:[mM]\.(?=[ ]?[a-z0-9,;:?!-])|[mM](?![\w']))"
"""a.m. or p.m.; its last full stop stays behind where it may also end the sentence."""


def _say_time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    half = match["half"]
    if hour > 24 or minute > 59:
        return None
    said = [integer(hour)]
    if minute:
        said.append(integer(minute) if minute > 9 else "oh " + integer(minute))
    elif hour > 12 or not half:
        said.append("o'clock" if 1 <= hour <= 12 else "hundred")
    if match["second"]:
        said.append(f"and {integer(int(match['second']))} seconds")
    return " ".join(said) + _half(half)


def _say_hour(match: re.Match[str]) -> str | None:
    hour = int(match["hour"])
    return integer(hour) + _half(match["half"]) if 1 <= hour <= 12 else None


def _half(letter: str | None) -> str:
    return f" {letter.lower()} m" if letter else ""


def _say_score(match: re.Match[str]) -> str:
    return " to ".join(integer(int(part)) for part in match.group().split(":"))


def _say_iso(match: re.Match[str]) -> str | None:
    date = _calendar_day(int(match["year"]), int(match["month"]), int(match["day"]))
    if date is None:
        return None
    said = f"{_day_of_month(date.month, date.day)}, {year(date.year)}"
    if match["hour"]:
        time = _TIME.match(match["hour"])
        said += ", " + (_say_time(time) or "" if time else "")
    return said


def _say_slashed(match: re.Match[str]) -> str | None:
    month, day = int(match["month"]), int(match["day"])
    written = match["year"]
    # Without a year the 29th of February is a day all the same.
    number = 2000 if written is None else int(written) + (2000 if len(written) == 2 else 0)
    date = _calendar_day(number, month, day) or _calendar_day(number, day, month)
    if date is None:
        return None
    said = _day_of_month(date.month, date.day)
    return said if written is None else f"{said}, {year(date.year)}"


def _say_month_first(match: re.Match[str]) -> str | None:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return None
    said = _day_of_month(_month_number(match["month"]), day)
    if match["last"]:
        said += " to " + ordinal(int(match["last"]))
    return f"{said}, {year(int(match['year']))}" if match["year"] else said


def _say_day_first(match: re.Match[str]) -> str | None:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return None
    article = "" if previous_word(match) == "the" else "the "
    said = f"{article}{ordinal(day)} of {_month_name(_month_number(match['month']))}"
    return f"{said}, {year(int(match['year']))}" if match["year"] else said


def _say_month_year(match: re.Match[str]) -> str:
    return f"{_month_name(_month_number(match['month']))} {year(int(match['year']))}"


def _say_weekday(match: re.Match[str]) -> str:
    number = next(n for n, name in _abbreviated_days().items() if name == match["weekday"][:3])
    return str(get_day_names("wide", locale="en")[number]) + ","


def _say_days(match: re.Match[str]) -> str:
    names = {str(name)[:3]: str(name) for name in get_day_names("wide", locale="en").values()}
    return f"{names[match['first'][:3]]} to {names[match['last'][:3]]}"


def _say_months(match: re.Match[str]) -> str:
    first, last = _month_number(match["first"]), _month_number(match["last"])
    return f"{_month_name(first)} to {_month_name(last)}"


def _say_years(match: re.Match[str]) -> str:
    last = match["last"]
    return f"{year(int(match['first']))} to {year(int(last))}"


def _say_year(match: re.Match[str]) -> str | None:
    number = int(match.group())
    if _FIRST_OWN_YEAR <= number <= _LAST_YEAR:
        return year(number)
    before = match.string[max(0, match.start() - 16) : match.start()]
    cued = previous_word(match) in _YEAR_CUES or _YEAR_BEFORE.search(before) is not None
    return year(number) if cued and _FIRST_YEAR <= number <= _LAST_YEAR else None


def _say_decade(match: re.Match[str]) -> str | None:
    century, decade = match["century"], int(match["decade"])
    if not century and not match.group().startswith("'") and _is_seconds(match):
        return None
    if decade == 0:
        if century and 10 < int(century) < 20:
            return integer(int(century)) + " hundreds"
        return year(int(century + "00")) + "s" if century and century[1] == "0" else None
    said = integer(decade).removesuffix("y") + "ies" if decade > 10 else "tens"
    return f"{integer(int(century))} {said}" if century else said


def _is_seconds(match: re.Match[str]) -> bool:
    """Whether "30s" is no decade."""
    if _TIMED.match(match.string, match.end()):
        return True
    before = match.string[max(0, match.start() - 48) : match.start()]
    return previous_word(match) != "the" and _BEFORE_DECADES.search(before) is None


def _calendar_day(year_number: int, month: int, day: int) -> datetime.date | None:
    """The date, or None where the numbers name none and are to be read some other way."""
    if not (1 <= year_number <= 9999 and 1 <= month <= 12):
        return None
    if not 1 <= day <= calendar.monthrange(year_number, month)[1]:
        return None
    return datetime.date(year_number, month, day)


def _day_of_month(month: int, day: int) -> str:
    return f"{_month_name(month)} {ordinal(day)}"


@cache
def _month_name(number: int) -> str:
    return str(get_month_names("wide", locale="en")[number])


@cache
def _abbreviated_days() -> dict[int, str]:
    return {number: str(name)[:3] for number, name in get_day_names("wide", locale="en").items()}


def _month_number(written: str) -> int:
    start = written[:3]
    return next(number for number in range(1, 13) if _month_name(number).startswith(start))


_ISO = re.compile(
    r"(?P<year>\d{4})(?P<sign>[-/])(?P<month>\d\d)(?P=sign)(?P<day>\d\d)"
    r"(?:[T ](?P<hour>\d\d:\d\d)(?::\d\d(?:\.\d{1,9})?)?Z?)?(?![\w:/-])"
)


@cache
def date_rules() -> tuple[Rule, ...]:
    """Rules for dates and times, most particular first; read from babel at the first use."""
    names = [_month_name(number) for number in range(1, 13)]
    spelled = [*names, *(rf"{name[:3]}\.?" for name in names), r"Sept\.?"]
    month = "(?P<month>" + "|".join(spelled) + r")(?!\w)"
    day = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\w:%°]|[.,/]\d)"
    then_year = r"(?:,? (?P<year>\d{4})(?![\w:%]|[.,]\d))?"
    last = r"(?: ?[-–—] ?(?P<last>[1-3]?\d)(?:st|nd|rd|th)?(?![\w:%°/]|[.,/]\d))?"
    days = "(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs?)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
    months = "|".join([*names, *(name[:3] for name in names), "Sept"])
    dated = rf"(?:{MONTHS}|\d{{1,2}}(?:st|nd|rd|th|:\d\d| ?[ap]\.?m| (?:{MONTHS})))"
    weekday = (
        r"(?P<weekday>Tues|Thurs?|"
        + "|".join(_abbreviated_days().values())
        + rf")(?:\.,?(?= )|,?(?= {dated}))"
    )
    return (
        (_ISO, _say_iso),
        (
            re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d\d)(?![\d/])"),
            _say_slashed,
        ),
        (
            re.compile(
                r"(?P<month>\d{1,2})(?P<sign>[.-])(?P<day>\d{1,2})(?P=sign)(?P<year>\d{4})(?![\w-]|\.\d)"
            ),
            _say_slashed,
        ),
        (re.compile(rf"{month} {day}{last}{then_year}"), _say_month_first),
        (re.compile(rf"{day} (?:of )?{month}{then_year}"), _say_day_first),
        (re.compile(rf"{month},? (?P<year>\d{{4}})(?![\w:%]|[.,]\d)"), _say_month_year),
        (re.compile(rf"(?P<first>{days}) ?[-–—] ?(?P<last>{days})(?!\w)"), _say_days),
        (
            re.compile(rf"(?P<first>{months})\.? ?[-–—] ?(?P<last>{months})\.?(?!\w| \d{{1,2}}\b)"),
            _say_months,
        ),
        (re.compile(weekday), _say_weekday),
        (_TIME, _say_time),
        (
            re.compile(rf"(?P<hour>\d{{1,2}})\.(?P<minute>[0-5]\d)(?P<second>(?!))?[ ]?{_HALF}"),
            _say_time,
        ),
        (re.compile(rf"(?P<hour>\d{{1,2}})[ ]?{_HALF}"), _say_hour),
        (re.compile(r"\d{1,4}:\d{1,4}(?![\w:])"), _say_score),
        (
            re.compile(r"(?P<first>(?:1[1-9]|20)\d\d)[-–](?P<last>(?:1[1-9]|20)\d\d)(?![\w-])"),
            _say_years,
        ),
        (re.compile(r"'?(?P<century>\d\d)?(?P<decade>\d0)'?s(?!\w)"), _say_decade),
        (re.compile(r"\d{4}(?![\w%°/:-]|[.,]\d| ?[%°€$£])"), _say_year),
    )


SLASHED_RULE: Rule = (
    re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})(?P<year>(?!))?(?![\d/])"),
    _say_slashed,
)
"""Month and day alone; to be tried after fractions, which "1/2" is rather than a date."""

_TIME = re.compile(
    rf"(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>[0-5]\d))?(?![\d:])(?:[ ]?{_HALF})?"
)
