"""Runs a client's requests on the engine: whole answers, or a stream of server-sent events.

Either all of a client's requests are accepted or none, and all are cancelled when the client
leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, Protocol, TypeVar

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dlm.engine.request import Event, Failed, Finished, Request, Snapshot, TextDelta
from dlm.server.errors import ApiError, from_engine
from dlm.server.metrics import ApiMetrics
from dlm.server.responses import KEEP_ALIVE, Reply, sse

Result = TypeVar("Result")
IndexedEvent = tuple[int, Event | None]
"""The index of a request, and an event of it; None if the stream has been silent."""


class RequestEngine(Protocol):
    """What the server needs of an engine.

    Attributes:
        max_requests: Most requests that it accepts at a time.
    """

    max_requests: int

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        """See `dlm.engine.engine.Engine.submit`."""
        ...

    def room(self, request: Request) -> int:
        """See `dlm.engine.engine.Engine.room`."""
        ...


class Executor:
    """Runs clients' requests and measures them."""

    def __init__(self, engine: RequestEngine, metrics: ApiMetrics, keep_alive_s: float) -> None:
        self._engine = engine
        self._metrics = metrics
        self._keep_alive_s = keep_alive_s

    async def whole(self, http: HttpRequest, requests: Sequence[Request]) -> list[Finished]:
        """Run requests to their ends.

        Raises:
            ApiError: A request failed, or the engine accepts no more.
            ClientDisconnect: The client left.
        """
        return await while_connected(self._finished(requests), http.receive)

    async def _finished(self, requests: Sequence[Request]) -> list[Finished]:
        finished: dict[int, Finished] = {}
        async with aclosing(self._measured(requests)) as events:
            async for index, event in events:
                if isinstance(event, Finished):
                    finished[index] = event
        return [finished[index] for index in sorted(finished)]

    async def stream(
        self, http: HttpRequest, requests: Sequence[Request], reply: Reply
    ) -> Response:
        """Stream answers; the response begins with the first event, so earlier errors set a status.

        Raises:
            ApiError: A request failed before the first event, or the engine accepts no more.
            ClientDisconnect: The client left.
        """
        events = self._measured(requests, self._keep_alive_s, reply.shows)
        first = await while_connected(anext(events), http.receive)
        return EventStream(_lines(first, events, reply), events)

    async def _measured(
        self,
        requests: Sequence[Request],
        keep_alive_s: float | None = None,
        shows: Callable[[Event], bool] = lambda event: True,
    ) -> AsyncGenerator[IndexedEvent, None]:
        """Events as `run` yields them, measured; failures become `ApiError`s."""
        started = time.monotonic()
        begun = False
        tools = [tool.name for tool in requests[0].tools]
        with self._metrics.live.track_inprogress():
            try:
                async with aclosing(run(self._engine, requests, keep_alive_s, shows)) as events:
                    async for index, event in events:
                        if not begun and isinstance(event, TextDelta | Snapshot):
                            begun = True
                            self._metrics.first_s.observe(time.monotonic() - started)
                        if isinstance(event, Finished):
                            self._metrics.finished(event.usage)
                        yield index, event
            except Exception as error:
                raise from_engine(error, tools) from error
            self._metrics.whole_s.observe(time.monotonic() - started)


async def run(
    engine: RequestEngine,
    requests: Sequence[Request],
    keep_alive_s: float | None = None,
    shows: Callable[[Event], bool] = lambda event: True,
) -> AsyncGenerator[IndexedEvent, None]:
    """Yield the events of one or more requests; closing the generator cancels all of them.

    Args:
        engine: Runs the requests.
        requests: An event's index is that of its request in this order.
        keep_alive_s: After this time without an event that the client sees, None is yielded as an
            event. If this is None, that never happens.
        shows: Whether the client sees an event.

    Raises:
        Exception: What `Engine.submit` raises, or what a request failed with.
    """
    loop = asyncio.get_running_loop()
    # Bounded by the answers' lengths: at most two events for each forward.
    events: asyncio.Queue[tuple[int, Event]] = asyncio.Queue()

    def emit(index: int, event: Event) -> None:
        # The loop may have been closed while the last step of a cancelled request runs.
        if not loop.is_closed():
            loop.call_soon_threadsafe(events.put_nowait, (index, event))

    def deadline() -> float | None:
        return None if keep_alive_s is None else loop.time() + keep_alive_s

    cancels: list[Callable[[], None]] = []
    try:
        for index, request in enumerate(requests):
            cancels.append(engine.submit(request, partial(emit, index)))
        left = len(requests)
        due = deadline()
        while left:
            try:
                async with asyncio.timeout_at(due):
                    index, event = await events.get()
            except TimeoutError:
                due = deadline()
                yield 0, None
                continue
            if isinstance(event, Failed):
                raise event.error
            left -= isinstance(event, Finished)
            if shows(event):
                due = deadline()
            yield index, event
    finally:
        for cancel in cancels:
            cancel()


async def _lines(
    first: IndexedEvent, events: AsyncGenerator[IndexedEvent, None], reply: Reply
) -> AsyncGenerator[bytes, None]:
    """The body of a stream."""
    async with aclosing(events):
        for chunk in reply.begin():
            yield sse(chunk)
        index, event = first
        try:
            while True:
                for line in map(sse, reply.chunks(index, event)) if event else (KEEP_ALIVE,):
                    yield line
                index, event = await anext(events)
        except StopAsyncIteration:
            for chunk in reply.end():
                yield sse(chunk)
            if reply.done:
                yield reply.done
        except ApiError as error:
            yield sse(reply.failure(error))


class EventStream(Response):
    """A response of server-sent events, which ends when the client leaves.

    The source that the lines are made from is closed in any case.
    """

    media_type = "text/event-stream"

    def __init__(
        self, lines: AsyncGenerator[bytes, None], source: AsyncGenerator[Any, None]
    ) -> None:
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._lines = lines
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        async with aclosing(self._source):
            # A client that has left needs no answer.
            with suppress(ClientDisconnect, OSError):
                await while_connected(self._send(send), receive)

    async def _send(self, send: Send) -> None:
        async with aclosing(self._lines) as lines:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            async for line in lines:
                await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


async def while_connected(work: Awaitable[Result], receive: Receive) -> Result:
    """Await work for a client, unless it leaves; the request's body must have been read.

    Raises:
        ClientDisconnect: The client left; the work was cancelled.
    """
    task = asyncio.ensure_future(work)
    watcher = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({task, watcher}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        task.cancel()
        watcher.cancel()
        await asyncio.gather(task, watcher, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
