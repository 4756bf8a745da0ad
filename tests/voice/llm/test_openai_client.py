from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.serving import serving
from voice.config import LlmConfig, RemoteConfig
from voice.errors import ConfigError, ModelError
from voice.llm.base import AnswerDone, MalformedAnswer, ModelEvent, Prompt, ReplyModel, TextPiece
from voice.llm.loading import load_model
from voice.types import Message, Role, ToolCall, ToolSpec

TIMER = ToolSpec(
    "set_timer",
    "Start a countdown timer.",
    {
        "type": "object",
        "properties": {"duration": {"type": "string"}},
        "required": ["duration"],
    },
)
HELLO = Prompt((Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "hello")))


async def _events(model: ReplyModel, prompt: Prompt) -> list[ModelEvent]:
    return [event async for event in model.answer(prompt)]


class _Upstream:
    """An OpenAI-compatible server that streams given deltas and remembers what it was asked."""

    def __init__(self, deltas: list[dict[str, Any]], finish: str = "stop") -> None:
        self.deltas = deltas
        self.finish = finish
        self.status = 200
        self.asked: dict[str, Any] = {}
        self.key = ""

    async def complete(self, request: HttpRequest) -> Response:
        self.asked = await request.json()
        self.key = request.headers["authorization"]
        if self.status != 200:
            return JSONResponse({"error": {"message": "no"}}, self.status)
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncGenerator[str, None]:
        base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in self.deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": self.finish})
        for choice in choices:
            yield f"data: {json.dumps({**base, 'choices': [choice]})}\n\n"
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        yield f"data: {json.dumps({**base, 'choices': [], 'usage': usage})}\n\n"
        yield "data: [DONE]\n\n"


@asynccontextmanager
async def _remote(
    upstream: _Upstream, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[ReplyModel, None]:
    app = Starlette(routes=[Route("/v1/chat/completions", upstream.complete, methods=["POST"])])
    monkeypatch.setenv("TEST_KEY", "secret-key")
    async with serving(app) as host:
        remote = RemoteConfig(
            base_url=f"http://{host}/v1",
            model="mercury-2",
            api_key_env="TEST_KEY",
            extra_body={"realtime": True},
        )
        model, line = await asyncio.to_thread(load_model, LlmConfig(engine="remote", remote=remote))
        assert "secret-key" not in line
        try:
            yield model
        finally:
            await model.close()


async def test_a_remote_model_streams_words(monkeypatch: pytest.MonkeyPatch) -> None:
    upstream = _Upstream([{"role": "assistant", "content": "Hello"}, {"content": " there."}])
    async with _remote(upstream, monkeypatch) as model:
        events = await _events(model, HELLO)
    assert [e.text for e in events if isinstance(e, TextPiece)] == ["Hello", " there."]
    assert events[-1] == AnswerDone((), False, 7, 3)
    assert upstream.key == "Bearer secret-key"
    assert upstream.asked["reasoning_effort"] == "instant"
    assert upstream.asked["realtime"] is True
    assert [m["role"] for m in upstream.asked["messages"]] == ["system", "user"]


async def test_a_remote_models_call_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    function = {"name": "set_timer", "arguments": ""}
    start = {"index": 0, "id": "call_7", "type": "function", "function": function}
    pieces = ['{"duration":', ' "ten minutes"}']
    upstream = _Upstream(
        [
            {"role": "assistant", "content": None, "tool_calls": [start]},
            *({"tool_calls": [{"index": 0, "function": {"arguments": p}}]} for p in pieces),
        ],
        finish="tool_calls",
    )
    call = ToolCall("call_1", "set_timer", {"duration": "a day"})
    prompt = Prompt(
        (
            Message(Role.USER, "hello"),
            Message(Role.AGENT, tool_calls=(call,)),
            Message(Role.TOOL, "Timer set.", call_id="call_1", name="set_timer"),
            Message(Role.USER, "and one for ten minutes"),
        ),
        tools=(TIMER,),
        tool_choice="set_timer",
    )
    async with _remote(upstream, monkeypatch) as model:
        done = (await _events(model, prompt))[-1]
    assert isinstance(done, AnswerDone)
    (made,) = done.calls
    assert (made.name, made.arguments) == ("set_timer", {"duration": "ten minutes"})
    # Servers may number the calls of each answer anew, so their ids are not taken over.
    assert made.call_id != "call_7"
    sent = upstream.asked["messages"]
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == '{"duration": "a day"}'
    assert sent[2] == {"role": "tool", "tool_call_id": "call_1", "content": "Timer set."}
    assert upstream.asked["tool_choice"]["function"]["name"] == "set_timer"


@pytest.mark.parametrize(
    "function",
    [
        {"name": "launch", "arguments": "{}"},
        {"name": "set_timer", "arguments": "{oops"},
        {"name": "set_timer", "arguments": "[1]"},
    ],
)
async def test_a_remote_models_malformed_call_is_told_apart(
    function: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = {"index": 0, "id": "call_7", "type": "function", "function": function}
    upstream = _Upstream([{"tool_calls": [start]}], finish="tool_calls")
    async with _remote(upstream, monkeypatch) as model:
        with pytest.raises(MalformedAnswer):
            await _events(model, Prompt(HELLO.messages, tools=(TIMER,)))


async def test_a_remote_model_that_refuses_is_a_model_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upstream = _Upstream([])
    upstream.status = 401
    async with _remote(upstream, monkeypatch) as model:
        with pytest.raises(ModelError) as failed:
            await _events(model, HELLO)
    assert not isinstance(failed.value, MalformedAnswer)
    assert "secret-key" not in str(failed.value)


def test_a_remote_model_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INCEPTION_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="INCEPTION_API_KEY"):
        load_model(LlmConfig(engine="remote"))
