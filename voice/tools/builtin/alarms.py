"""Alarms, for once or repeating: set, listed, moved, cancelled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated

from voice.tools.builtin.alerts import (
    EVERY_ONE,
    cancel,
    change,
    due_at,
    every_one,
    listed,
    moment_due,
    moved,
    only,
    when_due,
)
from voice.tools.registry import Readable, ToolError, Unreadable, tool
from voice.tools.ringer import Ringer
from voice.tools.scope import SessionScope
from voice.tools.spoken_dates import may_mean, pushed
from voice.tools.store import Alert, AlertKind, Store

_WAKING = re.compile(r"\b(?:wak(?:e|ing)|get(?:ting)? up|be up)\b")
_EVENING = 16
"""The hour from which an alarm that wakes is moved to the morning; before it, it may end a nap."""
_UNSET = Alert(0, AlertKind.ALARM, "", None, 0.0, "")
# "An hour later" can only be read for an alarm that has a time.
_SET = replace(_UNSET, due=datetime(9000, 1, 1).timestamp())
_When = Annotated[str, Readable(lambda said, now: _timed(_UNSET, said, now), "For what time?")]
_To = Annotated[
    str, Readable(lambda said, now: _timed(_SET, said, now), "To what time?", refuses=False)
]


@tool()
def set_alarm(when: _When, *, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Set an alarm clock."""
    now = scope.now()
    alarm = _timed(_UNSET, when, now)
    if _WAKING.search(next(iter(scope.said), "").lower()):
        alarm = _in_the_morning(alarm, when, now)
    store.add_alert(alarm.kind, "", alarm.due, scope.session_id, repeat=alarm.repeat)
    ringer.wake()
    return f"Alarm set for {when_due(alarm, now)}."


@tool(read_only=True)
def list_alarms(*, scope: SessionScope, store: Store) -> str:
    """Say which alarms are set."""
    now = scope.now()
    alarms = store.alerts(AlertKind.ALARM)
    return listed(alarms, "No alarms are set.", lambda alarm: when_due(alarm, now))


@tool()
def change_alarm(
    to: _To, when: str = "", *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Move an alarm to another time."""
    now = scope.now()
    alarm = _chosen(_bare(when), store.alerts(AlertKind.ALARM), now)
    changed = _timed(alarm, pushed(to, next(iter(scope.said), "")), now)
    kept = change(store, alarm, changed, scope, "No alarm is set.")
    ringer.wake()
    if kept:
        return f"Alarm set for {when_due(changed, now)}, and still for {when_due(kept, now)}."
    return f"Alarm moved from {when_due(alarm, now)} to {when_due(changed, now)}."


@tool(undoes=True)
def cancel_alarm(when: str = "", *, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Delete an alarm."""
    now = scope.now()
    alarms = store.alerts(AlertKind.ALARM)
    said = _bare(when)
    if alarms and EVERY_ONE.fullmatch(said):
        chosen = every_one(alarms, scope, lambda alarm: when_due(alarm, now), "when")
    else:
        chosen = [_chosen(said, alarms, now)]
    cancelled, still = cancel(store, chosen, (said, *scope.said[:1]), now)
    ringer.wake()
    if len(cancelled) > 1:
        return f"{len(cancelled)} alarms cancelled{still}."
    return f"Alarm for {when_due(cancelled[0], now)} cancelled{still}."


def _timed(alarm: Alert, said: str, now: datetime) -> Alert:
    timed, time_said = moved(alarm, said, now)
    if not time_said:
        raise Unreadable("time", said, "At what time?")
    return timed


def _in_the_morning(alarm: Alert, said: str, now: datetime) -> Alert:
    """An alarm that wakes, in the morning rather than the evening: "seven" is 7 a.m."""
    due = moment_due(alarm, now)
    morning = due + timedelta(hours=12)
    if alarm.repeat or due.hour < _EVENING or not may_mean(said, morning, now):
        return alarm
    return replace(alarm, due=morning.timestamp())


def _chosen(said: str, alarms: Sequence[Alert], now: datetime) -> Alert:
    """The alarm that the words name, or the only one.

    Raises:
        ToolError: There is none, or several may be meant.
    """
    if not alarms:
        raise ToolError("No alarm is set.")
    named = said and EVERY_ONE.fullmatch(said) is None
    found = due_at(said, alarms, now) if named else alarms
    if not found:
        raise ToolError(f"There is no alarm for {said}.")
    return only(found, "Several alarms are set.", lambda alarm: when_due(alarm, now), "when")


def _bare(said: str) -> str:
    """A time without the words around it: "the seven o'clock alarm" → "seven o'clock"."""
    words = re.sub(r"\b(?:alarms?|one|please)\b$", "", said.lower().strip().rstrip(".")).strip()
    return re.sub(r"^(?:(?:the|my|for|at|one|alarm|set|from)\b ?)+", "", words).strip()
