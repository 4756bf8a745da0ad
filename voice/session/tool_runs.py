"""Runs one session's tool calls: reports slow ones, and uses results that drafts already have."""

from __future__ import annotations

import asyncio
from typing import Any

from voice.dialogue.commands import RunTool
from voice.inputs import EndRequested, ToolAnswered, ToolFinished, ToolProgressed, ToolSlow
from voice.session.command_runner import Feed
from voice.session.preemptive_generation import PreemptiveGeneration
from voice.tools import Progress, SessionScope, Toolbox
from voice.types import ToolResult


class _RunScope(SessionScope):
    """The conversation's scope as one call sees it.

    Calls overlap, so each has its own words of the user and its own request to end or transfer the
    conversation. Everything else is the conversation's.
    """

    __slots__ = ("_shared",)
    _OWN = ("_shared", "said", "end_requested", "transfer_to")

    def __init__(self, shared: SessionScope, said: tuple[str, ...]) -> None:
        self._shared = shared
        self.said, self.end_requested, self.transfer_to = said, False, None

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for attributes that are not set here.
        return getattr(self._shared, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._shared, name, value)


class ToolRuns:
    """Runs the calls that the conversation makes, or takes their results from drafts.

    A tool counts as slow after ``slow_s`` seconds; 0 turns that off.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        scope: SessionScope,
        drafts: PreemptiveGeneration,
        slow_s: float,
    ) -> None:
        self._toolbox = toolbox
        self._scope = scope
        self._drafts = drafts
        self._slow_s = slow_s
        self._waiting: dict[str, RunTool] = {}
        # Key of a call that ended or transferred the session → why.
        self._endings: dict[str, str] = {}

    async def run(self, run: RunTool, feed: Feed) -> None:
        """Run a call and feed its result, and, if it took too long, later its outcome."""
        call, key = run.call, run.key
        self._waiting[key] = run
        progress, scope = self._progress(run, feed), _RunScope(self._scope, run.said)
        try:
            async with asyncio.TaskGroup() as group:
                slow = group.create_task(self._report_slow(run, progress, feed))
                result = await self._result(run, scope, progress)
                slow.cancel()
        finally:
            self._waiting.pop(key, None)
        self._report_ending(key, scope, feed)
        feed(ToolAnswered(run.reply_id, result))
        if result.unfinished:
            outcome = await self._toolbox.outcome(call, self._scope, key)
            # The other way round the session would end before the outcome is said.
            feed(ToolFinished(outcome))
            self._report_ending(key, scope, feed)

    def cancel(self, key: str) -> None:
        """Stop a call; its result says so."""
        self._toolbox.cancel(self._scope, key)
        if key in self._waiting:
            # The run may have been begun by a draft.
            self._toolbox.cancel(self._scope, self._drafts.key(self._waiting[key]))

    async def _result(self, run: RunTool, scope: SessionScope, progress: Progress) -> ToolResult:
        call = run.call
        if self._toolbox.is_read_only(call.name, self._scope):
            ready = await self._drafts.result(run)
            if ready is not None:
                return ready
        else:
            self._drafts.forget_results()
        # Tools' questions for confirmation read the words from the conversation's scope.
        self._scope.said = run.said
        return await self._toolbox.run(call, scope, run.key, progress, run.beside)

    def _progress(self, run: RunTool, feed: Feed) -> Progress:
        loop = asyncio.get_running_loop()

        def report(text: str) -> None:
            loop.call_soon_threadsafe(feed, ToolProgressed(run.reply_id, run.call.call_id, text))

        return Progress(report)

    async def _report_slow(self, run: RunTool, progress: Progress, feed: Feed) -> None:
        if self._slow_s:
            await asyncio.sleep(self._slow_s)
            feed(ToolSlow(run.reply_id, run.call.call_id, progress.hinted))

    def _report_ending(self, key: str, scope: SessionScope, feed: Feed) -> None:
        """Feed that a tool wants to end or transfer the session.

        A repeated call is not run again, but its request counts again: the user may have talked
        over the goodbye, which withdraws the first request.
        """
        if scope.transfer_to is not None:
            self._endings[key] = "transferred"
        elif scope.end_requested:
            self._endings[key] = "ended by the agent"
        if key in self._endings:
            feed(EndRequested(self._endings[key]))
