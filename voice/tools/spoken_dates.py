"""Reads spoken days, times of day and moments, given the current time.

A moment is a length of time from now ("in ten minutes"), or a day and a time of day. The day
("tomorrow", "friday", "december 25") is taken out of the text, and the rest is read as a time of
day ("half past seven", "seven thirty p m").
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
_ON_24_HOURS = re.compile(r"(?:oh )?(?:[01]?\d|2[0-4]) ?[0-5]\d hours")
"""A time of day as on a duty roster: "1930 hours", "oh 730 hours"."""

PARTS_OF_DAY = {
    "morning": 9, "afternoon": 15, "evening": 19, "night": 21, "first thing": 8, "breakfast": 8,
    "before lunch": 11, "lunch": 12, "after lunch": 14, "tea": 17, "end of day": 17,
    "after work": 18, "dinner": 18, "after dinner": 20, "bed": 22,
}  # fmt: skip
"""Part of the day → the hour that is meant if nothing else is said."""
_MORNINGS = ("morning", "first thing", "breakfast", "before lunch")
_PART = re.compile(
    r"\b(?:(?:in|at|on|by|during) )?(?:(?:the|this|my|early|late|later) )*"
    r"(?:(?P<part>morning|afternoon|evening|night|(?:first|1st) thing(?: in the morning)?"
    r"|(?:before|after) lunch|after (?:work|dinner)|(?:breakfast|lunch|tea|dinner|bed) ?time"
    r"|lunch|end of (?:the |my )?(?:working )?day|close of business)|(?:late )?tonight)\b"
)
_HEDGES = re.compile(
    r"\b(?:roughly|approximately|approx|round(?= about)|(?:some ?where|just|shortly|right|bang|some"
    r" ?time|any ?time|maybe|perhaps|ideally|preferably|say)"
    r"(?: (?:around|about|before|after|gone))?"
    r"|early(?= tomorrow)|or so|or there ?abouts|ish|on the dot|sharp|exactly|if possible)\b"
)
"""Words that make a time more or less exact without changing it."""

_PART_HOURS = {
    "morning": range(12), "afternoon": range(12, 18), "evening": range(17, 24),
    "night": (*range(19, 24), *range(5)), "first thing": range(5, 10), "breakfast": range(5, 11),
    "before lunch": range(9, 13), "lunch": range(11, 15), "after lunch": range(12, 17),
    "tea": range(15, 19), "end of day": range(16, 20), "after work": range(16, 22),
    "dinner": range(17, 22), "after dinner": range(18, 24), "bed": range(20, 24),
}  # fmt: skip
_SHIFT = re.compile(r"(?:by )?(.+) (later|earlier)")
_PUSHED = re.compile(
    r"\b(?:push|move|shift|put|set|bring|pull|change|delay|postpone)\b.*?"
    r"\b(?:(?P<earlier>forward|earlier|sooner)|back|out|later)\b|\b(?:delay|postpone)\b"
)
_MINUTES = r"(?:a )?(half|quarter|\d{1,2})(?: minutes?)?"
_NO_HOUR = re.compile(rf"(?:at )?{_MINUTES} (past|after|to|before)")
"""A time without its hour, "ten to", which suffices when a moment is moved."""
_BESIDE = re.compile(
    r"(?P<length>(?:the|half an?|an?|\d+) [a-z]+(?: [\w ]+?)?) (?P<way>after|before) (?P<other>.+)"
)
_LATER = re.compile(
    r"(?P<length>.+) (?P<way>later|earlier|after|before)"
    r"(?: (?:that|it|the (?:first|last)(?: one)?))?"
)
_NEXT_DAY = re.compile(
    r"(?:the )?(?:(?:next|following) (?:day|week)|(?:day|week) after(?: (?:that|it))?)"
    r"|(?:an?|1) (?:day|week) (?:later|after)"
)


@dataclass(frozen=True, slots=True)
class When:
    """A moment; ``time_said`` is False if only a day or a part of one was spoken."""

    moment: datetime
    time_said: bool


@dataclass(frozen=True, slots=True)
class _Clock:
    """A spoken time of day; ``certain`` if the hour is one of 24 rather than of 12.

    Hour 24 is midnight at the end of a day.
    """

    hour: int
    minute: int
    certain: bool

    def hours(self, part: str | None, first_hour: int) -> list[int]:
        """The hours of the day that it may mean, in order, given the ``part`` of the day if spoken.

        A certain hour, or one with a part of the day, may be before ``first_hour``. After midnight
        a night is still that of the day before: "tonight at 1 a.m.", hour 25. If ``first_hour`` is
        0, it may also be the night that this day began in.
        """
        before, after = self.hour % 12, self.hour % 12 + 12
        if part == "night" and self.hour % (24 if self.certain else 12) < 5:
            return [before, before + 24] if first_hour == 0 else [before + 24]
        if self.certain:
            return [self.hour]
        if part is not None:
            return [before if part in _MORNINGS else after]
        return [hour for hour in (before, after) if hour >= first_hour]


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
    if not _ON_24_HOURS.fullmatch(re.sub(r"^(?:at|for|by|around|about) ", "", said)):
        with contextlib.suppress(Unreadable):
            return When(_shifted(now, duration(text), now), time_said=True)
    if (match := _BESIDE.fullmatch(said)) and (length := _length(match["length"])):
        other = moment(match["other"], now, first_hour, near)
        then = _shifted(other.moment, length if match["way"] == "after" else -length, now)
        return When(then, other.time_said)
    found, rest = take_day(said, now)
    clock, part, rest = _take_time(rest)
    if rest or (found is None and clock is None and part is None):
        dated = _DATE.search(said)
        left = dated and _take_time(_without(said, dated))[2]
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


def beside(old: str, said: str) -> str:
    """A moment given relative to another: "the day after", "on Thursday", "an hour later".

    Args:
        old: The words for the other moment.
        said: The words for the new one; if they lack a day or a time, it is that of the other.

    Returns:
        Words that `moment` can read; empty if ``said`` names no such moment.

    >>> beside("tomorrow at nine", "the day after"), beside("seven tomorrow", "on thursday")
    ('the day after tomorrow at nine', 'thursday at 7')
    """
    words = re.sub(r"^(?:on|at|for) ", "", normal_form(said))
    if _NEXT_DAY.fullmatch(words):
        return f"the {'week' if 'week' in words else 'day'} after {old}"
    if (match := _LATER.fullmatch(words)) and _length(match["length"]):
        way = "after" if match["way"] in ("later", "after") else "before"
        return f"{match['length']} {way} {old}"
    noon = datetime(2026, 1, 7, 12, tzinfo=UTC)
    found, rest = take_day(words, noon)
    old_found, old_rest = take_day(normal_form(old), noon)
    with contextlib.suppress(ToolError):
        clock, part, left = _take_time(rest)
        old_clock, _, old_left = _take_time(old_rest)
        if left or old_left or (found is None and clock is None and part is None):
            return ""
        if clock is None and part is None and old_clock is not None:
            return f"{words} at {re.sub('^at ', '', old_rest)}"
        if found is None and old_found is not None:
            gone = old_rest.split()
            day_of_old = [one for one in normal_form(old).split() if one not in gone]
            return f"{words} {' '.join(day_of_old)}"
        return words
    return ""


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
    clock, part, rest = _take_time(rest)
    if rest or (found is None and clock is None and part is None):
        return False
    if found is not None and found != then.date():
        return False
    if clock is None:
        return part is None or then.hour in _PART_HOURS[part]
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


def _nearest(near: datetime, clock: _Clock, part: str | None, now: datetime) -> datetime:
    """The time of day nearest to ``near`` on its day, or the first one on the day after."""
    hours = sorted(clock.hours(part, 0), key=lambda hour: abs(hour - near.hour))
    with contextlib.suppress(ToolError):
        return _first_after(now, [near.date()], hours, clock.minute)
    return _first_after(now, [near.date() + timedelta(1)], sorted(hours), clock.minute)


def time_of_day(text: str, first_hour: int = 1) -> tuple[int, int] | None:
    """The hour and minute of a time of day in `normal_form`; None for no words.

    Args:
        first_hour: An ambiguous time is the first one not before this hour.

    Raises:
        Unreadable: It is not a time of day.
    """
    clock, part, rest = _take_time(text)
    if rest:
        raise Unreadable("time", text)
    if clock is None:
        return None if part is None else (PARTS_OF_DAY[part], 0)
    hours = clock.hours(part, first_hour)
    return (hours or [clock.hour])[0] % 24, clock.minute


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
        other, rest = take_day(_without(said, match), now)
        if other and (later := _later(other, match[1], "week")):
            return later, rest
    counted = r"\b(?:in )?(?<!once )(\d+|an?) (day|week|month)s?(?: (?:from )?(?:now|today))?\b"
    if (match := re.search(counted, said)) and (later := _later(today, match[1], match[2])):
        return later, _without(said, match)
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
            return meant, _without(said, match)
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
                return meant, _without(said, match)
    return None, said


def _thanksgiving(year: int) -> date:
    fourth: date = date(year, 11, 1) + relativedelta(weekday=TH(4))
    return fourth


def _take_date(said: str, today: date) -> tuple[date | None, str]:
    if (match := _DATE.search(said)) and (dated := _dated(match[0], today)):
        return dated, _without(said, match)
    if match := re.search(rf"\b(?:on )?(?:{WEEKDAY} )?the ({_ORDINAL})\b", said):
        number = int(match[1][:-2])
        if 1 <= number <= 31:
            start = datetime.combine(today, time())
            (meant,) = rrule(MONTHLY, bymonthday=number, dtstart=start, count=1)
            return meant.date(), _without(said, match)
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
        rf"\b(?:1 |an? )?(?:(?:the |this )?(?:coming|following) |(next |last |this |on ))?"
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
    return meant, _without(said, match)


def _take_time(said: str) -> tuple[_Clock | None, str | None, str]:
    """The time of day, the part of the day, and the words that could not be read."""
    part = None
    if match := _PART.search(said):
        part, said = _part_named(match["part"] or "night"), _without(said, match)
    # "And one at seven" asks for one more alarm.
    said = re.sub(r"^(?:another )?(?:1 )?(?:more )?(?=(?:at|for|by|around|about) )", "", said)
    said = re.sub(
        r"^(?:at|for|by|around|about|on)\b|\b(?:at|for|by|on|sharp|exactly|please)$", "", said
    )
    said = re.sub(r"\b(?:at|on|around|about)\b", " ", said)
    clock = _clock(" ".join(said.split()))
    return clock, part, "" if clock else " ".join(said.split())


def _part_named(said: str) -> str:
    """A part of the day by its name in `PARTS_OF_DAY`."""
    name = re.sub(r" ?time$| in the morning$", "", said).replace("1st", "first")
    return "end of day" if name.startswith(("end of", "close of")) else name


def _clock(said: str) -> _Clock | None:
    if match := re.fullmatch(r"(.+ (?:past|after|(to|before))) (?:noon|midday|(midnight))", said):
        said = f"{match[1]} 12 {'pm' if bool(match[2]) == bool(match[3]) else 'am'}"
    said = re.sub(r"^12 (?=noon|midday|midnight)", "", said)
    if said in ("noon", "midday", "midnight"):
        return _Clock(24 if said == "midnight" else 12, 0, certain=True)
    half = None
    if match := re.search(r" ?\b(am|pm)$", said):
        half, said = match[1], said[: match.start()]
    certain = half is not None or _ON_24_HOURS.fullmatch(said) is not None
    numbers = _hour_and_minute(re.sub(r"^oh | (?:o'clock|hours)$", "", said))
    if numbers is None or numbers[0] > 24 or numbers[1] > 59:
        return None
    hour, minute = numbers
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    return _Clock(hour, minute, certain=certain or hour > 12 or hour == 0)


def _hour_and_minute(said: str) -> tuple[int, int] | None:
    if match := re.fullmatch(rf"{_MINUTES} (past|after|to|before|till|until|of) (\d{{1,2}})", said):
        minute = {"half": 30, "quarter": 15}.get(match[1]) or int(match[1])
        hour = int(match[3])
        if match[2] in ("past", "after"):
            return hour, minute
        return hour - 1 or 12, 60 - minute
    if re.fullmatch(rf"{_MINUTES} (?:past|after)", said):
        raise ToolError(f"{said.capitalize()} which hour?")
    if match := re.fullmatch(r"half (\d{1,2})", said):
        return int(match[1]), 30
    if match := re.fullmatch(r"(\d{1,2})(?:[:. ](?:oh |o |0 )?(\d{1,2}))?", said):
        return int(match[1]), int(match[2] or 0)
    if match := re.fullmatch(r"(\d{1,2})(\d\d)", said):
        return int(match[1]), int(match[2])
    return None


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


def _without(said: str, match: re.Match[str]) -> str:
    return " ".join(f"{said[: match.start()]} {said[match.end() :]}".split())


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
