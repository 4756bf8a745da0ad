"""One run for each key: what has side effects is begun once, finished, and remembered.

It knows nothing of what a run does. A key is a conversation's id and what names the call in it. A
client that connects anew has a new conversation, and so no key of the old one's: what had begun
there is finished, and nothing of it is begun again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from voice.types import ToolResult

Key = tuple[str, str]

_KEPT = 1024


class Runs:
    """The runs of all conversations.

    Args:
        timeout_s: Longest that a result is waited for.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        # The oldest finished one is dropped beyond the limit.
        self._runs: OrderedDict[Key, asyncio.Task[ToolResult]] = OrderedDict()
        self._reading: set[tuple[Key, asyncio.Task[ToolResult]]] = set()

    async def once(
        self, key: Key, work: Callable[[], Coroutine[Any, Any, ToolResult]]
    ) -> ToolResult | None:
        """The result of the one run of a key, which is begun if there is none yet.

        Returns:
            None when it takes too long; it goes on.

        Raises:
            Cancelled: It was cancelled by `cancel`, now or before.
        """
        run = self._runs.get(key)
        if run is None:
            # Not of the caller's task group: it has to be finished when the caller is cancelled.
            run = self._runs[key] = asyncio.create_task(work())
            self._forget_oldest()
        await asyncio.wait({run}, timeout=self._timeout_s)
        return _result(run) if run.done() else None

    async def reading(
        self, key: Key, work: Callable[[], Coroutine[Any, Any, ToolResult]]
    ) -> ToolResult | None:
        """The result of a run without side effects, which ends with its caller.

        Returns:
            None when it took too long and was given up.

        Raises:
            Cancelled: It was cancelled by `cancel`.
        """
        run = asyncio.create_task(work())
        self._reading.add((key, run))
        try:
            await asyncio.wait({run}, timeout=self._timeout_s)
            return _result(run) if run.done() else None
        finally:
            run.cancel()
            self._reading.discard((key, run))

    async def outcome(self, key: Key) -> ToolResult:
        """What a run of `once` brings, however long it takes.

        Raises:
            KeyError: There is none.
            Cancelled: It was cancelled by `cancel`.
        """
        run = self._runs[key]
        await asyncio.wait({run})
        return _result(run)

    def cancel(self, key: Key) -> None:
        """Cancel what runs under a key; nothing where it is over or was never begun."""
        for run in [run for other, run in self._reading if other == key]:
            run.cancel()
        if key in self._runs:
            self._runs[key].cancel()

    async def drain(self) -> None:
        """Wait until all that has begun is finished."""
        running = [run for run in self._runs.values() if not run.done()]
        if running:
            await asyncio.wait(running)

    def _forget_oldest(self) -> None:
        if len(self._runs) > _KEPT:
            oldest = next((key for key, run in self._runs.items() if run.done()), None)
            if oldest is not None:
                del self._runs[oldest]


class Cancelled(Exception):
    """The run was cancelled by `Runs.cancel`."""


def _result(run: asyncio.Task[ToolResult]) -> ToolResult:
    if run.cancelled():
        raise Cancelled
    return run.result()
