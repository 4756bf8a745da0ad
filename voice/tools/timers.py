"""Timers, alarms and reminders: set, listed, cancelled. `ringer` tells them when they are due."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from voice.tools import dates, parsing, phrasing
from voice.tools.registry import ToolError, tool
from voice.tools.ringer import Ringer, timer_name
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, AlertKind, Store

_LONGEST_TIMER = timedelta(days=7)
# A reminder for "tomorrow at five" means the afternoon; an alarm for then means the morning.
_FIRST_REMINDER_HOUR = 7
_EVERY_ONE = re.compile(r"(?:all|both|every|each)(?: of)?(?: (?:them|the|my|our))?")


@tool()
def set_timer(
    duration: str, name: str = "", *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Start a countdown timer."""
    length = parsing.duration(duration)
    if length > _LONGEST_TIMER:
        raise ToolError("A timer can run for 7 days at most.")
    label = _bare(name)
    due = scope.now().timestamp() + length.total_seconds()
    store.add_alert(AlertKind.TIMER, label, due, scope.session_id, length.total_seconds())
    ringer.wake()
    subject = f"{label} timer" if label else "timer"
    return f"{phrasing.sentence(subject)} set for {phrasing.duration(length)}."


@tool(read_only=True)
def list_timers(*, scope: SessionScope, store: Store) -> str:
    """Say which timers are running."""
    timers = _running(store, scope)
    if not timers:
        return "No timers are running."
    described = "; ".join(_with_time_left(timer, scope.now()) for timer in timers)
    return f"{phrasing.counted(len(timers), 'timer')}: {described}."


@tool()
def cancel_timer(name: str = "", *, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Stop a running timer."""
    timers = _running(store, scope)
    label = _bare(name)
    every_one = _EVERY_ONE.fullmatch(label) is not None
    if not timers:
        named = label and not every_one
        raise ToolError(f"There is no {label} timer." if named else "No timer is running.")
    if every_one:
        chosen = timers
    elif label:
        chosen = _called(label, timers)[-1:]
        if not chosen:
            raise ToolError(f"There is no {label} timer.")
    elif len(timers) == 1:
        chosen = timers
    else:
        names = phrasing.joined([timer_name(timer) for timer in timers], last="or")
        raise ToolError(f"Several timers are running. Which one: the {names}?")
    cancelled = [timer for timer in chosen if store.remove_alert(timer.id)]
    ringer.wake()
    if len(cancelled) > 1:
        return f"{len(cancelled)} timers cancelled."
    subject = f"{chosen[0].label} timer" if chosen[0].label else "timer"
    return f"{phrasing.sentence(subject)} cancelled."


@tool()
def set_alarm(when: str, *, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Set an alarm clock."""
    now = scope.now()
    asked = dates.moment(when, now)
    if not asked.time_said:
        raise ToolError("At what time?")
    store.add_alert(AlertKind.ALARM, "", asked.moment.timestamp(), scope.session_id)
    ringer.wake()
    return f"Alarm set for {phrasing.moment(asked.moment, now)}."


@tool()
def set_reminder(
    text: str, when: str = "", *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Remember something for the user."""
    what = re.sub(r"^(?:to|that|about) ", "", text.strip().rstrip("."))
    if not when:
        store.add_alert(AlertKind.REMINDER, what, None, scope.session_id)
        return f"Reminder noted: {what}."
    now = scope.now()
    moment = dates.moment(when, now, first_hour=_FIRST_REMINDER_HOUR).moment
    store.add_alert(AlertKind.REMINDER, what, moment.timestamp(), scope.session_id)
    ringer.wake()
    return f"Reminder set for {phrasing.moment(moment, now)}: {what}."


@tool(read_only=True)
def list_reminders(*, scope: SessionScope, store: Store) -> str:
    """Say what reminders there are."""
    reminders = store.alerts(AlertKind.REMINDER)
    if not reminders:
        return "You have no reminders."
    now = scope.now()
    described = []
    for reminder in reminders:
        if reminder.due is None:
            described.append(reminder.label)
        else:
            due = datetime.fromtimestamp(reminder.due, now.tzinfo)
            described.append(f"{reminder.label}, {phrasing.moment(due, now)}")
    return f"{phrasing.counted(len(reminders), 'reminder')}: {'; '.join(described)}."


def _running(store: Store, scope: SessionScope) -> list[Alert]:
    """Timers that are still counting; one that is due but has not been told is over."""
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


def _called(label: str, timers: list[Alert]) -> list[Alert]:
    """Timers of that name, or, as in "the ten minute one", of that length."""
    named = [timer for timer in timers if _singular(timer.label) == _singular(label)]
    if named:
        return named
    try:
        length_s = parsing.duration(label).total_seconds()
    except ToolError:
        return []
    return [timer for timer in timers if not timer.label and timer.length_s == length_s]


def _bare(name: str) -> str:
    """A timer's name without what people say around it: "the pasta timer" → "pasta"."""
    said = re.sub(r"\b(?:timers?|please)\b", "", name.lower())
    return re.sub(r"^(?:the|my|a|an)\b", "", said.strip()).strip()


def _singular(label: str) -> str:
    return label.removesuffix("s")
