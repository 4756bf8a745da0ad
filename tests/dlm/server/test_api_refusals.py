"""Requests that are refused, and the errors that they get."""

from __future__ import annotations

import asyncio
import json
import queue
import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from dlm.engine.engine import Engine
from dlm.grammar.formats import FormatError
from dlm.language.messages import AnswerError
from dlm.server.access import KeyGate
from dlm.server.errors import ApiError, from_engine
from dlm.server.tool_schemas import check_schema
from tests.dlm.server.asking import (
    HELLO,
    LIMITS,
    TOOLS_BODY,
    api_of,
    asking,
    error,
    post,
    serving,
)
from tests.dlm.tiny import tokenizer
from tests.support.patience import PATIENCE_S

PATHS = ["chat/completions", "completions", "fim/completions", "edit/completions"]


async def test_a_model_that_is_not_there(client: httpx.AsyncClient) -> None:
    told = await error(client, 404, model="gpt-5")
    assert (told["code"], told["param"]) == ("model_not_found", "model")
    assert "'tiny'" in told["message"]


def formatted(schema: Any) -> dict[str, Any]:
    named = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}
    return {"response_format": named}


def declared(**parameters: Any) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    return {"messages": HELLO, "tools": [TOOLS_BODY[0], tool]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        (formatted({"type": "array", "uniqueItems": True}), "response_format"),
        (
            declared(properties={"a": {"not": {}}}),
            "tools[1].function.parameters.properties.a",
        ),
        *(
            (declared(properties={"a": one}), "tools[1].function.parameters.properties.a")
            for one in ({"enum": ["\0"]}, {"$ref": "#/properties/a"})
        ),
        (
            formatted({"properties": {"a": {"$ref": "#/properties/a"}}, "required": ["a"]}),
            "response_format.json_schema.schema.properties.a",
        ),
        (
            declared(properties={"a": {"type": "integer"}, " a": {"type": "integer"}}),
            "tools[1].function.parameters",
        ),
        ({"response_format": {"type": "regex", "pattern": "("}}, "response_format"),
        ({"response_format": {"type": "lark", "grammar": "start: <[2]>"}}, "response_format"),
        (
            {"response_format": {"type": "regex", "pattern": "(((a{100}){100}){100})"}},
            "response_format",
        ),
    ],
)
async def test_a_feature_that_no_grammar_has_is_named(
    client: httpx.AsyncClient, fields: dict[str, Any], param: str, stream: bool
) -> None:
    told = await error(client, 400, stream=stream, **fields)
    assert (told["code"], told["param"]) == ("unsupported_schema", param)
    for feature in ("uniqueItems", "not"):
        if feature in json.dumps(fields):
            assert feature in told["message"]


@pytest.mark.parametrize(
    ("schema", "param"),
    [
        ({"properties": {}, "required": [["a"]]}, ".required"),
        ({"properties": {"a": {"anyOf": 5}}}, ".properties.a.anyOf"),
        ({"properties": {"a": {"enum": 5}}}, ".properties.a.enum"),
        ({"$defs": 5}, ".$defs"),
    ],
)
async def test_what_is_no_schema_is_named(
    client: httpx.AsyncClient, schema: dict[str, Any], param: str
) -> None:
    told = await error(client, 400, **formatted(schema))
    assert told["param"] == f"response_format.json_schema.schema{param}"
    told = await error(client, 400, **formatted({"type": "array", "minItems": "2"}))
    assert told["code"] == "unsupported_schema"


def test_schemas_too_deep_are_refused_with_the_limit() -> None:
    deep: dict[str, Any] = {}
    for _ in range(3):
        deep = {"items": deep}
    check_schema(deep, "schema", 4)
    with pytest.raises(ApiError, match="expected 3 at most"):
        check_schema(deep, "schema", 3)


async def test_a_prompt_that_is_too_long(client: httpx.AsyncClient) -> None:
    told = await error(client, 400, messages=[{"role": "user", "content": "q7Z!" * 2000}])
    assert (told["code"], told["param"]) == ("context_length_exceeded", "messages")
    got, over, context = map(int, re.findall(r"\d+", told["message"]))
    assert got - over == context == 512


LONG = "x" * 9000
CALLED = {"name": "f", "arguments": json.dumps({"a": LONG})}
NAMED = {"name": "f", "arguments": json.dumps({LONG: "a"})}


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [{"role": "user", "content": LONG}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "function": CALLED}]}]},
        {
            "messages": HELLO,
            "tools": [{"type": "function", "function": {"name": "f", "description": LONG}}],
        },
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "function": NAMED}]}]},
        declared(properties={"a": {"const": LONG}}),
        declared(properties={"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"enum": [LONG]}}}),
        declared(properties={"a": {"anyOf": [{"enum": [LONG]}, {"type": "null"}]}}),
        formatted({"type": "object", "properties": {"a": {"enum": [LONG]}}}),
    ],
    ids=["said", "called", "declared", "named", "const", "referred", "either", "answered"],
)
async def test_a_prompt_that_can_never_fit_is_not_counted(
    client: httpx.AsyncClient, fields: dict[str, Any]
) -> None:
    told = await error(client, 400, **fields)
    assert (told["code"], told["param"]) == ("context_length_exceeded", "messages")
    assert "expected at most 8192" in told["message"]


async def test_a_body_that_is_too_long(client: httpx.AsyncClient) -> None:
    told = await error(client, 413, messages=[{"role": "user", "content": "x" * 30_000}])
    assert told["code"] == "body_too_large"


async def test_a_body_that_does_not_come(taught_engine: Engine) -> None:
    limits = replace(LIMITS, body_s=0.01)
    app = Starlette(routes=api_of(taught_engine, limits=limits).routes())
    async with serving(app) as address, asyncio.timeout(PATIENCE_S):
        url = httpx.URL(address)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{"
        )
        writer.write(head.encode())
        status = await reader.readline()
        told = await reader.readuntil(b"}}")
        writer.close()
        await writer.wait_closed()
    assert status.split()[1] == b"408"
    assert b'"body_too_slow"' in told


async def test_a_long_answer_is_wished_for_and_fitted(babbler: Engine) -> None:
    async with asking(Starlette(routes=api_of(babbler).routes())) as client:
        reply = await post(client, messages=HELLO, max_tokens=10**9)
        assert reply["usage"]["completion_tokens"] <= LIMITS.answer_tokens


async def test_an_engine_that_is_full_says_when_to_come_back() -> None:
    from tests.dlm.tiny import model

    engine = Engine(model(1), tokenizer(), max_requests=0)
    try:
        async with asking(Starlette(routes=api_of(engine).routes())) as client:
            for stream in (True, False):
                told = await error(client, 429, stream=stream)
                assert told["type"] == "rate_limit_error"
            answer = await client.post(
                "/v1/chat/completions", json={"model": "tiny", "messages": HELLO}
            )
            assert answer.headers["retry-after"] == "1"
    finally:
        engine.close()


async def test_an_engine_that_is_closed_is_not_there() -> None:
    from tests.dlm.tiny import model

    engine = Engine(model(1), tokenizer())
    engine.close()
    async with asking(Starlette(routes=api_of(engine).routes())) as client:
        assert (await error(client, 503))["type"] == "server_error"


async def test_every_endpoint_asks_for_the_key(taught_engine: Engine) -> None:
    async with asking(Starlette(routes=api_of(taught_engine, KeyGate(["k"])).routes())) as client:
        for path in PATHS:
            answer = await client.post(f"/v1/{path}", json={})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        assert (await client.get("/v1/models")).status_code == 401
        shown = {"authorization": "Bearer k"}
        assert (await client.get("/v1/models", headers=shown)).status_code == 200


@pytest.mark.parametrize(
    ("path", "fields", "param"),
    [
        ("chat/completions", {"messages": HELLO, "n": 3}, "n"),
        ("completions", {"prompt": ["a", "b", "c"]}, "prompt"),
    ],
)
async def test_more_answers_than_ever_run_at_a_time_are_refused_for_good(
    path: str, fields: dict[str, Any], param: str
) -> None:
    from tests.dlm.tiny import model

    engine = Engine(model(1), tokenizer(), max_requests=2)
    try:
        async with asking(Starlette(routes=api_of(engine).routes())) as client:
            answer = await client.post(f"/v1/{path}", json={"model": "tiny", **fields})
            assert answer.status_code == 400
            told = answer.json()["error"]
            assert told["param"] == param
            assert "at most 2, which is --max-live" in told["message"]
    finally:
        engine.close()


@pytest.mark.parametrize(("raised", "traced"), [(KeyError, True), (FormatError, False)])
async def test_an_error_that_nobody_foresaw_is_logged_with_its_lines_and_without_its_text(
    taught_engine: Engine, caplog: pytest.LogCaptureFixture, raised: type[Exception], traced: bool
) -> None:
    async def ask(request: HttpRequest) -> Response:
        raise raised(request.headers["words"])

    app = Starlette(routes=[Route("/ask", api_of(taught_engine).guarded("ask", ask))])
    async with asking(app) as client:
        await client.get("/ask", headers={"words": "a secret"})
    (line,) = caplog.messages
    assert f"failed: {raised.__name__}" in line
    assert ("in ask\n" in line) is traced
    assert "a secret" not in line


@pytest.mark.parametrize(
    ("error", "status", "kind", "code", "param"),
    [
        (queue.Full(), 429, "rate_limit_error", "engine_full", None),
        (FormatError("no"), 400, "invalid_request_error", "unsupported_schema", "response_format"),
        (
            FormatError("no", "b", "size"),
            400,
            "invalid_request_error",
            "unsupported_schema",
            "tools[1].function.parameters.properties.size",
        ),
        (
            FormatError("no", "a"),
            400,
            "invalid_request_error",
            "unsupported_schema",
            "tools[0].function.parameters",
        ),
        (AnswerError("a secret answer"), 500, "server_error", "malformed_answer", None),
        (ValueError("too long"), 400, "invalid_request_error", "invalid_value", None),
        (RuntimeError("closed"), 503, "server_error", "unavailable", None),
        (KeyError("a secret"), 500, "server_error", "internal_error", None),
    ],
)
def test_what_a_failure_means(
    error: Exception, status: int, kind: str, code: str, param: str | None
) -> None:
    told = from_engine(error, ["a", "b"])
    assert told.status == status
    detail = told.body()["error"]
    assert (detail["type"], detail["code"], detail["param"]) == (kind, code, param)
    assert "secret" not in detail["message"]
    assert told.headers() == ({"retry-after": "1"} if status in (429, 503) else {})
