"""Threads for functions that block: a few at a time, none of which holds up the end of the program.

They are daemons, because the interpreter waits for all others, however long they hang. It does not
know what it runs.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)

# What threads that are left get to notice that they are to end.
_LEAVE_S = 0.5
_LOOK_S = 0.01


class Uncarried(Exception):
    """A function raised what an event loop does not carry, such as SystemExit; it is the cause."""


class Threads(Executor):
    """Runs functions in threads.

    Args:
        most: How many at a time; further ones wait for one of them to end.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._working = 0
        self._waiting: deque[Callable[[], None]] = deque()
        self._running: dict[threading.Thread, str] = {}

    async def run(self, name: str, function: Callable[[], T]) -> T:
        """What a function returns; who is cancelled leaves it to itself, if it has begun.

        Args:
            name: What it is called in the log.
            function: Called in a thread.

        Raises:
            Exception: What the function raised.
            Uncarried: The function raised StopIteration or no `Exception`.
        """

        def work() -> T:
            thread = threading.current_thread()
            self._running[thread] = name
            try:
                return function()
            except BaseException as failure:
                if isinstance(failure, Exception) and not isinstance(failure, StopIteration):
                    raise
                raise Uncarried from failure
            finally:
                del self._running[thread]

        return await asyncio.get_running_loop().run_in_executor(self, work)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See `Executor.submit`."""
        answer: Future[T] = Future()

        def work() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as failure:
                answer.set_exception(failure)
            else:
                answer.set_result(result)

        with self._lock:
            if self._working < self._most:
                threading.Thread(target=self._work, name="tool", daemon=True).start()
                self._working += 1
            self._waiting.append(work)
        return answer

    async def close(self) -> None:
        """Give up what still runs, and say so in the log; may be called again."""
        with self._lock:
            self._waiting.clear()
        left = dict(self._running)
        if not left:
            return
        logger.warning("left behind unfinished: tool %s", ", ".join(sorted(left.values())))
        for thread in left:
            _interrupt(thread)
        for _ in range(round(_LEAVE_S / _LOOK_S)):
            if self._running:
                await asyncio.sleep(_LOOK_S)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._working -= 1
                    return
                work = self._waiting.popleft()
            work()


def _interrupt(thread: threading.Thread) -> None:
    """Raise SystemExit in a thread as soon as it is in Python code.

    Else a thread that is busy in C++ (torch, say) until the interpreter ends aborts the process:
    the interpreter then unwinds its stack. One that waits in C for ever does no harm.
    """
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        )
