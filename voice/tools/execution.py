"""Runs the functions of tools: once for each key, and in a thread if they block.

`Runs` begins a call with side effects once, finishes it, and remembers its result. A key is a
session's id and the name of the call in it. A client that reconnects gets a new session: calls of
the old one are finished, and none of them is begun again. `Threads` runs blocking functions in a
few daemon threads, because at its end the interpreter waits for any other thread that hangs.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from voice.types import ToolResult

P = ParamSpec("P")
T = TypeVar("T")
Key = tuple[str, str]
Work = Callable[[], Coroutine[Any, Any, ToolResult]]

logger = logging.getLogger(__name__)

_KEPT_RUNS = 1024
_INTERRUPT_WAIT_S = 0.5
_POLL_S = 0.01


class Cancelled(Exception):
    """The run was cancelled by `Runs.cancel`."""


class NotCarried(Exception):
    """A function raised what a future cannot carry, such as SystemExit, which is the cause."""


class Runs:
    """The runs of all sessions, each awaited for ``timeout_s`` at most."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        # Beyond `_KEPT_RUNS` the oldest finished run is dropped.
        self._runs: OrderedDict[Key, asyncio.Task[ToolResult]] = OrderedDict()
        self._read_only: set[tuple[Key, asyncio.Task[ToolResult]]] = set()

    async def once(self, key: Key, work: Work) -> ToolResult | None:
        """The result of a key's only run, which the first call begins; None after the time limit.

        Raises:
            Cancelled: It was cancelled by `cancel`, now or before.
        """
        run = self._runs.get(key)
        if run is None:
            # A task of its own: it has to finish even if the caller is cancelled.
            run = self._runs[key] = asyncio.create_task(work())
            self._drop_oldest()
        await asyncio.wait({run}, timeout=self._timeout_s)
        return _result(run) if run.done() else None

    async def read_only(self, key: Key, work: Work) -> ToolResult | None:
        """The result of a run without side effects; None after the time limit.

        The run is cancelled at the time limit, and when the caller is cancelled.

        Raises:
            Cancelled: It was cancelled by `cancel`.
        """
        run = asyncio.create_task(work())
        self._read_only.add((key, run))
        try:
            await asyncio.wait({run}, timeout=self._timeout_s)
            return _result(run) if run.done() else None
        finally:
            run.cancel()
            self._read_only.discard((key, run))

    async def outcome(self, key: Key) -> ToolResult:
        """The result of a run of `once`, however long it takes.

        Raises:
            KeyError: There is no such run.
            Cancelled: It was cancelled by `cancel`.
        """
        run = self._runs[key]
        await asyncio.wait({run})
        return _result(run)

    def cancel(self, key: Key) -> None:
        """Cancel the runs of a key; no effect on finished ones."""
        for run in [run for other, run in self._read_only if other == key]:
            run.cancel()
        if key in self._runs:
            self._runs[key].cancel()

    async def drain(self, session_id: str | None = None) -> None:
        """Wait until every run of `once` is finished, in one session or in all."""
        running = [
            run
            for (session, _), run in self._runs.items()
            if session_id in (None, session) and not run.done()
        ]
        if running:
            await asyncio.wait(running)

    def _drop_oldest(self) -> None:
        if len(self._runs) > _KEPT_RUNS:
            oldest = next((key for key, run in self._runs.items() if run.done()), None)
            if oldest is not None:
                del self._runs[oldest]


def _result(run: asyncio.Task[ToolResult]) -> ToolResult:
    if run.cancelled():
        raise Cancelled
    return run.result()


class Threads(Executor):
    """Runs functions in at most ``limit`` daemon threads; further functions wait for a free one.

    A function whose caller is cancelled leaves the queue.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._begun = 0
        self._waiting: list[tuple[Future[Any], Callable[[], None]]] = []
        self._running: dict[threading.Thread, str] = {}

    async def run(self, name: str, function: Callable[[], T]) -> T:
        """Run a function and return its value; if the caller is cancelled, a begun one goes on.

        Raises:
            NotCarried: The function raised StopIteration, or something that is not an `Exception`.
        """

        def work() -> T:
            thread = threading.current_thread()
            self._running[thread] = name
            try:
                return function()
            except BaseException as failure:
                if isinstance(failure, Exception) and not isinstance(failure, StopIteration):
                    raise
                raise NotCarried from failure
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
                answer.set_result(fn(*args, **kwargs))
            except BaseException as failure:
                answer.set_exception(failure)

        with self._lock:
            if self._begun < self._limit:
                threading.Thread(target=self._work, name="tool", daemon=True).start()
                self._begun += 1
            self._waiting = [one for one in self._waiting if not one[0].cancelled()]
            self._waiting.append((answer, work))
        return answer

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._begun -= 1
                    return
                _, work = self._waiting.pop(0)
            work()

    async def close(self) -> None:
        """Interrupt the functions that still run and log their names; may be called again."""
        left = dict(self._running)
        if not left:
            return
        logger.warning("left behind unfinished: tool %s", ", ".join(sorted(left.values())))
        for thread in left:
            _interrupt(thread)
        for _ in range(round(_INTERRUPT_WAIT_S / _POLL_S)):
            if self._running:
                await asyncio.sleep(_POLL_S)


def _interrupt(thread: threading.Thread) -> None:
    """Raise SystemExit in a thread as soon as it runs Python code.

    A thread that is busy in C++ (torch, say) when the interpreter ends would abort the process,
    because the interpreter then unwinds its stack. One that waits in C for ever does no harm.
    """
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        )
