"""A caller's position in a flow, kept from one conversation to the next.

It is written in a thread after every change, in order; values that are lost when a process ends are
asked for again. A flow belongs to its conversation while that lasts, so somebody who calls twice at
once has two flows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from voice.dialogue.flow import Flow
from voice.dialogue.flow_words import spoken
from voice.dialogue.team import Team
from voice.errors import StoreError
from voice.inputs import FlowResumed
from voice.tools import SessionScope, Toolbox, phrasing
from voice.tools.store import Store
from voice.types import Position

_LEASE_S = 30.0
"""A flow not renewed for this long is free: the process of its conversation has ended."""
_HOLD_S = 10.0


class SavedFlow:
    """The flow of one conversation; all methods are for the event loop's thread.

    Args:
        team: The agents of the conversation.
        toolbox: Has the database.
        scope: Given the current agent and the known values, for tools.
    """

    def __init__(self, team: Team, toolbox: Toolbox, scope: SessionScope) -> None:
        self._team = team
        self._toolbox = toolbox
        self._scope = scope
        self._store = Store(toolbox.database, scope.owner)
        self._session_id = scope.session_id
        self._flow: Flow | None = None
        self._looked = asyncio.Event()
        self._kept, self._resumed = False, False

    def begin(self) -> Flow | None:
        """The flow at its beginning; None if the team has none."""
        if self._team.flows:
            self._flow = Flow(self._team)
        return self._flow

    async def greeting(self) -> str:
        """What the agent says first; to a caller who comes back, what is still missing."""
        if self._flow is None:
            return self._team.front.greeting
        await self._looked.wait()
        if not self._resumed:
            return self._team.front.greeting
        had = phrasing.joined([*map(spoken, self._flow.position.known.values())])
        so_far = f" So far I have: {had}." if had else ""
        return f"Welcome back.{so_far} {self._flow.next_words()}"

    def changed(self, position: Position) -> None:
        """Save the current position.

        It is queued for the thread at once, so a caller who hangs up and comes back reads it.
        """
        self._scope.agent, self._scope.known = position.agent, position.known
        saved, now_s = self._team.saved(position), self._now_s()
        self._kept = bool(saved)
        self._behind(self._store.save_flow, saved, now_s, self._session_id, now_s + _LEASE_S)

    async def run(self, feed: Callable[[FlowResumed], None]) -> None:
        """Resume the saved position, if there is one, else begin the flow; then hold it."""
        if self._flow is None:
            return
        try:
            await self._resume(self._flow, feed)
            while True:
                await asyncio.sleep(_HOLD_S)
                if self._kept:
                    # Wait, so that renewals do not pile up if the store is slow.
                    await asyncio.wrap_future(self._hold(self._now_s() + _LEASE_S))
        finally:
            # Release it, even if the store's answer never arrived: a flow may have been taken.
            if self._kept or not self._looked.is_set():
                self._hold(0.0)
            self._looked.set()

    async def _resume(self, flow: Flow, feed: Callable[[FlowResumed], None]) -> None:
        now_s, saved = self._now_s(), ""
        after_s = now_s - self._toolbox.flows_kept_s
        with suppress(StoreError):
            saved = await asyncio.get_running_loop().run_in_executor(
                self._toolbox.flow_thread,
                self._store.take_flow,
                *(self._session_id, now_s, now_s + _LEASE_S, after_s),
            )
        position = self._team.restored(saved) if saved else None
        self._kept, self._resumed = self._kept or bool(saved), position is not None
        feed(FlowResumed(position or flow.position))
        self._looked.set()

    def _now_s(self) -> float:
        return self._scope.now().timestamp()

    def _hold(self, until_s: float) -> Future[None]:
        return self._behind(self._store.hold_flow, self._session_id, until_s)

    def _behind(self, write: Callable[..., None], *given: object) -> Future[None]:
        """Queue a write behind earlier ones."""

        def attempt() -> None:
            with suppress(StoreError):
                write(*given)

        return self._toolbox.flow_thread.submit(attempt)
