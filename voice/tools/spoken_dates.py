"""Reads spoken days and moments, given the current time.

A moment is a length of time from now ("in ten minutes"), or a day and a time of day. The day
("tomorrow", "friday", "december 25") is taken out of the text, and the rest is read as a time of
day (`spoken_times`).
"""

from __future__ import annotations

import calendar
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, date, datetime, time, timedelta

from dateutil.easter import easter
from dateutil.relativedelta import TH, relativedelta
from dateutil.rrule import MONTHLY, rrule

from voice.tools.registry import ToolError, Unreadable
from voice.tools.spoken_numbers import digits, duration
from voice.tools.spoken_times import (
    MINUTES,
    ON_24_HOURS,
    PART_HOURS,
    PARTS_OF_DAY,
    Clock,
    take_time,
    without,
)

WEEKDAYS = [name.lower() for name in calendar.day_name]
MONTHS = [name.lower() for name in calendar.month_name[1:]]
_MONTH = "(?:" + "|".join(MONTHS) + ")"
WEEKDAY = "(?:" + "|".join(WEEKDAYS) + ")"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)"
_YEAR = r"(?:,? (?:\d{4}|20 \d\d))?"
_DATE = re.compile(
    rf"(?:{WEEKDAY} )?(?:(?:the )?{_ORDINAL}(?: of)? {_MONTH}{_YEAR}"
    rf"|\d{{1,2}}(?: of)? {_MONTH}(?! (?:the )?{_ORDINAL}){_YEAR}"
    rf"|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b{_YEAR}|\d{{4}}-\d\d-\d\d)"
)
_ITS_DATE = rf" (?:the )?(?:{_ORDINAL}|(?:\d{{1,2}} (?:of )?)?{_MONTH}|\d{{4}}-)"
_WEEKDAY_ALONE = re.compile(rf"{WEEKDAY}(?!{_ITS_DATE})")
_WEEKDAY_OF_DATE = re.compile(rf"({WEEKDAY})(?={_ITS_DATE})")
_OF_A_WEEK = re.compile(
    rf"\b(this|next) week (?:on )?({WEEKDAY})\b|\b({WEEKDAY}) (?:of )?(this|next) week\b"
)
_HOLIDAYS = {
    "new year's eve": (12, 31), "new year's day": (1, 1), "new year's": (1, 1), "new year": (1, 1),
    "valentine's day": (2, 14), "valentines day": (2, 14), "saint patrick's day": (3, 17),
    "independence day": (7, 4), "halloween": (10, 31), "christmas eve": (12, 24),
    "boxing day": (12, 26), "christmas day": (12, 25), "christmas": (12, 25),
}  # fmt: skip
_BY_EASTER = {
    "shrove tuesday": -47, "pancake day": -47, "ash wednesday": -46, "palm sunday": -7,
    "good friday": -2, "easter monday": 1, "easter sunday": 0, "easter": 0, "whit monday": 50,
}  # fmt: skip
"""Days after Easter Sunday."""
_SHORT = {
    **{name[:3]: name for name in MONTHS if name != "may"}, "sept": "september",
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "weds": "wednesday",
    "thu": "thursday", "thur": "thursday", "thurs": "thursday", "fri": "friday",
    "tmrw": "tomorrow", "tmr": "tomorrow", "xmas": "christmas",
}  # fmt: skip
_HEDGES = re.compile(
    r"\b(?:roughly|approximately|approx|round(?= about)|(?:some ?where|just|shortly|right|bang|some"
    r" ?time|any ?time|maybe|perhaps|ideally|preferably|say)"
    r"(?: (?:around|about|before|after|gone))?"
    r"|early(?= tomorrow)|or so|or there ?abouts|ish|on the dot|sharp|exactly|if possible)\b"
)
"""Words that make a time more or less exact without changing it."""

_SHIFT = re.compile(r"(?:by )?(.+) (later|earlier)")
_PUSHED = re.compile(
    r"\b(?:push|move|shift|put|set|bring|pull|change|delay|postpone)\b.*?"
    r"\b(?:(?P<earlier>forward|earlier|sooner)|back|out|later)\b|\b(?:delay|postpone)\b"
)
_NO_HOUR = re.compile(rf"(?:at )?{MINUTES} (past|after|to|before)")
"""A time without its hour, "ten to", which suffices when a moment is moved."""
_BESIDE = re.compile(
    r"(?P<length>(?:the|half an?|an?|\d+) [a-z]+(?: [\w ]+?)?) (?P<way>after|before) (?P<other>.+)"
)


@dataclass(frozen=True, slots=True)
class When:
    """A moment; ``time_said`` is False if only a day or a part of one was spoken."""

    moment: datetime
    time_said: bool


def day(text: str, now: datetime) -> date:
    """A spoken day: "tomorrow", "friday", "the twenty fifth", "in two weeks", "christmas".

    Raises:
        Unreadable: It is not a day.
        ToolError: It is a date that does not exist.
    """
    said = normal_form(text)
    found, rest = take_day(said, now)
    rest = re.sub(
        r"\b(?:on|the|this|in|at|for|morning|afternoon|evening|night|tonight)\b", "", rest
    )
    if found is None and re.fullmatch(r"(?:this )?(?:morning|afternoon|evening)", said):
        return now.date()
    if found is None or rest.strip():
        raise _no_date(_DATE.fullmatch(said)) or Unreadable("day", text)
    _check_weekday(said, found)
    return found


def _check_weekday(said: str, found: date | None) -> None:
    """Refuse a date with another day's weekday, since it is not clear which of them is meant."""
    named = _WEEKDAY_OF_DATE.search(said)
    if found and named and named[1] != WEEKDAYS[found.weekday()]:
        raise ToolError(f"{found:%B} {found.day} is a {found:%A}.")


def _no_date(match: re.Match[str] | None) -> ToolError | None:
    """The error for a date that no calendar has: "the 31st" of it alone would be another day."""
    return match and ToolError(f"There is no {titled(match[0].removeprefix('the '))}.")


def moment(text: str, now: datetime, first_hour: int = 1, near: datetime | None = None) -> When:
    """A spoken moment: "half past seven", "tomorrow at five", "in ten minutes", "an hour later".

    A time without a.m. or p.m. is the next one to come; on a named day, the first one not before
    ``first_hour``; if a moment is moved, the one nearest to it.

    Args:
        near: The moment that is moved; None if there is none.

    Raises:
        Unreadable: It is not a moment.
        ToolError: The moment has passed, or is on a date that does not exist.
    """
    said = normal_form(text)
    if near is not None and (match := _SHIFT.fullmatch(said)):
        by = duration(match[1])
        then = _shifted(near, by if match[2] == "later" else -by, now)
        return When(then, time_said=True)
    if near is not None and (match := _NO_HOUR.fullmatch(said)):
        return When(_beside_the_hour(near, match, now), time_said=True)
    if not ON_24_HOURS.fullmatch(re.sub(r"^(?:at|for|by|around|about) ", "", said)):
        with contextlib.suppress(Unreadable):
            return When(_shifted(now, duration(text), now), time_said=True)
    if (match := _BESIDE.fullmatch(said)) and (length := _length(match["length"])):
        other = moment(match["other"], now, first_hour, near)
        then = _shifted(other.moment, length if match["way"] == "after" else -length, now)
        return When(then, other.time_said)
    found, rest = take_day(said, now)
    clock, part, rest = take_time(rest)
    if rest or (found is None and clock is None and part is None):
        dated = _DATE.search(said)
        left = dated and take_time(without(said, dated))[2]
        raise _no_date(None if left else dated) or Unreadable("time", text)
    if found is not None and found.year == MAXYEAR:
        # The last hours of that year may be beyond the calendar in another time zone.
        raise Unreadable("time", text)
    _check_weekday(said, found)
    named = found == now.date() and _WEEKDAY_ALONE.search(said) is not None
    if clock is None:
        return When(_some_time_on(found, part, now, named), time_said=False)
    if found is None and near is not None and near > now:
        return When(_nearest(near, clock, part, now), time_said=True)
    hours = clock.hours(part, first_hour if found not in (None, now.date()) else 0)
    days = [now.date(), now.date() + timedelta(1)] if found is None else [found]
    if named:
        days = [now.date(), now.date() + timedelta(7)]
    return When(_first_after(now, days, hours, clock.minute), time_said=True)


def _length(said: str) -> timedelta | None:
    """The distance from another moment: "the day", "an hour"; None if it is not a length."""
    with contextlib.suppress(Unreadable):
        return duration(re.sub(r"^the ", "1 ", said))
    return None


def pushed(said: str, message: str) -> str:
    """The time to which, or by which, a message moves something, in words that `moment` reads.

    >>> pushed("half an hour", "push it back half an hour"), pushed("ten", "move it back to ten")
    ('half an hour later', 'ten')
    >>> pushed("one to ten", "move the bins one to ten")
    'ten'
    """
    if re.search(rf"\b(?:the|my|that|this) \w+ {re.escape(said.lower())}", message.lower()):
        said = re.sub(r"^one to ", "", said, flags=re.IGNORECASE)
    found = _PUSHED.search(message.lower())
    if found is None or re.match(r"in\b", said.lower()) or not _length(said):
        return said
    return f"{said} {'earlier' if found['earlier'] else 'later'}"


def may_mean(text: str, then: datetime, now: datetime) -> bool:
    """Whether a spoken day, time or both may mean ``then``: "seven" is 7 a.m. or 7 p.m."""
    with contextlib.suppress(ToolError):
        if moment(text, now).moment == then:
            return True
    found, rest = take_day(normal_form(text), now)
    clock, part, rest = take_time(rest)
    if rest or (found is None and clock is None and part is None):
        return False
    if found is not None and found != then.date():
        return False
    if clock is None:
        return part is None or then.hour in PART_HOURS[part]
    hours = {hour % 24 for hour in clock.hours(part, 0)}
    return then.minute == clock.minute and then.hour in hours


def _shifted(near: datetime, length: timedelta, now: datetime) -> datetime:
    """The moment that is ``length`` after ``near``; from a day on, at the same time of day."""
    if abs(length) < timedelta(1):
        # In UTC: adding to local time is wrong by an hour when summer time begins or ends.
        then = (near.astimezone(UTC) + length).astimezone(now.tzinfo)
    else:
        then = near + length
    if then.timestamp() <= now.timestamp():
        raise ToolError("That time has already passed.")
    return then


def _beside_the_hour(near: datetime, match: re.Match[str], now: datetime) -> datetime:
    """The coming moment nearest to ``near`` that is so many minutes past or to an hour."""
    minute = {"half": 30, "quarter": 15}.get(match[1]) or int(match[1])
    past = minute if match[2] in ("past", "after") else -minute
    hour = near.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    found = [hour + timedelta(hours=ahead, minutes=past) for ahead in (-1, 0, 1)]
    coming = [one for one in found if one > now]
    if not coming:
        raise ToolError("That time has already passed.")
    return min(coming, key=lambda one: abs(one - near)).astimezone(now.tzinfo)


def _nearest(near: datetime, clock: Clock, part: str | None, now: datetime) -> datetime:
    """The time of day nearest to ``near`` on its day, or the first one on the day after."""
    hours = sorted(clock.hours(part, 0), key=lambda hour: abs(hour - near.hour))
    with contextlib.suppress(ToolError):
        return _first_after(now, [near.date()], hours, clock.minute)
    return _first_after(now, [near.date() + timedelta(1)], sorted(hours), clock.minute)


def normal_form(text: str) -> str:
    """A text in lower case with numbers in digits, "a.m." as "am" and plain apostrophes."""
    # "1st" in digits is a day of the month; the word "first" may be anything.
    written = re.sub(r"^(?:on )?(?=[123](?:st|nd|rd)\b)", "the ", text.replace("’", "'").strip())
    said = digits(written, ordinals=True, fractions=False)
    said = re.sub(r"(?<=\d)-?(?=(?:[ap]\.?m|ish)\b)|-(?=ish\b)", " ", said)
    said = re.sub(r"^(?:on )?(?=(?:[4-9]|[1-3]\d)(?:st|nd|rd|th)\b)", "the ", said)
    said = re.sub(r"\b(?:an? )?fortnight\b", "2 weeks", said)
    said = re.sub(r"\b[a-z]+\b", lambda word: _SHORT.get(word[0], word[0]), said)
    said = re.sub(r"\b([ap])\.? ?m\b\.?", r"\1m", said)
    return " ".join(_HEDGES.sub(" ", re.sub(r"\bo'? ?clock\b", "o'clock", said)).split())


def take_day(said: str, now: datetime) -> tuple[date | None, str]:
    """The day that a text in `normal_form` names, if any, and the text without it."""
    today = now.date()
    said = _OF_A_WEEK.sub(lambda found: f"{found[1] or found[4]} {found[2] or found[3]}", said)
    beyond = rf"\b(?:(\d+|an?) )?weeks? (?:from |on )?(?=(?:tomorrow|{WEEKDAY})\b)"
    if match := re.search(beyond, said):
        other, rest = take_day(without(said, match), now)
        if other and (later := _later(other, match[1], "week")):
            return later, rest
    counted = r"\b(?:in )?(?<!once )(\d+|an?) (day|week|month)s?(?: (?:from )?(?:now|today))?\b"
    if (match := re.search(counted, said)) and (later := _later(today, match[1], match[2])):
        return later, without(said, match)
    relative: list[tuple[str, date]] = [
        (r"(?:the )?day after tomorrow", today + timedelta(2)),
        (r"(?:the )?day before yesterday", today - timedelta(2)),
        (r"tomorrow", today + timedelta(1)),
        (r"yesterday", today - timedelta(1)),
        (r"today", today),
        (r"(?:(?:this|the|my) )?weekend", today + timedelta((5 - today.weekday()) % 7)),
        (r"next week", today + timedelta(7)),
        (r"next month", today + relativedelta(months=1)),
    ]
    for pattern, meant in relative:
        if match := re.search(rf"\b(?:{pattern})\b", said):
            return meant, without(said, match)
    for take in (_take_holiday, _take_date, _take_weekday):
        meant_day, rest = take(said, today)
        if meant_day is not None:
            return meant_day, rest
    return today if re.search(r"\btonight\b", said) else None, said


def _later(since: date, count: str | None, unit: str) -> date | None:
    """The day so many days, weeks or months later; None if it is behind the calendar's end."""
    number = int(count) if count and count.isdigit() else 1
    with contextlib.suppress(OverflowError, ValueError):
        then: date = since + relativedelta(**{f"{unit}s": number})
        return then
    return None


def _take_holiday(said: str, today: date) -> tuple[date | None, str]:
    for name in sorted([*_HOLIDAYS, *_BY_EASTER, "thanksgiving"], key=len, reverse=True):
        match = re.search(rf"\b{name}\b", said)
        if match is None:
            continue
        for year in (today.year, today.year + 1):
            if name in _HOLIDAYS:
                meant = date(year, *_HOLIDAYS[name])
            elif name in _BY_EASTER:
                meant = easter(year) + timedelta(_BY_EASTER[name])
            else:
                meant = _thanksgiving(year)
            if meant >= today:
                return meant, without(said, match)
    return None, said


def _thanksgiving(year: int) -> date:
    fourth: date = date(year, 11, 1) + relativedelta(weekday=TH(4))
    return fourth


def _take_date(said: str, today: date) -> tuple[date | None, str]:
    if (match := _DATE.search(said)) and (dated := _dated(match[0], today)):
        return dated, without(said, match)
    if match := re.search(rf"\b(?:on )?(?:{WEEKDAY} )?the ({_ORDINAL})\b", said):
        number = int(match[1][:-2])
        if 1 <= number <= 31:
            start = datetime.combine(today, time())
            (meant,) = rrule(MONTHLY, bymonthday=number, dtstart=start, count=1)
            return meant.date(), without(said, match)
    return None, said


def _dated(said: str, today: date) -> date | None:
    """The date that a match of `_DATE` names, without a year the next one; None if there is none.

    February 29 may be up to eight years away.
    """
    first, *rest = map(int, re.findall(r"\d+", re.sub(r"(?<=20) (?=\d\d$)", "", said)))
    if re.search(r"\d-", said):
        years, month, number = [first], *rest
    else:
        month = 1 + next(MONTHS.index(word) for word in said.split() if word in MONTHS)
        number, years = first, rest
    for year in years or range(today.year, today.year + 9):
        with contextlib.suppress(ValueError):
            if (found := date(year, month, number)) >= today or years:
                return found
    return None


def _take_weekday(said: str, today: date) -> tuple[date | None, str]:
    match = re.search(
        r"\b(?:(?<=the )1 |(?:1|an?) (?!on\b))?"
        r"(?:(?:the |this )?(?:coming|following) |(next |last |this |on ))?"
        rf"({WEEKDAY})s?(?P<after> week)?\b",
        said,
    )
    if match is None:
        return None, said
    ahead = (WEEKDAYS.index(match[2]) - today.weekday()) % 7
    meant = today + timedelta(ahead + 7 * bool(match["after"]))
    if match[1] == "next ":
        # The one in the week that begins next Monday.
        meant = today + timedelta(7 - today.weekday() + WEEKDAYS.index(match[2]))
    elif match[1] == "last ":
        meant = today + timedelta(ahead - 7)
    return meant, without(said, match)


def _first_after(now: datetime, days: list[date], hours: list[int], minute: int) -> datetime:
    for when in days:
        for hour in hours:
            start = datetime.combine(when, time(), tzinfo=now.tzinfo)
            candidate = start + timedelta(hours=hour, minutes=minute)
            # When summer time ends, a time of day comes twice.
            for each in (candidate, candidate.replace(fold=1)):
                if each.timestamp() > now.timestamp():
                    return each
    raise ToolError("That time has already passed.")


def _some_time_on(found: date | None, part: str | None, now: datetime, named: bool) -> datetime:
    """The moment of a reminder if only a day, or a part of one, was spoken.

    Args:
        named: Whether today was named by its weekday; then that day next week is meant if the time
            has passed.
    """
    hour = PARTS_OF_DAY[part or "morning"]
    if found == now.date() and part is None and now.hour >= hour:
        return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    days = [now.date(), now.date() + timedelta(7 if named else 1)]
    return _first_after(now, days if found is None or named else [found], [hour], 0)


def is_weekday(text: str) -> bool:
    """Whether a day was named by its weekday alone: "friday", "next monday"."""
    return re.fullmatch(rf"(?:on |next |last |this )?{WEEKDAY}", text.lower()) is not None


def titled(text: str) -> str:
    """The text with weekdays, months and holidays capitalised: "next friday" → "next Friday"."""
    words = {*WEEKDAYS, *MONTHS}
    for holiday in (*_HOLIDAYS, *_BY_EASTER, "thanksgiving"):
        words.update(holiday.split())
    return " ".join(
        word.capitalize() if word in words and word != "day" else word for word in text.split()
    )


def is_day(said: str) -> bool:
    """Whether words name a day."""
    return _is_read(day, said)


def is_moment(said: str) -> bool:
    """Whether words name a moment."""
    return _is_read(moment, said)


def _is_read(read: Callable[[str, datetime], object], said: str) -> bool:
    try:
        read(said, datetime(2026, 1, 7, 0, 0, 1, tzinfo=UTC))
    except ToolError as error:
        # A moment that has passed was read all the same.
        return not isinstance(error, Unreadable)
    return True
