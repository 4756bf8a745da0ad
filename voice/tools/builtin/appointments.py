"""Appointments of a practice: free times, booking, listing, moving, cancelling, and callbacks.

`choose_time` finds a time and changes nothing: a flow keeps the values (`scope.known`), and
`book_appointment` books what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from datetime import time as clock
from functools import partial
from typing import Annotated, Any

from voice.tools import kinds, phrasing
from voice.tools.builtin.appointment_times import (
    A_WEEK,
    AHEAD,
    OPENS,
    days_of,
    ruled_out_by,
    wish_of,
)
from voice.tools.registry import Asked, Noted, Readable, ToolError, tool
from voice.tools.scope import SessionScope
from voice.tools.store import Store

_CLOSES, _SLOT_MIN = 17, 30
OPEN = "We are open Monday to Friday, from 9 AM to 5 PM."
_FULL = "That day has no time left."
_ABOUT = ("problem", "doctor", "born", "number")
"""Names of the known values that are kept with an appointment."""
_EVERY_SLOT = range(OPENS * 60, _CLOSES * 60, _SLOT_MIN)
_WHOLE_DAY = (0, 24 * 60)
_MOST_WORDS, _LONGEST_DAY = 60, 4
"""Most words of a message that are searched for days, and of a day."""
_TOLD = 3
"""Free times that are offered at once."""


@dataclass(frozen=True, slots=True)
class _Days:
    """The days on which the caller would come.

    Attributes:
        day: The caller's words; empty for any day.
        days: The days that they mean.
        soon: The words of a wish that names no day.
        out: The words for what the caller does not want, separated by commas.
        excluded: The days and times that these mean.
    """

    day: str
    days: tuple[date, ...]
    soon: str
    out: str
    excluded: frozenset[date | int]

    @property
    def on(self) -> date | None:
        """The day, if only one is meant."""
        return self.days[0] if self.day and len(self.days) == 1 else None


@dataclass(frozen=True, slots=True)
class _Wish:
    """The time of day at which the caller would come, in minutes since midnight.

    Attributes:
        at: The time; None if none was said.
        within: The part of the day, end excluded.
        near: The time to which a free one should be near.
        which: Index of the chosen one among the free times within the part; None if none is chosen.
    """

    at: int | None = None
    within: tuple[int, int] = _WHOLE_DAY
    near: int = 0
    which: int | None = None


_Day = Annotated[str, Readable(days_of)]
_Time = Annotated[str, Readable(partial(kinds.clock_time, first_hour=OPENS))]
_Part = Annotated[str, Readable(kinds.span_of_day)]
_Soon = Annotated[str, Readable(wish_of)]


@tool(read_only=True)
def choose_time(
    day: _Day = "",
    time: _Time = "",
    part: _Part = "",
    soon: _Soon = "",
    offered: str = "",
    choices: str = "",
    ruled_out: str = "",
    *,
    scope: SessionScope,
    store: Store,
) -> Noted:
    """Choose the day and the time of an appointment."""
    given = {"day": day, "time": time, "part": part, "soon": soon, "ruled_out": ruled_out}
    return _found(given, scope.known, scope, store)


def _found(
    given: Mapping[str, str], known: Mapping[str, str], scope: SessionScope, store: Store
) -> Noted:
    """The day and the time that are meant, or the times that are free then.

    Args:
        given: Argument of `choose_time` → what the caller said now; empty for nothing.
        known: What is known from before, by the same names.
    """
    now = scope.now()
    if "offered" in known and _takes_any(given, now):
        given = {**given, "time": known["offered"], "soon": ""}
    time = given["time"]
    part = given["part"] or ("" if time else known.get("part", ""))
    asked = _asked_for(given, known, now)
    on, soon, excluded = asked.on, asked.soon, asked.excluded
    if on:
        _check_day(on, now)
    noted = partial(_noted, out=asked.out)
    time = time or ("" if part or soon else known.get("time", ""))
    wish = _wish(time, part, soon, known, now)
    at = None if wish.at in excluded else wish.at
    if at is not None and not OPENS * 60 <= at < _CLOSES * 60:
        return noted(OPEN, on)
    other = given["ruled_out"] and not given["day"]
    if at is not None and not (asked.day or other):
        return noted(f"{kinds.clock(at)}.", None, kinds.clock(at))
    exact = _at(on, at, now) if on and at is not None else None
    if on and not (exact or soon or part or other):
        return noted(f"{_told(on)}.", on)
    within = wish.within if exact or at is None else (at, at + 1)
    free = _free(asked.days, within, now, store, excluded)
    if not free and on and soon and (way := wish_of(soon, now)) in ("earlier", "later"):
        nearby = _reach(now.date() if way == "earlier" else on + timedelta(1), now)
        free = _free(nearby, _wish("", part, "", {}, now).within, now, store, excluded)
    chosen = exact
    if wish.which is not None:
        chosen = next(iter(free[wish.which :]), None)
    if chosen and chosen in free:
        return noted(f"{_told(chosen)} at {phrasing.time(chosen)}.", chosen, phrasing.time(chosen))
    why = _why_not(exact, now) if exact else ""
    if not free:
        return noted(f"{why} {_left(free)}" if why else f"Nothing is free then. {OPEN}", on)
    near = sorted(free, key=lambda one: abs(_minutes(one) - wish.near))[:_TOLD]
    part = kinds.part_of_day(part, now) if part else ""
    if why:
        said = f"{why} {_left(near)}"
    elif soon:
        which = "last" if wish_of(soon, now) in ("last", -1) else "next"
        said = f"The {which} free time is {_told(near[0])} at {phrasing.time(near[0])}."
    else:
        said = _left(near, f"{_told(near[0])}{part and f' {part}'}")
    times = phrasing.joined([phrasing.time(one) for one in sorted(near)])
    return noted(said, near[0], part=part, offered=phrasing.time(near[0]), choices=times)


def _takes_any(given: Mapping[str, str], now: datetime) -> bool:
    """Whether the caller said only that any time will do."""
    said = [name for name, words in given.items() if words]
    return said == ["soon"] and wish_of(given["soon"], now) == "any"


def _asked_for(given: Mapping[str, str], known: Mapping[str, str], now: datetime) -> _Days:
    """The days that are asked for, from what was said now and what is known from before."""
    day, out, soon = given["day"] or known.get("day", ""), known.get("ruled_out", ""), given["soon"]
    days = days_of(day, now) if day else _reach(now.date(), now)
    new = ", ".join(re.split(", | or | and ", given["ruled_out"]))
    if (day or new) and soon and wish_of(soon, now) == A_WEEK:
        # "Not this Friday, the one after" rules out one Friday: that which was spoken of, if any.
        out_of = (one for one in ruled_out_by(new, now) if isinstance(one, date))
        fridays = sorted(one for one in out_of if one >= now.date())
        not_this = [one for one in fridays if one in days][:1] or fridays[:1]
        new = f"{not_this[0]:%Y-%m-%d}" if not_this else new
        days, soon, day = tuple(one + A_WEEK for one in not_this or days), "", day or new
    if given["day"] and len(days) == 1:
        # A caller who names a day no longer rules it out.
        out = ", ".join(one for one in out.split(", ") if not {*days} & ruled_out_by(one, now))
    out = ", ".join(filter(None, (out, new)))
    excluded = ruled_out_by(out, now)
    if day and excluded >= {*days}:
        day, days = "", _reach(days[0], now)
    return _Days(day, tuple(one for one in days if one not in excluded), soon, out, excluded)


def _reach(first: date, now: datetime) -> tuple[date, ...]:
    """The days from ``first`` on that are searched for free times."""
    return tuple(first + timedelta(n) for n in range(((now + AHEAD).date() - first).days + 1))


def _left(free: list[datetime], then: str = "then") -> str:
    """The free times as a sentence."""
    times = [phrasing.time(one) for one in sorted(free)]
    return f"Free {then}: {phrasing.joined(times)}." if times else _FULL


def _why_not(due: datetime, now: datetime) -> str:
    if _minutes(due) not in _EVERY_SLOT:
        return "We see patients every half hour."
    why = "has passed" if due <= now else f"is not free {_told(due)}"
    return f"{phrasing.time(due)} {why}."


def _wish(time: str, part: str, soon: str, known: Mapping[str, str], now: datetime) -> _Wish:
    first, last = kinds.span_of_day(part, now) if part else _WHOLE_DAY
    how = wish_of(soon, now) if soon and not time else "any"
    before = known.get("time") or known.get("offered")
    if how == "last" or (how == -1 and not before):
        return _Wish(within=(first, last), near=last)
    if time:
        at = kinds.minutes_of(kinds.clock_time(time, now, OPENS))
        return _Wish(at, near=at)
    if before:
        there = kinds.minutes_of(before)
        if isinstance(how, timedelta):
            at = there + int(how.total_seconds()) // 60
            return _Wish(at, near=at)
        if isinstance(how, int):
            return _Wish(within=(there, last), which=how if how >= 0 else _TOLD - 1)
        if how in ("later", "earlier"):
            return _Wish(within=(there + 1, last) if how == "later" else (first, there), near=there)
    return _Wish(within=(first, last))


def _check_day(on: date, now: datetime) -> None:
    if on < now.date():
        raise ToolError(f"{_told(on)} has passed.")
    if on.weekday() > 4:
        raise ToolError(f"We are closed on {on:%A}s. {OPEN}")


def _free(
    days: Iterable[date],
    within: tuple[int, int],
    now: datetime,
    store: Store,
    out: frozenset[date | int] = frozenset(),
) -> list[datetime]:
    """The free times, except those ruled ``out``, on the first of the days that has any."""
    slots = [at for at in _EVERY_SLOT if within[0] <= at < within[1] and at not in out]
    open_days = [day for day in days if day.weekday() < 5 and day not in out]
    if not (slots and open_days):
        return []
    first, last = _at(min(open_days), slots[0], now), _at(max(open_days), slots[-1], now)
    taken = store.taken_between(first.timestamp(), last.timestamp())
    soonest = now + timedelta(minutes=1)
    for day in open_days:
        times = [_at(day, at, now) for at in slots]
        if free := [one for one in times if one > soonest and one.timestamp() not in taken]:
            return free
    return []


def _noted(
    said: str,
    on: date | None,
    time: str = "",
    part: str = "",
    offered: str = "",
    choices: str = "",
    out: str = "",
) -> Noted:
    """The result with the values for the flow; an empty value makes it forget the one before."""
    day = {"day": f"{on:%Y-%m-%d}"} if on else {}
    values = {"time": time, "part": part, "soon": "", "offered": offered, "choices": choices}
    return Noted(said, {**day, **values, "ruled_out": out})


@tool()
def book_appointment(*, scope: SessionScope, store: Store) -> str:
    """Book the appointment."""
    known, now = scope.known, scope.now()
    if not {"day", "time"} <= known.keys():
        raise ToolError("I need to know the day and the time.")
    due = _at(kinds.day_of(known["day"], now), kinds.minutes_of(known["time"]), now)
    if due <= now:
        raise ToolError(f"{_told(due)} at {phrasing.time(due)} has passed. Which day instead?")
    about = "; ".join(known[one] for one in _ABOUT if one in known)
    if not store.book(due.timestamp(), known.get("name", ""), about):
        raise ToolError("Somebody else has taken that time by now. Please choose another one.")
    return f"Booked: {_told(due)} at {phrasing.time(due)}."


@tool(read_only=True)
def list_appointments(*, scope: SessionScope, store: Store) -> str:
    """Say what appointments the patient has."""
    told = [f"{_told(due)} at {phrasing.time(due)}" for due in _had(scope, store)]
    if not told:
        raise _none(scope)
    return f"You have {phrasing.counted(len(told), 'appointment')}: {phrasing.joined(told)}."


@tool(read_only=True)
def find_appointment(
    name: Annotated[str, kinds.KINDS["person"]], *, scope: SessionScope, store: Store
) -> Noted:
    """Find the appointment of somebody by name."""
    now = scope.now()
    who = kinds.person(name, now)
    if all(kept != who for _, kept, _ in store.appointments(now.timestamp())):
        raise ToolError(f"I find no appointment under {who}.")
    return Noted(f"There is one under {who}.", {"name": who})


def _whether_to_cancel(given: Mapping[str, Any], *, scope: SessionScope, store: Store) -> str:
    if not _had(scope, store):
        return ""
    due = _meant(scope, store, str(given.get("day", "")))
    return f"Shall I cancel your appointment on {_told(due)} at {phrasing.time(due)}?"


@tool(
    undoes=True,
    asked=Asked(
        _whether_to_cancel, lambda said: "cancel" in said.lower() and "?" not in said, always=True
    ),
)
def cancel_appointment(day: _Day = "", *, scope: SessionScope, store: Store) -> str:
    """Cancel the appointment of the patient."""
    due = _meant(scope, store, day)
    if not store.cancel_appointment(due.timestamp()):
        raise _none(scope)
    return f"Cancelled: {_told(due)} at {phrasing.time(due)}."


@tool()
def change_appointment(
    day: _Day = "",
    time: _Time = "",
    part: _Part = "",
    soon: _Soon = "",
    offered: str = "",
    choices: str = "",
    ruled_out: str = "",
    old: str = "",
    *,
    scope: SessionScope,
    store: Store,
) -> Noted:
    """Move the appointment of the patient to another day or time."""
    begun = {n.removeprefix("to_"): v for n, v in scope.known.items() if n.startswith("to_")}
    had = _being_moved(begun, scope, store)
    due, now = had or _meant(scope, store, next(iter(scope.said), "")), scope.now()
    at, which = phrasing.time(due), {"old": due.isoformat()}
    if had is None:
        begun, day = {}, _other_day(day, due, scope)
    given = {"day": day, "time": time, "part": part, "soon": soon, "ruled_out": ruled_out}
    if not any(given.values()):
        return Noted(f"Your appointment is on {_told(due)} at {at}.", which)
    # Another day alone keeps the time, and another time alone keeps the day.
    same = {"day": f"{due:%Y-%m-%d}", **({} if part or (time and not day) else {"time": at})}
    try:
        found = _found(given, {**same, **begun}, scope, store)
    except ToolError as error:
        if scope.known:
            raise
        return Noted(str(error), which)
    values = {**found.values, **which}
    if not (values.get("day") and values.get("time")):
        return Noted(found.said, values)
    new = _at(kinds.day_of(values["day"], now), kinds.minutes_of(values["time"]), now)
    if new != due and not store.move_appointment(due.timestamp(), new.timestamp()):
        raise ToolError("Somebody else has taken that time by now. Please choose another one.")
    told = f"{_told(new)} at {phrasing.time(new)}"
    return Noted(f"Moved to {told}." if new != due else f"It is on {told}.", values)


def _being_moved(begun: Mapping[str, str], scope: SessionScope, store: Store) -> datetime | None:
    """The appointment that earlier messages were about to move; None if there is none."""
    return next((due for due in _had(scope, store) if due.isoformat() == begun.get("old")), None)


def _other_day(day: str, old: datetime, scope: SessionScope) -> str:
    """The words for the new day; a message may also, or only, name the appointment's old day."""
    now = scope.now()
    if not day or days_of(day, now) != (old.date(),):
        return day
    named = _days_named(next(iter(scope.said), ""), now)
    return next((one for one, first in named if first != old.date()), "")


def _days_named(said: str, now: datetime) -> list[tuple[str, date]]:
    """The parts of a message that name days, each with the first day that it means."""
    words, at, found = re.findall(r"[\w']+", said), 0, list[tuple[str, date]]()
    while at < min(len(words), _MOST_WORDS):
        step = 1
        for length in range(_LONGEST_DAY, 0, -1):
            span = " ".join(words[at : at + length])
            with suppress(ToolError):
                found.append((span, days_of(span, now)[0]))
                step = length
                break
        at += step
    return found


@tool(read_only=True)
def get_opening_hours() -> str:
    """Say the opening hours."""
    return OPEN


@tool()
def request_call_back(*, scope: SessionScope, store: Store) -> str:
    """Ask for a call back."""
    number = scope.known.get("number", "")
    about = ", ".join(scope.known[one] for one in ("name", "problem") if one in scope.known)
    if not number:
        raise ToolError("I need to know the number.")
    now = scope.now()
    if not store.book(now.timestamp(), number, f"call back: {about}"):
        raise ToolError("I could not note that. Please try again.")
    closing = _next_closing(now)
    day = "" if closing.date() == now.date() else f" on {_told(closing)}"
    return f"You will be called back at {number} by {phrasing.time(closing)}{day}."


@tool(read_only=True)
def start_over(
    beside: str = "",
    problem: str = "",
    day: str = "",
    time: str = "",
    *,
    scope: SessionScope,
    store: Store,
) -> Noted:
    """Make a new appointment, or another one beside the one before."""
    known, now = scope.known, scope.now()
    if not beside or "day" not in known:
        return Noted("Okay.", {})
    due = _meant(scope, store, next(iter(scope.said), ""))
    free = _free([due.date()], (_minutes(due), 24 * 60), now, store)
    values = {"problem": known.get("problem", ""), "day": f"{due:%Y-%m-%d}"}
    if not free:
        return Noted(_FULL, {"problem": values["problem"]})
    at = phrasing.time(free[0])
    return Noted(f"Another one: {_told(free[0])} at {at} is the next.", {**values, "time": at})


def _minutes(moment: datetime) -> int:
    return moment.hour * 60 + moment.minute


def _at(day: date, at: int, now: datetime) -> datetime:
    return datetime.combine(day, clock(at // 60 % 24, at % 60), now.tzinfo)


def _next_closing(now: datetime) -> datetime:
    days = (now.date() + timedelta(n) for n in range(4))
    closing = (_at(day, _CLOSES * 60, now) for day in days if day.weekday() < 5)
    return next(one for one in closing if one > now)


def _had(scope: SessionScope, store: Store) -> list[datetime]:
    now = scope.now()
    had = store.appointments(now.timestamp())
    return [datetime.fromtimestamp(due, now.tzinfo) for due, _, _ in had]


def _meant(scope: SessionScope, store: Store, said: str) -> datetime:
    """The appointment that is meant: one on a named day, or under the known name, or the next one.

    Args:
        said: Words that may name its day.

    Raises:
        ToolError: There is no appointment.
    """
    now = scope.now()
    had = store.appointments(now.timestamp())
    days = [first for _, first in _days_named(said, now)]
    on = [one for one in had if datetime.fromtimestamp(one[0], now.tzinfo).date() in days]
    named = [one for one in had if one[1] == scope.known.get("name")]
    for due, _, _ in (on or named or had)[:1]:
        return datetime.fromtimestamp(due, now.tzinfo)
    raise _none(scope)


def _none(scope: SessionScope) -> ToolError:
    name = scope.known.get("name", "")
    return ToolError(
        f"I find no appointment under {name}." if name else "I see no appointment yet."
    )


def _told(day: date) -> str:
    return f"{day:%A}, {day:%B} {day.day}"
