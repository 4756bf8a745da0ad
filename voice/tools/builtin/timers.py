"""Timers: set, listed, made longer or shorter, cancelled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated

from voice.tools import phrasing, spoken_numbers
from voice.tools.builtin.alerts import EVERY_ONE, cancel, every_one, listed, moment_due, only
from voice.tools.registry import Readable, ToolError, Unreadable, tool
from voice.tools.ringer import Ringer, timer_name
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, AlertKind, Store

_LONGEST_TIMER = timedelta(days=7)
_MORE = re.compile(r"\b(?:add|put|give|plus|another|an? extra|extra|more|longer)\b")
_LESS = re.compile(r"\b(?:less|shorter|fewer|minus|take|off|subtract)\b")
_ADDING = re.compile(
    r"\b(?:add|another|extra|more|longer|plus)\b|\b(?:extend|lengthen|increase)\b.* by\b"
)
_TAKING = re.compile(
    r"\b(?:less|shorter|fewer|minus|subtract)\b|\btake\b.* off\b|\b(?:shorten|reduce|cut)\b.* by\b"
)
"""Like `_MORE` and `_LESS`, for a whole request, in which "put" and "give" may mean anything."""


def _length(said: str, corrected: Alert | None = None) -> timedelta:
    """A timer's length; a bare number has the unit of the timer that it corrects, or minutes."""
    try:
        return _checked(spoken_numbers.duration(said))
    except Unreadable:
        number = spoken_numbers.amount(said, "duration")
        # "A" is read as an amount as well, but is no length.
        if number < 1 or not re.search(r"\d", spoken_numbers.digits(said)):
            raise
    unit = _unit(corrected.length_s if corrected else 0)
    return _checked(spoken_numbers.duration(f"{number} {unit}"))


def _unit(length_s: float) -> str:
    if 0 < length_s < 60:
        return "seconds"
    return "hours" if length_s and length_s % 3600 == 0 else "minutes"


_Length = Annotated[
    str,
    Readable(
        lambda said, _: _checked(spoken_numbers.duration(said)),
        "For how long?",
        hardly=lambda said, _: _length(said),
    ),
]
_Change = Annotated[
    str,
    Readable(lambda said, _: _change(said, None), "How long should the timer run?", refuses=False),
]


@tool()
def set_timer(
    duration: _Length, name: str = "", *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Start a countdown timer."""
    corrected = scope.removed if isinstance(scope.removed, Alert) else None
    scope.removed = None
    length = _length(duration, corrected)
    label = _bare(name) or (corrected.label if corrected else "")
    due = scope.now().timestamp() + length.total_seconds()
    store.add_alert(AlertKind.TIMER, label, due, scope.session_id, length.total_seconds())
    ringer.wake()
    return f"{_subject(label)} set for {phrasing.duration(length)}."


@tool(read_only=True)
def list_timers(*, scope: SessionScope, store: Store) -> str:
    """Say which timers are running."""
    # "How long is left on the pasta?" asks for that timer alone.
    now, timers = scope.now(), _running(store, scope)
    newest = " ".join(scope.said[:1]).lower()
    named = [
        one for one in timers if one.label and re.search(rf"\b{re.escape(one.label)}\b", newest)
    ]
    return listed(
        named or timers, "No timers are running.", lambda timer: _with_time_left(timer, now)
    )


@tool()
def change_timer(
    duration: _Change, name: str = "", *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Make a running timer longer or shorter."""
    timer = _chosen(_bare(name), _running(store, scope), scope.now())[-1]
    now_s = scope.now().timestamp()
    assert timer.due is not None
    request = next((one for one in scope.said if duration in one), "").lower()
    left = _changed(duration, timedelta(seconds=timer.due - now_s), timer, request)
    changed = replace(
        timer, due=now_s + left.total_seconds(), length_s=timer.length_s + now_s
        + left.total_seconds() - timer.due,
    )  # fmt: skip
    if not store.change_alert(changed):
        raise ToolError("No timer is running.")
    ringer.wake()
    return f"{_subject(timer.label)} changed: {phrasing.duration(left)} left."


@tool(undoes=True)
def cancel_timer(name: str = "", *, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Stop a running timer."""
    timers = _running(store, scope)
    label = _bare(name)
    if timers and EVERY_ONE.fullmatch(label):
        chosen = every_one(timers, scope, timer_name, "name")
    else:
        chosen = _chosen(label, timers, scope.now())
    cancelled, _ = cancel(store, chosen, (), scope.now())
    scope.removed = cancelled[-1]
    ringer.wake()
    if len(cancelled) > 1:
        return f"{len(cancelled)} timers cancelled."
    return f"{_subject(cancelled[0].label)} cancelled."


def _chosen(label: str, timers: Sequence[Alert], now: datetime) -> list[Alert]:
    """The timer of a name, or the only one.

    Raises:
        ToolError: There is none, or there are several and none was named.
    """

    def closer(timer: Alert) -> str:
        return f"{timer_name(timer)} until {phrasing.time(moment_due(timer, now))}"

    named = label and EVERY_ONE.fullmatch(label) is None
    found = [one for one in timers if _bare(closer(one)) == label] or _called(label, timers)
    if named and found:
        return found[-1:]
    if named or not timers:
        raise ToolError(f"There is no {label} timer." if named else "No timer is running.")
    several = "Several timers are running."
    return [only(timers, several, timer_name, "name", article="the ", closer=closer)]


def _change(said: str, timer: Alert | None) -> timedelta:
    """The length of time in the words for a change: "five minutes more"."""
    plain = spoken_numbers.digits(said)
    return _length(" ".join(_LESS.sub(" ", _MORE.sub(" ", plain)).split()), timer)


def _changed(said: str, left: timedelta, timer: Alert, request: str) -> timedelta:
    """How long a timer still runs after a change to more, less or another time."""
    plain, length = spoken_numbers.digits(said), _change(said, timer)
    if _LESS.search(plain) or _TAKING.search(request):
        if length >= left:
            raise ToolError("The timer has less time left than that.")
        return left - length
    return _checked(left + length if _MORE.search(plain) or _ADDING.search(request) else length)


def _checked(length: timedelta) -> timedelta:
    if length > _LONGEST_TIMER:
        raise ToolError("A timer can run for 7 days at most.")
    return length


def _running(store: Store, scope: SessionScope) -> list[Alert]:
    """Timers that still count down; one that is due is over, announced or not."""
    now_s = scope.now().timestamp()
    return [
        timer
        for timer in store.alerts(AlertKind.TIMER)
        if timer.due is not None and timer.due > now_s
    ]


def _with_time_left(timer: Alert, now: datetime) -> str:
    assert timer.due is not None
    left = phrasing.duration(timedelta(seconds=max(1.0, timer.due - now.timestamp())))
    return f"{timer.label}, {left} left" if timer.label else f"{left} left"


def _called(label: str, timers: Sequence[Alert]) -> list[Alert]:
    """Timers of a name, or unnamed ones of a length: "the ten minute one"."""
    named = [timer for timer in timers if _singular(timer.label) == _singular(label)]
    if named:
        return named
    try:
        length_s = spoken_numbers.duration(label).total_seconds()
    except ToolError:
        return []
    return [timer for timer in timers if not timer.label and timer.length_s == length_s]


def _subject(label: str) -> str:
    return phrasing.sentence(f"{label} timer" if label else "timer")


def _bare(name: str) -> str:
    """A timer's name without the words around it: "the pasta timer" → "pasta"."""
    said = re.sub(r"\b(?:timers?|please)\b", "", name.lower())
    return re.sub(r"^(?:the|my|a|an)\b", "", said.strip()).strip()


def _singular(label: str) -> str:
    return label.removesuffix("s")
