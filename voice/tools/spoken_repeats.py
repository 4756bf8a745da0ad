"""Reads recurring moments: "every weekday at half past six", "every two hours".

A repeat is a recurrence rule of RFC 5545 in local time; python-dateutil finds its moments. This
module does not know what is repeated.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dateutil.rrule import rrulestr

from voice.tools import phrasing, spoken_dates, spoken_times
from voice.tools.registry import ToolError, Unreadable
from voice.tools.spoken_dates import WEEKDAY, WEEKDAYS
from voice.tools.spoken_times import PARTS_OF_DAY

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WORKING, _WEEKEND = "MO,TU,WE,TH,FR", "SA,SU"
_UNITS = {
    "minute": "MINUTELY", "hour": "HOURLY", "day": "DAILY", "week": "WEEKLY", "month": "MONTHLY",
    "year": "YEARLY",
}  # fmt: skip
_WITHIN_A_DAY = ("MINUTELY", "HOURLY")
_LENGTHS = {
    "MINUTELY": timedelta(minutes=1), "HOURLY": timedelta(hours=1), "DAILY": timedelta(1),
    "WEEKLY": timedelta(7),
}  # fmt: skip
"""Frequencies of which every step has the same length."""
_NAMED = rf"{WEEKDAY}s?(?: (?:morning|afternoon|evening|night)s?)?"
_ALWAYS = (
    (rf"(?:every|each) other ({WEEKDAY})", "WEEKLY", "2"),
    (rf"(?:every|each) ({_NAMED}(?:,? (?:and )?{_NAMED})*)", "WEEKLY", "1"),
    (rf"(?:on )?({WEEKDAY}s(?:,? (?:and )?{WEEKDAY}s)*)", "WEEKLY", "1"),
    (r"(?:(?:every|each|on) )?(week ?days?|work(?:ing)? ?days?)", "WEEKLY", "1"),
    (r"(?:(?:every|each|on) )?(weekends?)", "WEEKLY", "1"),
    (r"(?:every|each) half(?: an)? (hour)", "MINUTELY", "30"),
    (r"(?:every|each) (?:quarter of an hour|quarter (?:of an )?hour)", "MINUTELY", "15"),
    (r"(?:every|each) (\d{1,2})(?:st|nd|rd|th)(?: of the month)?", "MONTHLY", "1"),
    (r"(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th) of (?:every|each|the) month", "MONTHLY", "1"),
    (r"(?:every|each) (?:single )?(morning|afternoon|evening|night)", "DAILY", "1"),
    (r"(daily|hourly|weekly|monthly|yearly)", "", "1"),
    (r"(?:every|each) (?:single )?(?:(other|\d+) )?(minute|hour|day|week|month|year)s?", "", ""),
)
"""Pattern of what is said, frequency, interval; the first pattern that is found counts."""
_NAMES_A_DAY = re.compile(rf"{WEEKDAY}|week ?day|work|weekend|\d(?:st|nd|rd|th)\b")


@dataclass(frozen=True, slots=True)
class Repeat:
    """Recurring moments: their ``rule`` as in RFC 5545, and the first of them."""

    rule: str
    first: datetime


def repeat(text: str, now: datetime, first_hour: int = 1) -> Repeat | None:
    """The recurring moments that a text names; None if it names none.

    A time without a.m. or p.m. is the first one of the day not before ``first_hour``; without a
    time it is in the morning, or in the part of the day that was named.

    Raises:
        Unreadable: They recur, but the times cannot be read.
        ToolError: They recur every second.
    """
    working = r"\bmonday (?:to|through|thru|till) friday\b"
    said = re.sub(working, "weekdays", spoken_dates.normal_form(text))
    said = re.sub(rf"\b(every|each) 2nd (?=day|week|month|{WEEKDAY})", r"\1 other ", said)
    if re.search(r"\b(?:every|each) 2nd\b(?! of)", said) and "second" in text.lower():
        raise ToolError("I cannot repeat anything more often than every minute.")
    for pattern, frequency, interval in _ALWAYS:
        if match := re.search(rf"\b(?:{pattern})\b", said):
            rest = f"{said[: match.start()]} {said[match.end() :]}"
            parts = _frequency(match, frequency, interval)
            break
    else:
        return None
    if parts["FREQ"] in _WITHIN_A_DAY:
        if rest.strip():
            raise Unreadable("time", text)
        return Repeat(_joined(parts), _next(parts, now, now))
    parts, left = _on_days(parts, match[0], rest, now)
    named, rest = left != rest or _NAMES_A_DAY.search(match[0]), left
    if (part := _part_of_day(match[0])) is not None:
        rest = f"{rest} {part}"
    try:
        hour, minute = spoken_times.time_of_day(rest, first_hour) or (PARTS_OF_DAY["morning"], 0)
    except Unreadable as error:
        raise Unreadable("time", text) from error
    parts |= {"BYHOUR": str(hour), "BYMINUTE": str(minute), "BYSECOND": "0"}
    # The interval counts from the first of the named days, or else from today.
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    first = parts | {"INTERVAL": "1"} if named else parts
    return Repeat(_joined(parts), _next(first, midnight, now))


def after(rule: str, moment: datetime, now: datetime) -> datetime:
    """The next moment of a rule after ``now``, counted from ``moment``, which is one of them."""
    return _next(_parts(rule), moment, now)


def at_time(rule: str, when: datetime, moment: datetime, now: datetime) -> Repeat:
    """A rule with a new time of day; one that repeats within a day begins at ``when`` instead.

    Args:
        moment: One of the rule's moments, from which an interval goes on counting.
    """
    parts = _parts(rule)
    if parts["FREQ"] in _WITHIN_A_DAY:
        return Repeat(rule, when)
    parts |= {"BYHOUR": str(when.hour), "BYMINUTE": str(when.minute)}
    start = now if parts["INTERVAL"] == "1" else moment.replace(hour=0, minute=0)
    return Repeat(_joined(parts), _next(parts, start, now))


def without(rule: str, days: str, moment: datetime, now: datetime) -> Repeat | None:
    """A rule without the days of another rule, ``days``: every weekday but Fridays.

    An interval goes on counting from ``moment``, one of the rule's moments. None if the rule does
    not have these days, or has no others.
    """
    parts, other = _parts(rule), _parts(days)
    weekly = parts["FREQ"] == "WEEKLY" or (parts["FREQ"], parts["INTERVAL"]) == ("DAILY", "1")
    if not weekly or other["FREQ"] != "WEEKLY" or other["INTERVAL"] != "1":
        return None
    had = parts.get("BYDAY", ",".join(_DAYS)).split(",")
    taken = other["BYDAY"].split(",")
    left = [day for day in had if day not in taken]
    if not left or len(left) + len(taken) != len(had):
        return None
    parts |= {"FREQ": "WEEKLY", "BYDAY": ",".join(left)}
    return Repeat(_joined(parts), _next(parts, moment, now))


def alike(rule: str, other: str, said: str) -> bool:
    """Whether two rules have the same days, and the same time of day if the words say one.

    Times are compared without a.m. and p.m.
    """
    if not other:
        return False
    one, two = _parts(rule), _parts(other)
    if not re.search(r"\d|noon|mid(?:day|night)", spoken_dates.normal_form(said)):
        for parts in (one, two):
            parts.pop("BYHOUR", None)
            parts.pop("BYMINUTE", None)
    if "BYHOUR" in one and "BYHOUR" in two:
        one["BYHOUR"], two["BYHOUR"] = (str(int(p["BYHOUR"]) % 12) for p in (one, two))
    return one == two


def is_of(rule: str, said: str) -> bool:
    """Whether a day in some words describes the whole rule: "Friday" for every Friday.

    So does any day if the rule repeats within a day.
    """
    parts = _parts(rule)
    weekday = re.search(rf"(?<!this )(?<!next )(?<!coming )\b{WEEKDAY}", said.lower())
    its = WEEKDAYS[_DAYS.index(day)] if (day := parts.get("BYDAY", "")) in _DAYS else ""
    return parts["FREQ"] in _WITHIN_A_DAY or (weekday is not None and weekday[0] == its)


def described(rule: str) -> str:
    """A rule in words: "6:30 AM every weekday", "every 2 hours"."""
    parts = _parts(rule)
    unit = next(unit for unit, frequency in _UNITS.items() if frequency == parts["FREQ"])
    interval = int(parts.get("INTERVAL", "1"))
    days = _days_described(parts, interval, unit)
    if parts["FREQ"] in _WITHIN_A_DAY:
        return days
    at = datetime(2000, 1, 1, int(parts["BYHOUR"]), int(parts["BYMINUTE"]))
    return f"{phrasing.time(at)} {days}"


def _days_described(parts: dict[str, str], interval: int, unit: str) -> str:
    days = parts.get("BYDAY", "")
    if days in (_WORKING, _WEEKEND) and interval == 1:
        return "every weekday" if days == _WORKING else "every weekend"
    date = parts.get("BYMONTHDAY", "").split(",")[-1]
    if "BYMONTH" in parts:
        return f"every {calendar.month_name[int(parts['BYMONTH'])]} {date}"
    if date:
        return f"on day {date} of every {_counted(interval, 'month')}"
    if days:
        names = [calendar.day_name[_DAYS.index(day)] for day in days.split(",")]
        other = {1: "every", 2: "every other"}.get(interval, f"every {interval} weeks on")
        return f"{other} {phrasing.joined(names)}"
    return (
        "every other day" if (unit, interval) == ("day", 2) else f"every {_counted(interval, unit)}"
    )


def _counted(interval: int, unit: str) -> str:
    return unit if interval == 1 else f"{interval} {unit}s"


def _frequency(match: re.Match[str], frequency: str, interval: str) -> dict[str, str]:
    if frequency:
        return {"FREQ": frequency, "INTERVAL": interval}
    if interval:
        return {"FREQ": match[0].upper(), "INTERVAL": interval}
    count = {"other": "2", None: "1"}.get(match[1]) or match[1]
    if not 1 <= int(count) <= 999:
        raise Unreadable("time", match[0])
    return {"FREQ": _UNITS[match[2]], "INTERVAL": count}


def _on_days(
    parts: dict[str, str], said: str, rest: str, now: datetime
) -> tuple[dict[str, str], str]:
    """The rule with the days that were named, and the remaining words."""
    named = [WEEKDAYS.index(name) for name in re.findall(WEEKDAY, said)]
    if parts["FREQ"] == "WEEKLY" and not named:
        if re.search(r"week ?day|work", said):
            return parts | {"BYDAY": _WORKING}, rest
        if "weekend" in said:
            return parts | {"BYDAY": _WEEKEND}, rest
        found = re.findall(rf"\b(?:on )?({WEEKDAY})s?\b", rest)
        rest = re.sub(rf"\b(?:on |and )?{WEEKDAY}s?\b,?", " ", rest)
        named = [WEEKDAYS.index(name) for name in found] or [now.weekday()]
    if parts["FREQ"] == "WEEKLY":
        return parts | {"BYDAY": ",".join(_DAYS[day] for day in sorted(set(named)))}, rest
    if parts["FREQ"] in ("MONTHLY", "YEARLY"):
        return _on_dates(parts, said, rest, now)
    return parts, rest


def _on_dates(
    parts: dict[str, str], said: str, rest: str, now: datetime
) -> tuple[dict[str, str], str]:
    if match := re.search(r"\b(\d{1,2})(?:st|nd|rd|th)\b", said):
        number = int(match[1])
    elif parts["FREQ"] == "MONTHLY" and (
        match := re.search(r"\b(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th)\b", rest)
    ):
        number, rest = int(match[1]), f"{rest[: match.start()]} {rest[match.end() :]}"
    else:
        day, rest = spoken_dates.take_day(rest, now)
        when = day or now.date()
        parts = parts | ({"BYMONTH": str(when.month)} if parts["FREQ"] == "YEARLY" else {})
        number = when.day
    if not 1 <= number <= 31:
        raise Unreadable("day", said)
    # In a month that is too short it is the last day.
    days = ",".join(map(str, range(min(number, 28), number + 1)))
    return parts | {"BYMONTHDAY": days, "BYSETPOS": "-1"}, rest


def _part_of_day(said: str) -> str | None:
    match = re.search(r"\b(morning|afternoon|evening|night)s?\b", said)
    return match[1] if match else None


def _joined(parts: dict[str, str]) -> str:
    return ";".join(f"{key}={value}" for key, value in parts.items())


def _parts(rule: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in rule.split(";"))


def _next(parts: dict[str, str], start: datetime, now: datetime) -> datetime:
    """The rule's first moment after ``now``, counted from ``start``, in the time zone of ``now``.

    Times of day are local, so that summer time does not move them; intervals within a day are
    counted in UTC.
    """
    zone = UTC if parts["FREQ"] in _WITHIN_A_DAY else now.tzinfo
    began, current = (moment.astimezone(zone).replace(tzinfo=None) for moment in (start, now))
    began = began.replace(microsecond=0)
    if (length := _LENGTHS.get(parts["FREQ"])) and current > began:
        # rrule takes each step, and may have to take millions.
        length *= int(parts["INTERVAL"])
        began += (current - began) // length * length
    for found in rrulestr(_joined(parts), dtstart=began).xafter(current):
        moment: datetime = found.replace(tzinfo=zone)
        # When summer time ends, an hour comes twice, and its moments are those of the first time.
        if moment.timestamp() > now.timestamp():
            return moment.astimezone(now.tzinfo)
    raise ToolError("That day never comes.")
