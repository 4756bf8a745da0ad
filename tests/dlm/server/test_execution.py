"""Requests on the engine, streams, and clients that leave."""

from __future__ import annotations

import asyncio
import json
import queue
import random
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.types import Message

from dlm.effort import Effort
from dlm.engine.engine import Engine
from dlm.engine.request import Event, Finished, Request, Snapshot, Usage
from dlm.language.messages import Answer, Turn
from dlm.server.execution import EventStream, run, while_connected
from tests.dlm.server.asking import HELLO, LIMITS, api_of, asking, chunks, serving
from tests.dlm.tiny import DIALOGUES, TOOLS, model, tokenizer
from tests.support.patience import PATIENCE_S

BABBLE = Request((Turn("user", "hello"),), max_tokens=300, tool_choice="none")


async def told(engine: Engine, *requests: Request) -> list[tuple[int, Event] | None]:
    return [one async for one in run(engine, requests)]


async def unfinished(engine: Engine, count: int) -> None:
    """Wait until so many requests are left."""
    async with asyncio.timeout(PATIENCE_S):
        while engine.unfinished != count:
            await asyncio.sleep(0.005)


async def test_all_or_none_are_taken(babbler: Engine) -> None:
    with pytest.raises(queue.Full):
        await told(babbler, *[BABBLE] * (babbler.max_requests + 1))
    await unfinished(babbler, 0)


async def test_a_failure_ends_all(taught_engine: Engine) -> None:
    fine = Request(tuple(DIALOGUES[0][:1]), TOOLS)
    with pytest.raises(ValueError, match="positions"):
        await told(taught_engine, fine, Request(fine.turns, max_tokens=10**6))
    await unfinished(taught_engine, 0)


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


SCOPE = {"type": "http", "method": "POST", "headers": []}


async def stay() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


class Lines:
    """Two lines, then nothing for ever if it is to hang."""

    def __init__(self, hangs: bool) -> None:
        self._hangs = hangs
        self.closed = False

    async def run(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            yield b"b"
            if self._hangs:
                await asyncio.Event().wait()
        finally:
            self.closed = True


async def test_a_client_that_cannot_be_sent_to_ends_the_stream() -> None:
    source = Lines(hangs=True)
    begun = source.run()
    await anext(begun)

    async def send(message: Message) -> None:
        raise OSError("gone")

    await EventStream(Lines(hangs=True).run(), begun)(SCOPE, stay, send)
    assert source.closed


CLIENTS = 16
TOKENS = 24


@pytest.fixture(scope="module")
def crowded() -> Iterator[Engine]:
    """An engine of random weights with a place for each client."""
    made = Engine(model(1), tokenizer(), max_requests=CLIENTS)
    yield made
    made.close()


def body(seed: int, **fields: Any) -> dict[str, Any]:
    sampled = {"temperature": 1.0, "seed": seed, "reasoning_effort": "instant"}
    limits = {"max_tokens": TOKENS, "stream": True}
    return {"model": "tiny", "messages": HELLO, **sampled, **limits, **fields}


def alone(engine: Engine, seed: int) -> str:
    """What a client is to be answered, whoever else asks at the time."""
    turns = (Turn("user", "hello"),)
    request = Request(turns, effort=Effort.INSTANT, max_tokens=TOKENS, temperature=1.0, seed=seed)
    return engine.answer(request).answer.content


async def read_whole(client: httpx.AsyncClient, seed: int) -> str:
    answer = await client.post("/v1/chat/completions", json=body(seed))
    assert answer.status_code == 200, answer.text
    parts = chunks(answer.text)
    return "".join(part["choices"][0]["delta"].get("content", "") for part in parts)


async def leave(client: httpx.AsyncClient, seed: int, lines: int) -> None:
    """Read so many lines, then hang up."""
    # An answer that would go on for long after.
    wanted = body(seed, max_tokens=200)
    async with client.stream("POST", "/v1/chat/completions", json=wanted) as answer:
        assert answer.status_code == 200
        async for _ in answer.aiter_lines():
            lines -= 1
            if lines <= 0:
                return


async def all_gone(engine: Engine) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while engine.unfinished:
            await asyncio.sleep(0.01)


async def test_clients_that_leave_take_nothing_from_those_that_stay(crowded: Engine) -> None:
    draw = random.Random(3)
    leaving = {seed: draw.randrange(1, 6) for seed in draw.sample(range(CLIENTS), CLIENTS // 2)}
    expected = {seed: alone(crowded, seed) for seed in range(CLIENTS) if seed not in leaving}
    api = api_of(crowded)
    pool = httpx.Limits(max_connections=CLIENTS)
    async with serving(Starlette(routes=api.routes())) as address:
        client = httpx.AsyncClient(base_url=address, timeout=PATIENCE_S, limits=pool)
        async with client, asyncio.TaskGroup() as group:
            answers = {seed: group.create_task(read_whole(client, seed)) for seed in expected}
            for seed, lines in leaving.items():
                group.create_task(leave(client, seed, lines))
        assert {seed: task.result() for seed, task in answers.items()} == expected
        assert len(set(expected.values())) > CLIENTS // 4
        await all_gone(crowded)
    series = (await api.scrape(None)).body  # type: ignore[arg-type]
    assert b"quicksilver_api_live_requests 0.0" in bytes(series)


async def test_a_client_that_waits_for_a_whole_answer_may_leave_too(crowded: Engine) -> None:
    async with serving(Starlette(routes=api_of(crowded).routes())) as address:
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_S) as client:
            wanted = body(1, stream=False, max_tokens=250, n=4)
            asked = asyncio.create_task(client.post("/v1/chat/completions", json=wanted))
            async with asyncio.timeout(PATIENCE_S):
                while not crowded.unfinished:
                    await asyncio.sleep(0.001)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
        await all_gone(crowded)


async def test_a_failure_in_the_middle_is_the_last_event(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(model(1), tokenizer())
    submit = engine.submit

    def closing(request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        def told(event: Event) -> None:
            emit(event)
            engine.close()

        return submit(request, told)

    monkeypatch.setattr(engine, "submit", closing)
    async with (
        serving(Starlette(routes=api_of(engine).routes())) as address,
        httpx.AsyncClient(base_url=address, timeout=PATIENCE_S) as client,
        client.stream("POST", "/v1/chat/completions", json=body(1, max_tokens=250)) as answer,
    ):
        lines = [line async for line in answer.aiter_lines() if line]
    assert len(lines) > 1 and lines[0].startswith("data: {")
    last = json.loads(lines[-1].removeprefix("data: "))
    assert last["error"]["type"] == "server_error"
    assert last["error"]["code"] == "unavailable"


class Denoising:
    """An engine that shows for a while how its answer becomes clear, and says nothing."""

    max_requests = 1

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        self.task = asyncio.create_task(self._tell(emit))
        return self.task.cancel

    async def _tell(self, emit: Callable[[Event], None]) -> None:
        for forwards in range(60):
            await asyncio.sleep(0.005)
            emit(Snapshot("░", forwards))
        emit(Finished(Answer("yes", ()), "stop", Usage(1, 0, 1, 60)))

    def room(self, request: Request) -> int:
        return 10


async def test_a_stream_that_is_not_told_of_snapshots_tells_that_it_lives() -> None:
    api = api_of(Denoising(), limits=replace(LIMITS, keep_alive_s=0.05))
    async with asking(Starlette(routes=api.routes())) as client:
        told = (await client.post("/v1/chat/completions", json=body(1))).text
        shown = (await client.post("/v1/chat/completions", json=body(1, diffusing=True))).text
    assert told.count(": keep-alive") >= 2
    assert chunks(told)[-1]["choices"][0]["finish_reason"] == "stop"
    assert shown.count("data: ") > 60
