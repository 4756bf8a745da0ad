"""Where a caller is in a flow, kept from one conversation to the next.

It is written behind every change, in a thread, the newest last; what was missed of it when a
process ends is asked for again. It knows nothing of what is said, the greeting aside.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from voice.dialogue.flow import Flow, Team, spoken
from voice.errors import StoreError
from voice.inputs import FlowResumed
from voice.tools import SessionScope, Toolbox, phrasing
from voice.tools.store import Store
from voice.types import Position

_log = logging.getLogger(__name__)


T = TypeVar("T")


class SavedFlow:
    """One conversation's; all methods are for the event loop's thread.

    Args:
        team: The agents of the conversation.
        toolbox: Has the database.
        scope: Is told what is known, and by which agent, for tools.
    """

    def __init__(self, team: Team, toolbox: Toolbox, scope: SessionScope) -> None:
        self._team = team
        self._toolbox = toolbox
        self._scope = scope
        self._store = Store(toolbox.database, scope.owner)
        self._flow: Flow | None = None
        self._looked = asyncio.Event()
        self._resumed = False
        self._newest: asyncio.Queue[Position] = asyncio.Queue(1)

    def begin(self) -> Flow | None:
        """Where the conversation stands at first; None where there is one agent without a flow."""
        if self._team.flows:
            self._flow = Flow(self._team)
        return self._flow

    async def greeting(self) -> str:
        """What is said first: to a caller who comes back, what is missing yet."""
        if self._flow is None:
            return self._team.front.greeting
        await self._looked.wait()
        if not self._resumed:
            return self._team.front.greeting
        had = phrasing.joined([*map(spoken, self._flow.position.known.values())])
        so_far = f" So far I have: {had}." if had else ""
        return f"Welcome back.{so_far} {self._flow.next_words()}"

    async def follow(self, feed: Callable[[FlowResumed], None]) -> None:
        """Go on where the caller was; then keep every change, until cancelled."""
        if self._flow is None:
            return
        try:
            await self._resume(self._flow, feed)
        finally:
            self._looked.set()
        saving: asyncio.Task[None] | None = None
        try:
            while True:
                position = await self._newest.get()
                saving = asyncio.create_task(self._keep(position))
                await asyncio.shield(saving)
        finally:
            # Who hangs up at once is to find what they said last as well.
            if saving is not None:
                await saving
            if not self._newest.empty():
                await self._keep(self._newest.get_nowait())

    def changed(self, position: Position) -> None:
        """Keep where the conversation stands by now; an older one that still waits gives way."""
        self._scope.agent, self._scope.known = position.agent, position.known
        while not self._newest.empty():
            self._newest.get_nowait()
        self._newest.put_nowait(position)

    async def _in_order(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._toolbox.flow_thread, work)

    async def _keep(self, position: Position) -> None:
        saved, now_s = self._team.saved(position), self._scope.now().timestamp()
        with suppress(StoreError):
            await self._in_order(lambda: self._store.save_flow(saved, now_s))

    async def _resume(self, flow: Flow, feed: Callable[[FlowResumed], None]) -> None:
        kept_s = self._toolbox.flows_kept_s
        after_s = self._scope.now().timestamp() - kept_s
        saved = ""
        with suppress(StoreError):
            saved = await self._in_order(lambda: self._store.flow(after_s))
        position = self._team.restored(saved) if saved else None
        self._resumed = position is not None
        feed(FlowResumed(position or flow.position))
