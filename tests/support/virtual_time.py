"""An event loop whose clock jumps to the next timer: a dialogue of minutes is over in milliseconds.

`run` takes the place of ``asyncio.run``, and `virtual` marks a test. Nothing waits: when no
callback is ready, the loop's clock moves on to the soonest timer. What would run in a thread runs
at once on the loop, and its outcome arrives after as much virtual time as it has claimed with
`spend`; an executor's threads are busy for as long, so that contention is simulated as well. A
program that waits for something that can never happen fails with `NothingLeft` instead of hanging.
"""

from __future__ import annotations

import asyncio
import functools
import heapq
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar
from unittest import mock

T = TypeVar("T")


class NothingLeft(Exception):
    """Everything waits, and nothing is going to happen."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """See the module; `time` counts from 0 in seconds."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._spent_s = 0.0
        self._free_at_s: dict[Executor | None, list[float]] = {}
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._now_s

    def jump(self, seconds: float) -> None:
        """Move the clock on."""
        self._now_s += seconds

    def spend(self, seconds: float) -> None:
        """Called within an executor's work: it takes so much longer."""
        self._spent_s += seconds

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run the work now; its outcome arrives when a thread would have been done with it."""
        outcome: asyncio.Future[T] = self.create_future()
        before_s, self._spent_s = self._spent_s, 0.0
        try:
            settle: Callable[[Any], None] = outcome.set_result
            value: Any = func(*args)
        except Exception as error:
            settle, value = outcome.set_exception, error
        finally:
            took_s, self._spent_s = self._spent_s, before_s
        threads = self._free_at_s.setdefault(executor, [0.0] * getattr(executor, "_max_workers", 8))
        done_s = max(self._now_s, threads[0]) + took_s
        heapq.heapreplace(threads, done_s)
        self.call_at(done_s, lambda: outcome.done() or settle(value))
        return outcome


class _Jumping(selectors.DefaultSelector):
    """Never waits; what it is asked to wait, the loop's clock jumps."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise NothingLeft("every task waits, and no timer is set")
        if timeout > 0:
            # A hair more, or rounding may leave the timer just ahead of the clock for ever.
            self._loop.jump(timeout + 1e-9)
        return []


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on virtual time.

    Raises:
        NothingLeft: It can never go on.
    """
    # What is heard on virtual time is no voice: how it sounds says nothing about a backchannel.
    with (
        mock.patch("voice.hearing.audio_input.sound_log_odds", lambda *_: None),
        asyncio.Runner(loop_factory=VirtualTimeLoop) as runner,
    ):
        return runner.run(main)


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Let a test that is a coroutine function run on virtual time."""

    @functools.wraps(test)
    def running(*given: Any, **named: Any) -> None:
        run(test(*given, **named))

    return running


def spend(seconds: float) -> None:
    """Within a thread's work on virtual time: it takes so long.

    Raises:
        RuntimeError: The loop that runs is a real one.
    """
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualTimeLoop):
        raise RuntimeError("spend: got a real event loop; expected one of virtual_time.run")
    loop.spend(seconds)


def now() -> float:
    """Virtual seconds since the loop was made."""
    return asyncio.get_running_loop().time()
