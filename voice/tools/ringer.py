"""Timers, alarms and reminders that speak up when they are due.

A conversation iterates over `Ringer.announcements`. What is due is taken from the store, so that an
entry is told once, whichever conversation or process gets it first; one that falls due while nobody
listens waits there. The conversation that set an entry has precedence while it is open. A store
that does not answer, because another process has locked it, say, is asked again until it does.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from datetime import datetime, timedelta

from voice.tools import phrasing
from voice.tools.store import Alert, AlertKind, Store

logger = logging.getLogger(__name__)

# The wall clock may be set and the machine may sleep, so no wait is trusted for longer.
_LONGEST_WAIT_S = 30.0
# Each try may keep the store busy for as long as it waits for a lock.
_RETRY_S = 5.0
_LATE_S = 60.0


class Ringer:
    """Tells open conversations what is due.

    Args:
        store: Where the entries are.
        now: The clock; tests put their own here and call `wake` when they move it.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._listening: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
        self._failing: set[str] = set()

    def wake(self) -> None:
        """Look again for what is due; from any thread, after the store or the clock has changed."""
        for loop, changed in list(self._listening.values()):
            loop.call_soon_threadsafe(changed.set)

    async def announcements(self, session_id: str) -> AsyncGenerator[str, None]:
        """What is to be said in a conversation, each when it is due; never ends by itself.

        Args:
            session_id: The conversation; it counts as open while this is iterated.

        Raises:
            ValueError: The conversation listens already.
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
            # What this conversation would have told is now for the others.
            self.wake()

    async def _next(self, session_id: str) -> Alert | float:
        """An entry taken to be told now, or the seconds after which to look again."""
        try:
            for alert in await asyncio.to_thread(self._due, session_id):
                if await self._take(alert):
                    self._failing.discard(session_id)
                    return alert
            soonest = await asyncio.to_thread(self._store.next_due)
        except sqlite3.Error as error:
            if not self._failing:
                logger.error("timers and reminders are not told until this is over: %s", error)
            self._failing.add(session_id)
            return _RETRY_S
        self._failing.discard(session_id)
        # An entry that is due but another conversation's is that one's to take.
        ahead_s = 0.0 if soonest is None else soonest - self._now().timestamp()
        return min(_LONGEST_WAIT_S, ahead_s) if ahead_s > 0 else _LONGEST_WAIT_S

    async def _take(self, alert: Alert) -> bool:
        taking = asyncio.ensure_future(asyncio.to_thread(self._store.take_alert, alert.id))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # Else the entry would be lost: taken for a conversation that is over.
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
    """The sentence that tells of an entry; one told late says when it was due.

    Args:
        alert: An entry with a moment.
        now: Aware.

    Raises:
        ValueError: The entry has no moment.
    """
    if alert.due is None:
        raise ValueError("alert.due: got None; expected a moment")
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
    """What a timer is called: "pasta timer", or by its length, "10 minute timer"."""
    if alert.label:
        return f"{alert.label} timer"
    length = phrasing.duration(timedelta(seconds=alert.length_s))
    return " ".join(word.removesuffix("s") for word in length.split()) + " timer"


def _past_moment(due: datetime, now: datetime) -> str:
    if due.date() == now.date():
        return phrasing.time(due)
    return phrasing.moment(due, now)
