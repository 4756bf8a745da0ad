"""Announces timers, alarms and reminders when they are due.

A session iterates over `Ringer.announcements`, which yields only its owner's entries. A session
takes an entry that is due, so that only one session of one process announces it. The entry counts
as told once it was heard; otherwise the owner's next session announces it, as it does an entry that
falls due while no session is open. A session holds what it has taken while it waits to be said;
what a crashed server had taken is taken over by others.

A repeating entry that was told is due again at its next moment; moments that nobody heard are
announced as one. The session that set an entry has precedence while it is open. If the store fails,
for example because another process has locked it, it is asked again until it answers. If it can
only be read, for example because the disk is full, an alarm rings all the same and is marked as
told later.
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
"""Between two looks at the store: the wall clock may be set, and the machine may sleep."""
_RETRY_S = 5.0
"""Pause after the store failed; each try may wait for its lock."""
_LEASE_S = 30.0
"""A taken entry that is not held again within this time is free: its process may have crashed."""
_HOLD_S = 10.0
_LATE_S = 60.0
"""An announcement that is later than this says when the entry was due."""


class Ringer:
    """Announces due entries in open sessions; whoever sets the clock ``now`` must call `wake`."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now
        self._listening: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
        self._taken: set[int] = set()
        self._heard: dict[int, tuple[Alert, Store, float | None]] = {}

    def wake(self) -> None:
        """Look for due entries again, after the store or the clock has changed; from any thread."""
        for loop, changed in list(self._listening.values()):
            loop.call_soon_threadsafe(changed.set)

    async def announcements(
        self, session: SessionScope
    ) -> AsyncGenerator[str, bool | asyncio.Future[bool] | None]:
        """Yield sentences to speak in a session, each when its entry is due; never ends by itself.

        The session counts as open while this is iterated. For each sentence the session sends back
        whether it was heard, or a future of that; an entry that was not is left to another session.

        Raises:
            ValueError: The session already listens.
        """
        session_id, store = session.session_id, Store(self._database, session.owner)
        if session_id in self._listening:
            raise ValueError(f"session_id: got {session_id!r}, which listens already")
        changed = asyncio.Event()
        self._listening[session_id] = (asyncio.get_running_loop(), changed)
        unheard: list[Alert] = []
        tasks = [asyncio.create_task(self._hold(unheard, store))]
        try:
            while True:
                changed.clear()
                found = await self._next(session_id, store)
                if isinstance(found, Alert):
                    unheard.append(found)
                    heard = yield announcement(found, self._now())
                    if isinstance(heard, asyncio.Future):
                        told = self._tell_later(found, store, unheard, heard)
                        tasks.append(asyncio.create_task(told))
                    elif heard:
                        unheard.remove(found)
                        await self._tell(found, store)
                else:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(found):
                            await changed.wait()
        finally:
            for task in tasks:
                task.cancel()
            del self._listening[session_id]
            for alert in unheard:
                await self._put_back(alert, store)
            # The entries of this session are now for the others.
            self.wake()

    async def _next(self, session_id: str, store: Store) -> Alert | float:
        """Take and return an entry to announce now, or the seconds until the next look."""
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
            # Nobody can take it from a store that cannot be written; better twice than never.
            taken = alert.id not in self._taken
        except asyncio.CancelledError:
            # Otherwise the entry would stay taken by a session that is over.
            await asyncio.wait({taking})
            if not taking.exception() and taking.result():
                await self._put_back(alert, store)
            raise
        if taken:
            self._taken.add(alert.id)
        return taken

    async def _hold(self, taken: list[Alert], store: Store) -> None:
        """Keep other processes from taking what a session has taken."""
        while True:
            await asyncio.sleep(_HOLD_S)
            if taken:
                until_s = self._now().timestamp() + _LEASE_S
                with suppress(StoreError):
                    await asyncio.to_thread(store.hold_alerts, tuple(taken), until_s)

    async def _tell(self, alert: Alert, store: Store) -> None:
        """Mark an entry as told; shielded, as the session may end right after the last word."""
        self._heard[alert.id] = alert, store, self._due_again(alert)
        await asyncio.shield(asyncio.ensure_future(self.tell_heard()))

    async def _tell_later(
        self, alert: Alert, store: Store, unheard: list[Alert], heard: asyncio.Future[bool]
    ) -> None:
        if await heard:
            unheard.remove(alert)
            await self._tell(alert, store)

    async def tell_heard(self) -> None:
        """Mark heard entries as told; any that cannot be marked now are marked next time."""
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
    """A timer's name, "pasta timer", or else its length, "10 minute timer"."""
    if alert.label:
        return f"{alert.label} timer"
    length = phrasing.duration(timedelta(seconds=alert.length_s))
    return " ".join(word.removesuffix("s") for word in length.split()) + " timer"


def _past_moment(due: datetime, now: datetime) -> str:
    if due.date() == now.date():
        return phrasing.time(due)
    return phrasing.moment(due, now)
