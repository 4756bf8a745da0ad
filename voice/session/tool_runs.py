"""One session's runs of tools: slow ones are reported, and what drafts have read is used."""

from __future__ import annotations

import asyncio

from voice.dialogue.commands import RunTool
from voice.inputs import EndRequested, ToolAnswered, ToolFinished, ToolProgressed, ToolSlow
from voice.session.command_runner import Feed
from voice.session.preemptive_generation import PreemptiveGeneration
from voice.tools import Progress, SessionScope, Toolbox
from voice.types import ToolResult


class ToolRuns:
    """Runs what the conversation asks for, or takes what drafts have read.

    A tool counts as slow after ``slow_s`` seconds; 0 is never.
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
        # Calls that ended the session or handed it on → why.
        self._endings: dict[str, str] = {}

    async def run(self, run: RunTool, feed: Feed) -> None:
        """Run a call and feed its result, and for one that took too long its outcome as well."""
        call, key = run.call, run.key
        self._waiting[key] = run
        progress = self._progress(run, feed)
        try:
            async with asyncio.TaskGroup() as group:
                slow = group.create_task(self._report_slow(run, progress, feed))
                result = await self._result(run, progress)
                slow.cancel()
        finally:
            self._waiting.pop(key, None)
        self._report_ending(key, feed)
        feed(ToolAnswered(run.reply_id, result))
        if result.unfinished:
            outcome = await self._toolbox.outcome(call, self._scope, key)
            self._report_ending(key, feed)
            feed(ToolFinished(outcome))

    def cancel(self, key: str) -> None:
        """Stop a call; its result says so."""
        self._toolbox.cancel(self._scope, key)
        if key in self._waiting:
            # It may have been begun by a draft.
            self._toolbox.cancel(self._scope, self._drafts.key(self._waiting[key]))

    async def _result(self, run: RunTool, progress: Progress) -> ToolResult:
        call = run.call
        if self._toolbox.is_read_only(call.name):
            ready = await self._drafts.result(run)
            if ready is not None:
                return ready
        else:
            self._drafts.forget_results()
        self._scope.said = run.said
        return await self._toolbox.run(call, self._scope, run.key, progress, run.beside)

    def _progress(self, run: RunTool, feed: Feed) -> Progress:
        loop = asyncio.get_running_loop()

        def report(text: str) -> None:
            loop.call_soon_threadsafe(feed, ToolProgressed(run.reply_id, run.call.call_id, text))

        return Progress(report)

    async def _report_slow(self, run: RunTool, progress: Progress, feed: Feed) -> None:
        if self._slow_s:
            await asyncio.sleep(self._slow_s)
            feed(ToolSlow(run.reply_id, run.call.call_id, progress.hinted))

    def _report_ending(self, key: str, feed: Feed) -> None:
        """Feed that a tool wants to end the session or hand it on; goes before its result.

        A call that repeats another is not run again, but wants the same: the user may have talked
        over the goodbye, which takes the first request back.
        """
        if self._scope.transfer_to is not None:
            self._endings[key] = "transferred"
        elif self._scope.end_requested:
            self._endings[key] = "ended by the agent"
        self._scope.end_requested, self._scope.transfer_to = False, None
        if key in self._endings:
            feed(EndRequested(self._endings[key]))
