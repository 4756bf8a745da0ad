"""The endpoints' answers, and the application around them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from dlm.engine.engine import Engine
from dlm.engine.request import Request
from dlm.server import api
from dlm.server.access import KeyGate
from dlm.server.api import build_app
from tests.dlm.server.asking import (
    CARD,
    HELLO,
    LIMITS,
    OPEN,
    TOOLS_BODY,
    api_of,
    asking,
    chunks,
    post,
    schema,
)
from tests.dlm.tiny import DIALOGUES, THOUGHTS, model, thoughtful, tokenizer

TIMER = [{"role": "user", "content": DIALOGUES[2][0].content}]
EDIT = [{"role": "user", "content": "<|code_to_edit|>x<|/code_to_edit|>"}]
APPLY = [{"role": "user", "content": "<|original_code|>x<|update_snippet|>y"}]


async def test_an_answer(client: httpx.AsyncClient) -> None:
    reply = await post(client, messages=HELLO, tools=TOOLS_BODY, verbosity="low")
    schema("Completion").validate(reply)
    (choice,) = reply["choices"]
    assert choice["message"]["content"] == DIALOGUES[0][1].content
    assert choice["finish_reason"] == "stop"
    assert reply["usage"]["completion_tokens"] > reply["usage"]["steps"] > 0
    assert reply["warning"] == "ignored: verbosity"


@pytest.mark.parametrize("choice", ["auto", "required", {"name": "set_timer"}])
async def test_a_call(client: httpx.AsyncClient, choice: Any) -> None:
    if isinstance(choice, dict):
        choice = {"type": "function", "function": choice}
    reply = await post(client, messages=TIMER, tools=TOOLS_BODY, tool_choice=choice)
    schema("Completion").validate(reply)
    (answer,) = reply["choices"]
    assert answer["finish_reason"] == "tool_calls"
    (call,) = answer["message"]["tool_calls"]
    assert call["function"]["name"] == "set_timer"
    assert json.loads(call["function"]["arguments"]) == {"duration": "ten minutes"}


async def test_a_dialogue_with_a_tool(client: httpx.AsyncClient) -> None:
    reply = await post(client, messages=TIMER, tools=TOOLS_BODY)
    message = reply["choices"][0]["message"]
    result = {
        "role": "tool",
        "tool_call_id": message["tool_calls"][0]["id"],
        "content": DIALOGUES[2][2].content,
    }
    reply = await post(client, messages=[*TIMER, message, result], tools=TOOLS_BODY)
    assert reply["choices"][0]["message"]["content"] == DIALOGUES[2][3].content


@pytest.mark.parametrize(
    ("path", "reading", "fields"),
    [
        ("chat/completions", "chat_requests", {"messages": HELLO}),
        ("responses", "response_requests", {"input": "hello"}),
    ],
)
async def test_a_large_body_does_not_hold_up_the_event_loop(
    client: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    reading: str,
    fields: dict[str, Any],
) -> None:
    threads, real = [], getattr(api, reading)

    def read(body: Any) -> Any:
        threads.append(threading.current_thread())
        return real(body)

    monkeypatch.setattr(api, reading, read)
    await post(client, path, **fields)
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()


async def test_none_means_words(client: httpx.AsyncClient) -> None:
    reply = await post(client, messages=TIMER, tools=TOOLS_BODY, tool_choice="none")
    assert "tool_calls" not in reply["choices"][0]["message"]


async def test_a_stream_says_what_the_answer_says(client: httpx.AsyncClient) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}, "n": 2}
    body = {"model": "tiny", "messages": HELLO, "tools": TOOLS_BODY, **options}
    answer = await client.post("/v1/chat/completions", json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *parts, last = chunks(answer.text)
    assert last["usage"]["completion_tokens"] > 0
    for index in range(2):
        choices = [part["choices"][0] for part in parts if part["choices"][0]["index"] == index]
        content = "".join(choice["delta"].get("content") or "" for choice in choices)
        assert content == DIALOGUES[0][1].content
        assert [choice["finish_reason"] for choice in choices[-2:]] == [None, "stop"]


async def test_snapshots_come_where_they_are_asked_for(client: httpx.AsyncClient) -> None:
    body = {"model": "tiny", "messages": HELLO, "tools": TOOLS_BODY, "stream": True}
    answer = await client.post("/v1/chat/completions", json={**body, "diffusing": True})
    *parts, _ = chunks(answer.text)
    assert len(parts) > 1
    assert parts[-1]["choices"][0]["delta"]["content"] == DIALOGUES[0][1].content
    assert parts[-1]["diffusion_meta"]["diffusion_progress"] == 1.0


@pytest.mark.parametrize(
    ("path", "fields", "kind"),
    [
        ("completions", {"prompt": "It is"}, "text_completion"),
        ("fim/completions", {"prompt": "It is", "suffix": " degrees."}, "text_completion"),
        ("edit/completions", {"messages": EDIT}, "edit.completion"),
        ("apply/completions", {"messages": APPLY}, "apply.completion"),
    ],
)
async def test_the_other_endpoints(
    client: httpx.AsyncClient, path: str, fields: dict[str, Any], kind: str
) -> None:
    reply = await post(client, path, max_tokens=8, **fields)
    assert reply["object"] == kind
    schema("TextCompletion" if kind == "text_completion" else "Completion").validate(reply)
    body = {"model": "tiny", "max_tokens": 8, "stream": True, **fields}
    parts = chunks((await client.post(f"/v1/{path}", json=body)).text)
    choices = [part["choices"][0] for part in parts]
    text = "".join(one.get("text") or one.get("delta", {}).get("content", "") for one in choices)
    (whole,) = reply["choices"]
    assert text == (whole["text"] if "text" in whole else whole["message"]["content"])


@pytest.fixture(scope="module")
def thinker() -> Iterator[Engine]:
    made = Engine(thoughtful(), tokenizer())
    yield made
    made.close()


async def test_a_thought_is_no_part_of_the_answer(thinker: Engine) -> None:
    spent = []
    async with asking(Starlette(routes=api_of(thinker).routes())) as client:
        for effort in ("instant", "low", "medium", "high"):
            fields = {"reasoning_summary": True, "reasoning_effort": effort, "max_tokens": 90}
            reply = await post(client, messages=HELLO, tools=TOOLS_BODY, **fields)
            schema("Completion").validate(reply)
            assert reply["choices"][0]["message"]["content"] == DIALOGUES[0][1].content
            usage, told = reply["usage"], reply["reasoning_summary"]
            thought = usage["completion_tokens_details"]["reasoning_tokens"]
            assert usage["reasoning_tokens"] == thought
            assert (told["status"] == "complete") == (thought > 0) == (effort in ("medium", "high"))
            assert told["content"] in (None, *(text for _, text in THOUGHTS))
            spent.append(usage["completion_tokens"])
        quiet = await post(client, messages=HELLO, tools=TOOLS_BODY)
    assert spent[0] == spent[1] < spent[2] < spent[3]
    assert "reasoning_summary" not in quiet
    # Instant is what a request gets that does not say.
    assert quiet["usage"]["completion_tokens"] == spent[0]


async def test_a_streamed_thought_is_told_before_the_answer(thinker: Engine) -> None:
    fields = {"stream": True, "reasoning_summary": True, "reasoning_summary_wait": True}
    asked = {"reasoning_effort": "medium", "messages": HELLO, "tools": TOOLS_BODY}
    body = {"model": "tiny", **asked, **fields}
    async with asking(Starlette(routes=api_of(thinker).routes())) as client:
        answer = await client.post("/v1/chat/completions", json=body)
    told = [
        (chunk.get("reasoning_summary"), chunk["choices"][0]["delta"].get("content"))
        for chunk in chunks(answer.text)
    ]
    said = [content or "" for _, content in told]
    assert "".join(said) == DIALOGUES[0][1].content
    first = next(i for i, (summary, _) in enumerate(told) if summary)
    assert not any(said[:first])
    assert told[first][0] == told[-1][0] == {"content": THOUGHTS[1][1], "status": "complete"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("completions", {"prompt": ""}),
        ("fim/completions", {"prompt": "he", "suffix": "o"}),
        ("edit/completions", {"messages": EDIT}),
        ("apply/completions", {"messages": APPLY}),
    ],
)
async def test_other_endpoints_do_not_think(
    thinker: Engine, path: str, body: dict[str, Any]
) -> None:
    async with asking(Starlette(routes=api_of(thinker).routes())) as client:
        reply = await post(client, path, reasoning_effort="high", max_tokens=8, **body)
    assert reply["usage"]["reasoning_tokens"] == 0


@pytest.mark.parametrize("n", [1, 3])
async def test_an_answer_that_is_cut_says_so(client: httpx.AsyncClient, n: int) -> None:
    reply = await post(client, messages=HELLO, tools=TOOLS_BODY, max_tokens=2, n=n)
    assert [choice["finish_reason"] for choice in reply["choices"]] == ["length"] * n
    assert reply["usage"]["completion_tokens"] == 2 * n


async def test_the_models(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/v1/models")).json()
    schema("ModelList").validate(listed)
    assert (await client.get("/v1/models/mercury-2")).json() == listed["data"][1]
    answer = await client.get("/v1/models/other/one")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(
    ("given", "kept"), [("mine-1", True), ("a b", False), ("x" * 200, False), ("", False)]
)
async def test_a_request_is_known_by_its_id(
    client: httpx.AsyncClient, given: str, kept: bool
) -> None:
    answer = await client.get("/v1/models", headers={"x-request-id": given})
    assert (answer.headers["x-request-id"] == given) is kept


async def test_the_same_seed_gives_the_same_answer(babbler: Engine) -> None:
    async with asking(Starlette(routes=api_of(babbler).routes())) as client:
        fields = {"messages": HELLO, "temperature": 1.0, "seed": 3, "max_tokens": 12}
        first, second = [await post(client, **fields) for _ in range(2)]
        assert first["choices"] == second["choices"]
        other = await post(client, **{**fields, "seed": 4})
        assert other["choices"] != first["choices"]


async def test_what_a_server_needs_besides(taught_engine: Engine) -> None:
    async with asking(build_app(taught_engine, CARD, OPEN, LIMITS)) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok", "model": "tiny"}
        body = {"model": "tiny", "messages": HELLO, "max_tokens": 3}
        assert (await client.post("/v1/chat/completions", json=body)).status_code == 200
        series = (await client.get("/metrics")).text
        assert (
            'quicksilver_api_requests_total{endpoint="chat/completions",status="200"} 1' in series
        )
        names = ("first_event_seconds", "answer_seconds")
        assert all(f"quicksilver_api_{name}_count 1.0" in series for name in names)
        kinds = ("prompt", "cached", "answer", "reasoning")
        assert all(f'quicksilver_api_tokens_total{{kind="{kind}"}}' in series for kind in kinds)
        assert 'quicksilver_api_tokens_total{kind="answer"} 3.0' in series
        assert "quicksilver_api_forwards_total 0.0" not in series
        assert "quicksilver_prompt_cache_bytes 0.0" not in series
        assert (await client.get("/openapi.json")).json()["openapi"] == "3.1.0"


async def test_the_series_are_behind_the_key(taught_engine: Engine) -> None:
    async with asking(build_app(taught_engine, CARD, KeyGate(["k"]), LIMITS)) as client:
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/nothing", 404), ("GET", "/v1/chat/completions", 405), ("PUT", "/v1/models", 405)],
)
async def test_what_is_not_there_is_an_error_object_too(
    taught_engine: Engine, method: str, path: str, status: int
) -> None:
    async with asking(build_app(taught_engine, CARD, OPEN, LIMITS)) as client:
        answer = await client.request(method, path)
        assert answer.status_code == status
        assert answer.json()["error"]["code"] == "not_routed"
        assert path in answer.json()["error"]["message"]


async def test_the_engine_is_closed_with_the_application() -> None:
    engine = Engine(model(1), tokenizer())
    app = build_app(engine, CARD, OPEN, LIMITS)
    async with app.router.lifespan_context(app):
        pass
    with pytest.raises(RuntimeError, match="closed"):
        engine.answer(Request(()))
