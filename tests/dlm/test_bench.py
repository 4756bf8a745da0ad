from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator

import pytest
import torch
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import StreamingResponse
from starlette.routing import Route

from dlm.bench import PROMPTS, Measured, endpoint_ask, engine_ask, main, measure
from dlm.effort import Effort
from dlm.engine.engine import Engine
from tests.dlm.server.asking import api_of, serving
from tests.dlm.tiny import model, tokenizer


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """The programs choose their own number of threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_a_row_sums_up_its_answers() -> None:
    asked: list[tuple[str, Effort]] = []

    def ask(prompt: str, effort: Effort) -> Measured:
        asked.append((prompt, effort))
        return Measured(0.2, 10, 4)

    row = measure(ask, Effort.LOW, at_once=2, rounds=3)
    # One more to warm up.
    assert len(asked) == 3 * len(PROMPTS) + 1
    assert {effort for _, effort in asked} == {Effort.LOW}
    assert (row.effort, row.at_once, row.first_ms, row.per_forward) == ("low", 2, 200.0, 2.5)
    assert row.tokens_s > 0


async def test_an_engine_and_its_server_tell_the_same() -> None:
    engine = Engine(model(1), tokenizer())
    try:
        here = engine_ask(engine, max_tokens=12)("hello", Effort.INSTANT)
        async with serving(Starlette(routes=api_of(engine).routes())) as address:
            url = f"{address}/v1"
            with endpoint_ask(url, "tiny", "", max_tokens=12) as ask:
                there = await asyncio.to_thread(ask, "hello", Effort.INSTANT)
            with (
                endpoint_ask(url, "gpt-5", "", 12) as ask,
                pytest.raises(RuntimeError, match="404"),
            ):
                await asyncio.to_thread(ask, "hello", Effort.INSTANT)
        with endpoint_ask(url, "tiny", "", 12) as ask, pytest.raises(RuntimeError, match=url):
            await asyncio.to_thread(ask, "hello", Effort.INSTANT)
    finally:
        engine.close()
    assert (here.tokens, here.forwards > 0) == (there.tokens, there.forwards > 0)
    assert here.first_s > 0
    assert there.first_s > 0


async def answered(*chunks: object) -> Measured:
    """An answer from a server that streams these."""
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode() for chunk in chunks]

    async def complete(request: HttpRequest) -> StreamingResponse:
        async def pieces() -> AsyncGenerator[bytes, None]:
            for line in lines:
                yield line[:9]
                yield line[9:]

        return StreamingResponse(pieces())

    route = Route("/chat/completions", complete, methods=["POST"])
    async with serving(Starlette(routes=[route])) as address:
        with endpoint_ask(address, "m", "", 12) as ask:
            return await asyncio.to_thread(ask, "hello", Effort.INSTANT)


async def test_an_answer_that_fails_on_the_way_is_none() -> None:
    content = {"choices": [{"delta": {"content": "a"}}]}
    with pytest.raises(RuntimeError, match="went away"):
        await answered(content, {"error": {"message": "the model went away"}})


async def test_a_chunk_may_hold_what_ends_lines_elsewhere() -> None:
    content = {"choices": [{"delta": {"content": "a\u2028b\x85c"}}]}
    told = await answered(content, {"choices": [], "usage": {"completion_tokens": 7}})
    assert told.tokens == 7


def test_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--effort", "instant", "--at-once", "2", "--rounds", "1", "--max-tokens", "6"]
    assert main([*options, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["effort"] == "instant"
    assert main(options) == 0
    assert "tokens/s" in capsys.readouterr().out
    assert main(["nowhere"]) == 1
    assert capsys.readouterr().err.startswith("error: ")
