"""Where a caller is in a flow, kept from one conversation to the next.

It is written behind every change, in a thread, the newest last; what was missed of it when a
process ends is asked for again. It knows nothing of what is said, the greeting aside.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from voice.dialogue.flow import Flow, Team, spoken
from voice.errors import StoreError
from voice.inputs import FlowResumed
from voice.tools import SessionScope, Toolbox, phrasing
from voice.tools.store import Store
from voice.types import Position


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

    def changed(self, position: Position) -> None:
        """Keep where the conversation stands by now.

        It is in the thread's queue at once: who hangs up and comes back reads behind it.
        """
        self._scope.agent, self._scope.known = position.agent, position.known
        saved, now_s = self._team.saved(position), self._scope.now().timestamp()

        def save() -> None:
            with suppress(StoreError):
                self._store.save_flow(saved, now_s)

        self._toolbox.flow_thread.submit(save)

    async def resume(self, feed: Callable[[FlowResumed], None]) -> None:
        """Go on where the caller was, if that is kept; else from the beginning."""
        flow, saved = self._flow, ""
        if flow is None:
            return
        try:
            loop = asyncio.get_running_loop()
            after_s = self._scope.now().timestamp() - self._toolbox.flows_kept_s
            with suppress(StoreError):
                saved = await loop.run_in_executor(
                    self._toolbox.flow_thread, self._store.flow, after_s
                )
            position = self._team.restored(saved) if saved else None
            self._resumed = position is not None
            feed(FlowResumed(position or flow.position))
        finally:
            self._looked.set()
