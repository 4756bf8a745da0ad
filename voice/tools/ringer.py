"""Timers, alarms and reminders that speak up when they are due.

A conversation iterates over `Ringer.announcements`. What is due is taken from the store, so that an
entry is told once, whichever conversation or process gets it first; one that falls due while nobody
listens waits there. The conversation that set an entry has precedence while it is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timedelta

from voice.store import Alert, AlertKind, Store
from voice.tools import phrasing

# The wall clock may be set and the machine may sleep, so no wait is trusted for longer.
_LONGEST_WAIT_S = 30.0
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
                for alert in await asyncio.to_thread(self._due, session_id):
                    # Here and not in the thread: cancelled there, the entry would be lost.
                    if self._store.take_alert(alert.id):
                        yield announcement(alert, self._now())
                await self._wait(changed)
        finally:
            del self._listening[session_id]
            # What this conversation would have told is now for the others.
            self.wake()

    def _due(self, session_id: str) -> list[Alert]:
        return [
            alert
            for alert in self._store.alerts(due_by=self._now().timestamp())
            if alert.session_id == session_id or alert.session_id not in self._listening
        ]

    async def _wait(self, changed: asyncio.Event) -> None:
        soonest = await asyncio.to_thread(self._store.next_due)
        wait_s = _LONGEST_WAIT_S
        if soonest is not None:
            # An entry that is due but another conversation's is that one's to take.
            ahead_s = soonest - self._now().timestamp()
            wait_s = min(wait_s, ahead_s) if ahead_s > 0 else wait_s
        try:
            async with asyncio.timeout(wait_s):
                await changed.wait()
        except TimeoutError:
            return


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
