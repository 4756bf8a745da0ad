"""Requests of one client at the engine: all or none are taken, and all end with the client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from dlm.engine.request import Event, Failed, Finished, Request

Result = TypeVar("Result")


class RequestEngine(Protocol):
    """What the server needs of an engine.

    Attributes:
        max_live: Requests that it takes at a time.
    """

    max_live: int

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        """See `dlm.engine.engine.Engine.submit`."""
        ...

    def room(self, request: Request) -> int:
        """See `dlm.engine.engine.Engine.room`."""
        ...


async def run(
    engine: RequestEngine, requests: Sequence[Request], due: Callable[[], float | None]
) -> AsyncGenerator[tuple[int, Event] | None, None]:
    """Events of several requests as they come, with each one's index; leaving cancels them all.

    Args:
        engine: Where they run.
        requests: At least one.
        due: When a None is to come, in seconds of the event loop's clock; None for never. Asked
            before each event, so that whoever was told one has to put it off.

    Raises:
        Exception: What `Engine.submit` raises, or what a request failed with.
    """
    loop = asyncio.get_running_loop()
    # Bounded by the answers' lengths: two events at most for each forward.
    events: asyncio.Queue[tuple[int, Event]] = asyncio.Queue()

    def emit(index: int, event: Event) -> None:
        # The loop may be closed while the last step of a cancelled request runs.
        if not loop.is_closed():
            loop.call_soon_threadsafe(events.put_nowait, (index, event))

    cancels: list[Callable[[], None]] = []
    try:
        for index, request in enumerate(requests):
            cancels.append(engine.submit(request, partial(emit, index)))
        left = len(requests)
        while left:
            at = due()
            if at is not None and at <= loop.time():
                yield None
                continue
            try:
                async with asyncio.timeout_at(at):
                    index, event = await events.get()
            except TimeoutError:
                continue
            if isinstance(event, Failed):
                raise event.error
            left -= isinstance(event, Finished)
            yield index, event
    finally:
        for cancel in cancels:
            cancel()


async def while_connected(work: Coroutine[Any, Any, Result], receive: Receive) -> Result:
    """Do something for a client, unless it leaves.

    Args:
        work: Cancelled when the client leaves.
        receive: Of a request whose body has been read.

    Raises:
        ClientDisconnect: The client left.
    """
    task = asyncio.create_task(work)
    watcher = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({task, watcher}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        task.cancel()
        watcher.cancel()
        await asyncio.gather(task, watcher, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
