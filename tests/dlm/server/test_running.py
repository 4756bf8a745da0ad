from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from contextlib import aclosing

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from dlm.engine.engine import Engine
from dlm.engine.request import Event, Failed, Finished, Request, Snapshot, TextDelta
from dlm.language.messages import Turn
from dlm.server.execution import run, while_connected
from tests.dlm.tiny import DIALOGUES, TOOLS

BABBLE = Request((Turn("user", "hello"),), max_tokens=300, tool_choice="none")


async def told(engine: Engine, *requests: Request) -> list[tuple[int, Event] | None]:
    return [one async for one in run(engine, requests)]


async def unfinished(engine: Engine, count: int) -> None:
    """Wait until so many requests are left."""
    async with asyncio.timeout(20):
        while engine.unfinished != count:
            await asyncio.sleep(0.005)


async def test_each_choice_is_told_by_its_index(taught_engine: Engine) -> None:
    request = Request(tuple(DIALOGUES[0][:1]), TOOLS)
    events = await told(taught_engine, request, request)
    ends = {one[0]: one[1] for one in events if one and isinstance(one[1], Finished)}
    assert sorted(ends) == [0, 1]
    for index, end in ends.items():
        assert isinstance(end, Finished)
        texts = [
            one[1].text
            for one in events
            if one and one[0] == index and isinstance(one[1], TextDelta)
        ]
        assert "".join(texts) == end.answer.content == DIALOGUES[0][1].content


async def test_leaving_cancels_all(babbler: Engine) -> None:
    async with aclosing(run(babbler, [BABBLE, BABBLE])) as events:
        await anext(events)
    await unfinished(babbler, 0)


async def test_all_or_none_are_taken(babbler: Engine) -> None:
    with pytest.raises(queue.Full):
        await told(babbler, *[BABBLE] * (babbler.max_requests + 1))
    await unfinished(babbler, 0)


async def test_a_failure_ends_all(taught_engine: Engine) -> None:
    fine = Request(tuple(DIALOGUES[0][:1]), TOOLS)
    with pytest.raises(ValueError, match="positions"):
        await told(taught_engine, fine, Request(fine.turns, max_tokens=10**6))
    await unfinished(taught_engine, 0)


class Silent:
    """An engine that is told when to answer."""

    max_requests = 1

    def __init__(self) -> None:
        self.emit: Callable[[Event], None] = lambda event: None

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        self.emit = emit
        return lambda: None

    def room(self, request: Request) -> int:
        return 1


async def test_a_stream_without_visible_events_is_kept_alive() -> None:
    engine = Silent()
    hidden = Snapshot("x", 1)
    shows = lambda event: event is not hidden  # noqa: E731
    async with aclosing(run(engine, [BABBLE], 0.05, shows)) as events:
        assert await anext(events) is None
        engine.emit(hidden)
        assert await anext(events) == (0, hidden)
        assert await anext(events) is None
        engine.emit(Failed(RuntimeError("over")))
        with pytest.raises(RuntimeError, match="over"):
            await anext(events)


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def gone() -> Message:
    return {"type": "http.disconnect"}


async def test_work_ends_with_its_client() -> None:
    cancelled = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(ClientDisconnect):
        await while_connected(work(), gone)
    assert cancelled.is_set()


async def test_work_that_is_done_or_fails() -> None:
    async def work(fails: bool) -> int:
        if fails:
            raise ValueError("no")
        return 7

    assert await while_connected(work(False), never) == 7
    with pytest.raises(ValueError, match="no"):
        await while_connected(work(True), never)
