"""An event loop on whose clock a busy machine does not stop the program for long.

For tests of bounds in time, where all that is timed runs on the one loop: `steady` marks such a
test. Time passes as it does, but however long the machine does something else, its clock moves on
by `MOST_S` at most. So what is due later does not become due together with what is due before it.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any

LOOKS_EVERY_S = 0.01
MOST_S = 2 * LOOKS_EVERY_S


class SteadyLoop(asyncio.SelectorEventLoop):
    """See the module; `time` counts from 0 in seconds."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._looked_s = time.monotonic()
        super().__init__(_Looking())

    def time(self) -> float:
        """Seconds since the loop was made, less those that the program was stopped."""
        before_s, self._looked_s = self._looked_s, time.monotonic()
        self._now_s += min(self._looked_s - before_s, MOST_S)
        return self._now_s


class _Looking(selectors.DefaultSelector):
    """Never waits for long, so that waiting is no stop."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(LOOKS_EVERY_S if timeout is None else min(timeout, LOOKS_EVERY_S))


def steady(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Let a test that is a coroutine function run on such a loop."""

    @functools.wraps(test)
    def running(*given: Any, **named: Any) -> None:
        with asyncio.Runner(loop_factory=SteadyLoop) as runner:
            runner.run(test(*given, **named))

    return running
