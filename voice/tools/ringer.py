"""Announces timers, alarms and reminders when they are due.

A session iterates over `Ringer.announcements`, and is told of its owner's entries alone. An entry
that is due is taken, so that one session of one process announces it; it counts as told once it was
heard, and else is the owner's next session's, as is an entry that falls due while none is open.
Who has taken one holds it for as long as it waits to be said; of a server that has died others take
it over.
What repeats is then due again, at its next moment: moments that nobody heard are told as one. The
session that set an entry has precedence while it is open. A store that fails, for example because
another process has locked it, is asked again until it answers. An alarm rings although the store
can only be read, for example because the disk is full: it is marked as told later.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from datetime import datetime, timedelta

from voice.errors import StoreError
from voice.tools import phrasing, spoken_repeats
from voice.tools.database import Database
from voice.tools.scope import SessionScope
from voice.tools.store import Alert, AlertKind, Store

_LONGEST_WAIT_S = 30.0
"""The wall clock may be set and the machine may sleep, so no longer wait is relied on."""
_RETRY_S = 5.0
"""Pause after the store failed; each try may wait for its lock."""
_LEASE_S = 30.0
"""Another process may announce what one has taken and not held for so long: it may have crashed."""
_HOLD_S = 10.0
_LATE_S = 60.0
"""An announcement that is later than this says when the entry was due."""


class Ringer:
    """Announces in open sessions what is due; who moves ``now``, the clock, calls `wake`."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now
        self._listening: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
        self._taken: set[int] = set()
        self._heard: dict[int, tuple[Alert, Store, float | None]] = {}

    def wake(self) -> None:
        """Look again for due entries, after the store or the clock has changed; from any thread."""
        for loop, changed in list(self._listening.values()):
            loop.call_soon_threadsafe(changed.set)

    async def announcements(self, session: SessionScope) -> AsyncGenerator[str, bool | None]:
        """Sentences to be spoken in a session, each when its entry is due; never ends by itself.

        The session counts as open while this is iterated. To be sent, for each sentence, whether
        it was heard: an entry of which nobody says so is another session's to announce.

        Raises:
            ValueError: The session listens already.
        """
        session_id, store = session.session_id, Store(self._database, session.owner)
        if session_id in self._listening:
            raise ValueError(f"session_id: got {session_id!r}, which listens already")
        changed = asyncio.Event()
        self._listening[session_id] = (asyncio.get_running_loop(), changed)
        unheard: list[Alert] = []
        holding = asyncio.create_task(self._hold(unheard, store))
        try:
            while True:
                changed.clear()
                found = await self._next(session_id, store)
                if isinstance(found, Alert):
                    unheard.append(found)
                    if (yield announcement(found, self._now())):
                        unheard.remove(found)
                        await self._tell(found, store)
                else:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(found):
                            await changed.wait()
        finally:
            holding.cancel()
            del self._listening[session_id]
            for alert in unheard:
                await self._put_back(alert, store)
            # The entries of this session are for the others now.
            self.wake()

    async def _next(self, session_id: str, store: Store) -> Alert | float:
        """An entry taken to be announced now, or the seconds after which to look again."""
        now_s = self._now().timestamp()
        await self.tell_heard()
        try:
            for alert in await asyncio.to_thread(self._due, session_id, store, now_s):
                if await self._take(alert, store, now_s):
                    return alert
            soonest = await asyncio.to_thread(store.next_due, now_s)
        except StoreError:
            return _RETRY_S
        return _LONGEST_WAIT_S if soonest is None else min(_LONGEST_WAIT_S, soonest - now_s)

    async def _take(self, alert: Alert, store: Store, now_s: float) -> bool:
        work = asyncio.to_thread(store.take_alert, alert, now_s, now_s + _LEASE_S)
        taking = asyncio.ensure_future(work)
        try:
            taken = await asyncio.shield(taking)
        except StoreError as error:
            if error.passes:
                raise
            # Nobody can take it; better it rings twice than never.
            taken = alert.id not in self._taken
        except asyncio.CancelledError:
            # Else the entry would be kept for a session that is over.
            await asyncio.wait({taking})
            if not taking.exception() and taking.result():
                await self._put_back(alert, store)
            raise
        if taken:
            self._taken.add(alert.id)
        return taken

    async def _hold(self, taken: list[Alert], store: Store) -> None:
        """Keep other processes from what a session has taken."""
        while True:
            await asyncio.sleep(_HOLD_S)
            if taken:
                until_s = self._now().timestamp() + _LEASE_S
                with suppress(StoreError):
                    await asyncio.to_thread(store.hold_alerts, tuple(taken), until_s)

    async def _tell(self, alert: Alert, store: Store) -> None:
        """Mark it as told; the session may end with its last word, so nobody cancels that."""
        self._heard[alert.id] = alert, store, self._due_again(alert)
        await asyncio.shield(asyncio.ensure_future(self.tell_heard()))

    async def tell_heard(self) -> None:
        """Mark as told what was heard; what cannot be marked now is the next time."""
        for alert, store, again in list(self._heard.values()):
            with suppress(StoreError):
                await asyncio.to_thread(store.tell_alert, alert, again)
                self._heard.pop(alert.id, None)
                self._taken.discard(alert.id)

    async def _put_back(self, alert: Alert, store: Store) -> None:
        self._taken.discard(alert.id)
        with suppress(StoreError):
            await asyncio.to_thread(store.put_back_alert, alert)

    def _due_again(self, alert: Alert) -> float | None:
        if not alert.repeat or alert.due is None:
            return None
        now = self._now()
        moment = datetime.fromtimestamp(alert.due, now.tzinfo)
        return spoken_repeats.after(alert.repeat, moment, now).timestamp()

    def _due(self, session_id: str, store: Store, now_s: float) -> list[Alert]:
        return [
            alert
            for alert in store.alerts(due_by=now_s)
            if alert.id not in self._taken
            and (alert.session_id == session_id or alert.session_id not in self._listening)
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
