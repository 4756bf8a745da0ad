"""Timers, alarms and reminders: set, listed, cancelled, and announced when they are due.

A session iterates over `Ringer.announcements`. An entry that is due is taken from the store, so
that one session of one process announces it, once; an entry that falls due while no session is open
stays there for the next. The session that set an entry has precedence while it is open. A store
that fails, for example because another process has locked it, is asked again until it answers.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from datetime import datetime, timedelta

from voice.tools import phrasing, spoken_dates, spoken_numbers
from voice.tools.registry import ToolError, tool
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, AlertKind, Store

logger = logging.getLogger(__name__)

_LONGEST_WAIT_S = 30.0
"""The wall clock may be set and the machine may sleep, so no longer wait is relied on."""
_RETRY_S = 5.0
"""Pause after the store failed; each try may wait for its lock."""
_LATE_S = 60.0
"""An announcement that is later than this says when the entry was due."""
_LONGEST_TIMER = timedelta(days=7)
_FIRST_REMINDER_HOUR = 7
"""A reminder for "tomorrow at five" means the afternoon; an alarm for then means the morning."""
_EVERY_ONE = re.compile(r"(?:all|both|every|each)(?: of)?(?: (?:them|the|my|our))?")


@tool()
def set_timer(
    duration: str, name: str = "", *, scope: SessionScope, store: Store, ringer: Ringer
) -> str:
    """Start a countdown timer."""
    length = spoken_numbers.duration(duration)
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
    asked = spoken_dates.moment(when, now)
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
    moment = spoken_dates.moment(when, now, first_hour=_FIRST_REMINDER_HOUR).moment
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


def _called(label: str, timers: list[Alert]) -> list[Alert]:
    """Timers of a name, or of a length: "the ten minute one"."""
    named = [timer for timer in timers if _singular(timer.label) == _singular(label)]
    if named:
        return named
    try:
        length_s = spoken_numbers.duration(label).total_seconds()
    except ToolError:
        return []
    return [timer for timer in timers if not timer.label and timer.length_s == length_s]


def _bare(name: str) -> str:
    """A timer's name without the words around it: "the pasta timer" → "pasta"."""
    said = re.sub(r"\b(?:timers?|please)\b", "", name.lower())
    return re.sub(r"^(?:the|my|a|an)\b", "", said.strip()).strip()


def _singular(label: str) -> str:
    return label.removesuffix("s")


class Ringer:
    """Announces in open sessions what is due; who moves ``now``, the clock, calls `wake`."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._listening: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
        self._failing: set[str] = set()

    def wake(self) -> None:
        """Look again for due entries, after the store or the clock has changed; from any thread."""
        for loop, changed in list(self._listening.values()):
            loop.call_soon_threadsafe(changed.set)

    async def announcements(self, session_id: str) -> AsyncGenerator[str, None]:
        """Sentences to be spoken in a session, each when its entry is due; never ends by itself.

        The session counts as open while this is iterated.

        Raises:
            ValueError: The session listens already.
        """
        if session_id in self._listening:
            raise ValueError(f"session_id: got {session_id!r}, which listens already")
        changed = asyncio.Event()
        self._listening[session_id] = (asyncio.get_running_loop(), changed)
        try:
            while True:
                changed.clear()
                found = await self._next(session_id)
                if isinstance(found, Alert):
                    yield announcement(found, self._now())
                else:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(found):
                            await changed.wait()
        finally:
            del self._listening[session_id]
            self._failing.discard(session_id)
            # The entries of this session are for the others now.
            self.wake()

    async def _next(self, session_id: str) -> Alert | float:
        """An entry taken to be announced now, or the seconds after which to look again."""
        try:
            for alert in await asyncio.to_thread(self._due, session_id):
                if await self._take(alert):
                    self._failing.discard(session_id)
                    return alert
            soonest = await asyncio.to_thread(self._store.next_due)
        except sqlite3.Error as error:
            if not self._failing:
                logger.error("timers and reminders wait until the store answers: %s", error)
            self._failing.add(session_id)
            return _RETRY_S
        self._failing.discard(session_id)
        # A due entry of another open session is that session's to take.
        ahead_s = 0.0 if soonest is None else soonest - self._now().timestamp()
        return min(_LONGEST_WAIT_S, ahead_s) if ahead_s > 0 else _LONGEST_WAIT_S

    async def _take(self, alert: Alert) -> bool:
        taking = asyncio.ensure_future(asyncio.to_thread(self._store.take_alert, alert.id))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # Else the entry would be lost: taken for a session that is over.
            await asyncio.wait({taking})
            with suppress(sqlite3.Error):
                if taking.result():
                    await asyncio.to_thread(self._store.put_back_alert, alert.id)
            raise

    def _due(self, session_id: str) -> list[Alert]:
        return [
            alert
            for alert in self._store.alerts(due_by=self._now().timestamp())
            if alert.session_id == session_id or alert.session_id not in self._listening
        ]


def announcement(alert: Alert, now: datetime) -> str:
    """The sentence that announces an entry; a late one says when it was due.

    Raises:
        ValueError: The entry has no due time.
    """
    if alert.due is None:
        raise ValueError("alert.due: got None; expected a time")
    due = datetime.fromtimestamp(alert.due, now.tzinfo)
    late = (now - due).total_seconds() > _LATE_S
    when = _past_moment(due, now)
    if alert.kind is AlertKind.TIMER:
        name = timer_name(alert)
        return f"Your {name} was done at {when}." if late else f"Your {name} is done."
    if alert.kind is AlertKind.ALARM:
        return f"Your alarm was for {when}." if late else f"It is {phrasing.time(due)}. Your alarm."
    return f"Reminder for {when}: {alert.label}." if late else f"Reminder: {alert.label}."


def timer_name(alert: Alert) -> str:
    """A timer's name, "pasta timer", or its length, "10 minute timer"."""
    if alert.label:
        return f"{alert.label} timer"
    length = phrasing.duration(timedelta(seconds=alert.length_s))
    return " ".join(word.removesuffix("s") for word in length.split()) + " timer"


def _past_moment(due: datetime, now: datetime) -> str:
    if due.date() == now.date():
        return phrasing.time(due)
    return phrasing.moment(due, now)
