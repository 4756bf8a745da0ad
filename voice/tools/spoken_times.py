"""Reads spoken times of day, and parts of the day, in texts in `spoken_dates.normal_form`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from voice.tools.registry import ToolError, Unreadable

ON_24_HOURS = re.compile(r"(?:oh )?(?:[01]?\d|2[0-4]) ?[0-5]\d hours")
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
PART_HOURS = {
    "morning": range(12), "afternoon": range(12, 18), "evening": range(17, 24),
    "night": (*range(19, 24), *range(5)), "first thing": range(5, 10), "breakfast": range(5, 11),
    "before lunch": range(9, 13), "lunch": range(11, 15), "after lunch": range(12, 17),
    "tea": range(15, 19), "end of day": range(16, 20), "after work": range(16, 22),
    "dinner": range(17, 22), "after dinner": range(18, 24), "bed": range(20, 24),
}  # fmt: skip
MINUTES = r"(?:a )?(half|quarter|\d{1,2})(?: minutes?)?"


@dataclass(frozen=True, slots=True)
class Clock:
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


def time_of_day(text: str, first_hour: int = 1) -> tuple[int, int] | None:
    """The hour and minute of a time of day; None for no words.

    Args:
        first_hour: An ambiguous time is the first one not before this hour.

    Raises:
        Unreadable: It is not a time of day.
    """
    clock, part, rest = take_time(text)
    if rest:
        raise Unreadable("time", text)
    if clock is None:
        return None if part is None else (PARTS_OF_DAY[part], 0)
    hours = clock.hours(part, first_hour)
    return (hours or [clock.hour])[0] % 24, clock.minute


def take_time(said: str) -> tuple[Clock | None, str | None, str]:
    """The time of day, the part of the day, and the words that could not be read."""
    part = None
    if match := _PART.search(said):
        part, said = _part_named(match["part"] or "night"), without(said, match)
    # "And one at seven" asks for one more alarm.
    said = re.sub(r"^(?:another )?(?:1 )?(?:more )?(?=(?:at|for|by|around|about) )", "", said)
    # Only at the ends: "two at one" is no time.
    said = re.sub(
        r"^ *(?:at|for|by|around|about|on)\b *(?:(?:at|around|about|on)\b *)*"
        r"|(?: *\b(?:at|for|by|on|around|about|sharp|exactly|please))+ *$",
        "",
        said,
    )
    clock = _clock(" ".join(said.split()))
    return clock, part, "" if clock else " ".join(said.split())


def _part_named(said: str) -> str:
    """A part of the day by its name in `PARTS_OF_DAY`."""
    name = re.sub(r" ?time$| in the morning$", "", said).replace("1st", "first")
    return "end of day" if name.startswith(("end of", "close of")) else name


def _clock(said: str) -> Clock | None:
    if match := re.fullmatch(r"(.+ (?:past|after|(to|before))) (?:noon|midday|(midnight))", said):
        said = f"{match[1]} 12 {'pm' if bool(match[2]) == bool(match[3]) else 'am'}"
    said = re.sub(r"^12 (?=noon|midday|midnight)", "", said)
    if said in ("noon", "midday", "midnight"):
        return Clock(24 if said == "midnight" else 12, 0, certain=True)
    half = None
    if match := re.search(r" ?\b(am|pm)$", said):
        half, said = match[1], said[: match.start()]
    on_24 = ON_24_HOURS.fullmatch(said) is not None
    certain = half is not None or on_24
    # "Two hours" is a length of time.
    numbers = _hour_and_minute(re.sub(rf"^oh | (?:o'clock{'|hours' * on_24})$", "", said))
    if numbers is None or numbers[0] > 24 or numbers[1] > 59:
        return None
    hour, minute = numbers
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    return Clock(hour, minute, certain=certain or hour > 12 or hour == 0)


def _hour_and_minute(said: str) -> tuple[int, int] | None:
    if match := re.fullmatch(rf"{MINUTES} (past|after|to|before|till|until|of) (\d{{1,2}})", said):
        minute = {"half": 30, "quarter": 15}.get(match[1]) or int(match[1])
        hour = int(match[3])
        if match[2] in ("past", "after"):
            return hour, minute
        return hour - 1 or 12, 60 - minute
    if re.fullmatch(rf"{MINUTES} (?:past|after)", said):
        raise ToolError(f"{said.capitalize()} which hour?")
    if match := re.fullmatch(r"half (\d{1,2})", said):
        return int(match[1]), 30
    if match := re.fullmatch(r"(\d{1,2})(?:[:. ](?:oh |o |0 )?(\d{1,2}))?", said):
        return int(match[1]), int(match[2] or 0)
    if match := re.fullmatch(r"(\d{1,2})(\d\d)", said):
        return int(match[1]), int(match[2])
    return None


def without(said: str, match: re.Match[str]) -> str:
    """A text without what was found in it."""
    return " ".join(f"{said[: match.start()]} {said[match.end() :]}".split())
