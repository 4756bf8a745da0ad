"""Requests at the engine and what comes of them: whole answers, or a stream of lines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from dlm.engine.request import Event, Finished, Request, Snapshot, TextDelta
from dlm.server.errors import ApiError, from_engine
from dlm.server.metrics import ApiMetrics
from dlm.server.responses import EventStream
from dlm.server.running import RequestEngine, run, while_connected
from dlm.server.streams import DONE, KEEP_ALIVE, ChatStream, TextStream, sse

Told = tuple[int, Event] | None


class _Pulse:
    """When a stream has to tell that it lives, as nothing was sent for so long."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self.sent()

    def sent(self) -> None:
        """Something was."""
        self._due_s = asyncio.get_running_loop().time() + self._every_s

    def due_s(self) -> float:
        """By the event loop's clock."""
        return self._due_s


class Answering:
    """Runs requests of clients.

    Args:
        engine: Where they run.
        metrics: What is counted.
        keep_alive_s: A stream that has been silent for so long tells that it lives.
    """

    def __init__(self, engine: RequestEngine, metrics: ApiMetrics, keep_alive_s: float) -> None:
        self._engine = engine
        self._metrics = metrics
        self._keep_alive_s = keep_alive_s

    async def whole(self, request: HttpRequest, wanted: Sequence[Request]) -> list[Finished]:
        """Run requests to their ends.

        Raises:
            ApiError: One failed, or the engine takes no more.
            ClientDisconnect: The client left.
        """
        return await while_connected(self._run(wanted), request.receive)

    async def _run(self, wanted: Sequence[Request]) -> list[Finished]:
        finished: dict[int, Finished] = {}
        async with aclosing(self._events(wanted)) as events:
            async for told in events:
                if told is not None and isinstance(told[1], Finished):
                    finished[told[0]] = told[1]
        return [finished[index] for index in sorted(finished)]

    async def stream(
        self, request: HttpRequest, wanted: Sequence[Request], stream: ChatStream | TextStream
    ) -> Response:
        """Stream answers.

        Raises:
            ApiError: One failed before its first event, or the engine takes no more.
            ClientDisconnect: The client left.
        """
        pulse = _Pulse(self._keep_alive_s)
        events = self._events(wanted, pulse.due_s)
        first = await while_connected(_next(events), request.receive)
        return EventStream(self._lines(first, events, stream, pulse), events)

    async def _lines(
        self,
        first: Told,
        events: AsyncGenerator[Told, None],
        stream: ChatStream | TextStream,
        pulse: _Pulse,
    ) -> AsyncGenerator[bytes, None]:
        async with aclosing(events):
            for chunk in stream.begin():
                yield sse(chunk)
            told = first
            try:
                while True:
                    # Not every event is told: of some streams snapshots are no part.
                    for line in map(sse, stream.take(*told)) if told else (KEEP_ALIVE,):
                        yield line
                        pulse.sent()
                    told = await anext(events)
            except StopAsyncIteration:
                for chunk in stream.end():
                    yield sse(chunk)
                yield DONE
            except ApiError as error:
                yield sse(error.body())

    async def _events(
        self, wanted: Sequence[Request], due_s: Callable[[], float | None] = lambda: None
    ) -> AsyncGenerator[Told, None]:
        """Events of requests, measured; failures as the client is to be told them."""
        started = time.monotonic()
        begun = False
        tools = [tool.name for tool in wanted[0].tools]
        with self._metrics.live():
            try:
                async with aclosing(run(self._engine, wanted, due_s)) as events:
                    async for told in events:
                        if not begun and told and isinstance(told[1], TextDelta | Snapshot):
                            begun = True
                            self._metrics.began(time.monotonic() - started)
                        if told and isinstance(told[1], Finished):
                            self._metrics.finished(told[1].usage)
                        yield told
            except Exception as error:
                raise from_engine(error, tools) from error
            self._metrics.ended(time.monotonic() - started)


async def _next(events: AsyncGenerator[Told, None]) -> Told:
    return await anext(events)
