"""One session's tools at work: slow ones are bridged, results told, drafts' results taken over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from voice.dialogue.tool_calls import signature
from voice.inputs import EndRequested, Input, ToolAnswered, ToolFinished, ToolProgressed, ToolSlow
from voice.session.preemptive_generation import PreemptiveGeneration
from voice.tools import Progress, SessionScope, Toolbox
from voice.types import ToolCall, ToolResult


class ToolRuns:
    """Runs what the conversation asks for.

    Args:
        toolbox: Of all conversations.
        scope: This one.
        ahead: Has the results of what drafts have read.
        tell: Takes what the conversation has to know.
        slow_s: Seconds after which a tool counts as slow; 0 never.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        scope: SessionScope,
        ahead: PreemptiveGeneration,
        tell: Callable[[Input], None],
        slow_s: float,
    ) -> None:
        self._toolbox = toolbox
        self._scope = scope
        self._ahead = ahead
        self._tell = tell
        self._slow_s = slow_s
        self._waiting: dict[str, ToolCall] = {}
        self._wished: dict[str, str] = {}

    async def run(self, reply_id: str, call: ToolCall, key: str) -> None:
        """Run a call until its result is told, and for one that took too long its outcome."""
        self._waiting[key] = call
        try:
            async with asyncio.TaskGroup() as group:
                slow = group.create_task(self._watch(reply_id, call.call_id))
                result = await self._result(reply_id, call, key)
                slow.cancel()
        finally:
            self._waiting.pop(key, None)
        self._report_wish(key)
        self._tell(ToolAnswered(reply_id, result))
        if result.unfinished:
            outcome = await self._toolbox.outcome(call, self._scope, key)
            self._report_wish(key)
            self._tell(ToolFinished(outcome))

    def cancel(self, key: str) -> None:
        """Stop a call; its result says so."""
        self._toolbox.cancel(self._scope, key)
        if key in self._waiting:
            # It may have been begun by a draft.
            self._toolbox.cancel(self._scope, signature(self._waiting[key]))

    async def _result(self, reply_id: str, call: ToolCall, key: str) -> ToolResult:
        if self._toolbox.is_read_only(call.name):
            ready = await self._ahead.result(call)
            if ready is not None:
                return ready
        else:
            self._ahead.forget_results()
        loop = asyncio.get_running_loop()

        def report(text: str) -> None:
            progressed = ToolProgressed(reply_id, call.call_id, text)
            loop.call_soon_threadsafe(self._tell, progressed)

        return await self._toolbox.run(call, self._scope, key, Progress(report))

    async def _watch(self, reply_id: str, call_id: str) -> None:
        if self._slow_s:
            await asyncio.sleep(self._slow_s)
            self._tell(ToolSlow(reply_id, call_id))

    def _report_wish(self, key: str) -> None:
        """What a tool wants to become of the session; said ahead of its result.

        A call that repeats another is not run again, but wants the same: the user may have talked
        over the goodbye, which takes the first wish back.
        """
        if self._scope.transfer_to is not None:
            self._wished[key] = "transferred"
        elif self._scope.end_requested:
            self._wished[key] = "ended by the agent"
        self._scope.end_requested, self._scope.transfer_to = False, None
        if key in self._wished:
            self._tell(EndRequested(self._wished[key]))
