"""How callers say when they would come: days, weeks, wishes such as "the earliest you have"."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, timedelta

from voice.tools import kinds, spoken_dates
from voice.tools.registry import ToolError, Unreadable
from voice.tools.spoken_numbers import duration

OPENS = 9
"""Hour at which the practice opens: "at two" is the first two o'clock from then on."""
AHEAD = timedelta(days=60)
"""How far ahead free times are looked for if no day was said."""
A_WEEK = timedelta(7)
_IN_WEEK = (
    r"(?:(?:any ?time|some ?time|any day|some day|in|of|during|early|late) )*"
    r"(?:the )?(this|next) week"
)
_WEEK = re.compile(_IN_WEEK)
_NAMED = rf"(?:on |a )?{spoken_dates.WEEKDAY}s?"
_SOME_DAYS = re.compile(
    rf"(?:{_IN_WEEK} )?(?P<days>{_NAMED}(?:(?: {_NAMED})* (?:or|and) {_NAMED})?)(?: {_IN_WEEK})?"
)
_PADDING = re.compile(
    r"\b(?:instead|please|maybe|perhaps|either|(?:would be|is|are) (?:good|fine|best|ok))\b|,"
)
_YOURS = r"(?: (?:do |that )?you(?:'ve)? (?:have|got|can(?: do)?)| there is)?"
_EVERY = re.compile(rf"{_NAMED}(?: (?:or|and) {_NAMED})*")
"""Weekdays without a week: if ruled out, they are so in every week."""
_WEEK_ON = re.compile(r"(?:(?:the )?(?:one|week) after(?: that)?|the following week)")
_SOON = re.compile(
    r"(?:(?:when|what|which)(?:'s| is| are)? )?(?:(?:the|your|very) )*"
    r"(?:earliest|soonest|next|first)"
    r"(?: (?:possible|available|free|appointment|time|slot|day|thing|one|opening))*" + _YOURS + "|"
    r"(?:as )?(?:soon|early) as (?:possible|you can|i can)|(?:like |right )?when you open"
    r"|(?:what|which)(?: (?:other )?(?:times?|days?|slots?))?(?: (?:do|have|are|is|you|there|got))*"
    r" (?:have|got|free|available|left|open|offer)"
)
_ANY = re.compile(
    r"(?:at )?any ?(?:time|day)|any of (?:them|those)|when ?ever|which ?ever"
    r"|(?:what|which|when) ?ever(?:'s| is| you(?:'ve)?) (?:the )?"
    r"(?:first|soonest|earliest|next|free|have|got)"
    r"|(?:i )?don't (?:mind|care)|no preference|you (?:choose|pick|decide)"
)
"""Words that accept any time, or what is offered."""
_SLOT = r"(?: (?:available|free|appointment|time|slot|thing|one|opening))*"
_LAST = re.compile(
    rf"(?:(?:when|what|which)(?:'s| is)? )?(?:(?:the|your|very) )*(?:latest|last){_SLOT}"
    r"(?: (?:possible|of the day|(?:do |that )?you(?:'ve)? (?:have|got|can(?: do)?)"
    r"|(?:that )?(?:i|we) (?:can|could) (?:come|have|get)|there is|you have left))"
    rf"|latest (?:possible|free|available|appointment|time|slot|one){_SLOT}"
    r"|(?:what|when|which)(?:'s| is) (?:the|your) (?:very )?"
    r"(?:latest|last (?:available|free|appointment|slot|one|opening))"
    r"|(?:as )?late as (?:possible|you can|i can)|(?:towards? |at )?the (?:very )?end of the day"
)
_LATER = re.compile(r"(?:(?:any|some)(?:thing|time) |a (?:bit|little) )?(later|earlier)")
_TOO = re.compile(r"(?:(?:that's|it's|that is|it is|is|a bit|way) )*too (early|late)")
_SHIFT = re.compile(
    r"(?:by )?(?P<by>.+) (?P<way>later|earlier|sooner)"
    r"|(?P<to>back|forward|up|postpone|delay)(?: (?:it|that|this))?(?: by)? (?P<length>.+)"
)
_OFFERED = ("first", "second", "third")
_THAT = re.compile(rf"(?:the )?({'|'.join(_OFFERED)}|last)(?: one)?(?: of (?:those|them|these))?")


def days_of(said: str, now: datetime) -> tuple[date, ...]:
    """The days that words may mean, in order: one, several, or the working days of a week."""
    words = spoken_dates.normal_form(said.strip(" ."))
    words = re.sub(r"^(?:on|for) |(?: (?:at|in|on|the|for|by|please))+$", "", words)
    padded = " ".join(_PADDING.sub(" ", words).split())
    monday = now.date() - timedelta(now.weekday())
    if found := _WEEK.fullmatch(padded):
        monday += timedelta(7 * (found[1] == "next"))
        return tuple(monday + timedelta(n) for n in range(5))
    if found := _SOME_DAYS.fullmatch(padded):
        week, some = found[1] or found[3], re.findall(spoken_dates.WEEKDAY, found["days"])
        if week or len(some) > 1:
            named = [monday + timedelta(spoken_dates.WEEKDAYS.index(one)) for one in some]
            # A caller who means today says "today".
            ahead = [7 * (week == "next" if week else day <= now.date()) for day in named]
            return tuple(sorted(d + timedelta(n) for d, n in zip(named, ahead, strict=True)))
    on = kinds.day_of(said, now)
    if on == now.date() and spoken_dates.is_weekday(re.sub("^(?:the )?1 (?:on )?", "", words)):
        on += timedelta(7)
    return (on,)


def ruled_out_by(said: str, now: datetime) -> frozenset[date | int]:
    """The days and times (minutes since midnight) in a list separated by commas.

    Words that are neither are skipped.
    """
    out: set[date | int] = set()
    for words in filter(None, said.split(", ")):
        with suppress(ToolError):
            days = days_of(words, now)
            every = range(-7, AHEAD.days + 1, 7) if _EVERY.fullmatch(words.lower()) else range(1)
            out |= {day + timedelta(n) for day in days for n in every}
            continue
        with suppress(ToolError):
            out.add(kinds.minutes_of(kinds.clock_time(words, now, OPENS)))
    return frozenset(out)


def wish_of(said: str, _: datetime) -> timedelta | str | int:
    """A wish that names no day or time.

    Returns:
        "next", "last", "any", "later" or "earlier"; by how much later; or the index of one of the
        offered times, -1 for the last.

    Raises:
        Unreadable: It is not a wish.
    """
    words = said.lower().replace("’", "'").strip(" .?")
    if found := _LATER.fullmatch(words):
        return found[1]
    if found := _TOO.fullmatch(words):
        return "later" if found[1] == "early" else "earlier"
    if _WEEK_ON.fullmatch(words):
        return A_WEEK
    if found := _SHIFT.fullmatch(words):
        length = duration(found["by"] or found["length"])
        return (
            length
            if (found["way"] or found["to"]) in ("later", "back", "postpone", "delay")
            else -length
        )
    if (found := _THAT.fullmatch(words)) and (" one" in words or " of " in words):
        return _OFFERED.index(found[1]) if found[1] in _OFFERED else -1
    for wish, pattern in (("last", _LAST), ("any", _ANY), ("next", _SOON)):
        if pattern.fullmatch(words):
            return wish
    raise Unreadable("wish", said)
