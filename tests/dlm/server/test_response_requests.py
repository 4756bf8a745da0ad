"""The Responses API, as openai-python uses it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import openai
import pytest
from openai.types.responses import Response
from pydantic import BaseModel
from starlette.applications import Starlette

from dlm.engine.engine import Engine
from dlm.server.bodies import parsed
from dlm.server.errors import ApiError
from dlm.server.response_requests import ResponseRequest, response_requests
from tests.dlm.server.asking import api_of, asking, schema

TIMER = {
    "type": "function",
    "name": "set_timer",
    "description": "Sets a timer.",
    "parameters": {
        "type": "object",
        "properties": {"duration": {"type": "string"}},
        "required": ["duration"],
        "additionalProperties": False,
    },
    "strict": True,
}


UNIQUE = {"type": "json_schema", "name": "s", "schema": {"type": "array", "uniqueItems": True}}
TAGS = {"type": "object", "properties": {"tags": UNIQUE["schema"]}, "required": ["tags"]}
CALL = {"type": "function_call", "call_id": "x", "name": "set_timer", "arguments": "{}"}
ORPHANS = [
    {"role": "user", "content": "hello"},
    {"type": "function_call_output", "call_id": "x", "output": ""},
]


class Timer(BaseModel):
    minutes: int
    label: str | None


@pytest.fixture(scope="module")
def shipped() -> Iterator[Engine]:
    made = Engine.load()
    yield made
    made.close()


@pytest.fixture
async def sdk(shipped: Engine) -> AsyncGenerator[openai.AsyncOpenAI, None]:
    async with asking(Starlette(routes=api_of(shipped).routes())) as client:
        yield openai.AsyncOpenAI(
            base_url="http://localhost/v1", api_key="none", http_client=client, max_retries=0
        )


async def test_a_text(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.responses.create(model="tiny", input="hello", instructions="Be kind.")
    assert made.status == "completed"
    assert made.output_text
    assert made.usage is not None
    assert made.usage.total_tokens == made.usage.input_tokens + made.usage.output_tokens
    assert made.id.startswith("resp_")
    assert made.instructions == "Be kind."
    schema("ResponseObject").validate(json.loads(made.model_dump_json(exclude_unset=True)))


async def test_a_stream_makes_the_response_that_it_ends_with(sdk: openai.AsyncOpenAI) -> None:
    async with sdk.responses.stream(model="tiny", input="hello") as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert set(kinds[4:-4]) == {"response.output_text.delta"}
    assert [event.sequence_number for event in events] == list(range(len(events)))
    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(pieces) == final.output_text
    whole = await sdk.responses.create(model="tiny", input="hello")
    assert final.output_text == whole.output_text


async def test_a_call_its_result_and_what_follows(sdk: openai.AsyncOpenAI) -> None:
    said: list[Any] = [{"role": "user", "content": "set a timer for ten minutes"}]
    fields: dict[str, Any] = {"model": "tiny", "tools": [TIMER], "tool_choice": "required"}
    made = await sdk.responses.create(input=said, **fields)
    call = made.output[-1]
    assert call.type == "function_call"
    assert call.name == "set_timer"
    assert json.loads(call.arguments).keys() == {"duration"}
    async with sdk.responses.stream(input=said, **fields) as stream:
        kinds = [event.type async for event in stream]
        final = await stream.get_final_response()
    assert final.output[-1].type == "function_call"
    assert final.output[-1].arguments == call.arguments
    assert "response.function_call_arguments.delta" in kinds
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "done"}
    after = await sdk.responses.create(
        model="tiny", tools=[TIMER], input=[*said, call.to_dict(), result]
    )
    assert isinstance(after, Response)


async def test_json_is_parsed(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.responses.parse(
        model="tiny", input="10 minutes for the tea", text_format=Timer, max_output_tokens=60
    )
    assert isinstance(made.output_parsed, Timer)


async def test_some_of_the_tools_may_be_called(sdk: openai.AsyncOpenAI) -> None:
    alarm = {**TIMER, "name": "set_alarm", "description": "Sets an alarm."}
    for name in ("set_timer", "set_alarm"):
        only = {"type": "function", "name": name}
        choice = {"type": "allowed_tools", "mode": "required", "tools": [only]}
        asked = {"model": "tiny", "input": "Set a timer for ten minutes.", "tool_choice": choice}
        made = await sdk.responses.create(**asked, tools=[TIMER, alarm])
        assert [item.name for item in made.output if item.type == "function_call"] == [name]
        assert json.loads(made.model_dump_json())["tool_choice"] == choice


@pytest.mark.parametrize("limit", [{"max_output_tokens": 1}, {"extra_body": {"max_tokens": 1}}])
async def test_a_response_that_is_cut(sdk: openai.AsyncOpenAI, limit: dict[str, Any]) -> None:
    made = await sdk.responses.create(model="tiny", input="hello", **limit)
    assert made.status == "incomplete"
    assert made.incomplete_details is not None
    assert made.incomplete_details.reason == "max_output_tokens"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, None),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"truncation": "auto"}, "truncation"),
        ({"background": True}, "background"),
        ({"extra_body": {"n": 2}}, "n"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"instructions": "Be kind.", "input": ORPHANS}, "input[1].call_id"),
        ({"input": [*ORPHANS[:1], CALL, {**CALL, "arguments": "5"}]}, "input[2].arguments"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"text": {"format": {**UNIQUE, "schema": TAGS}}}, "text.format.schema.properties.tags"),
        ({"text": {"format": UNIQUE}}, "text.format"),
        ({"text": {"format": {**UNIQUE, "schema": {"enum": 5}}}}, "text.format.schema.enum"),
        ({"tools": [{**TIMER, "parameters": {"type": "array"}}]}, "tools[0].parameters.type"),
        (
            {"tools": [{**TIMER, "parameters": {"properties": {"a": {"not": {}}}}}]},
            "tools[0].parameters.properties.a",
        ),
    ],
)
async def test_what_is_not_supported_is_named(
    sdk: openai.AsyncOpenAI, fields: dict[str, Any], param: str | None
) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        await sdk.responses.create(**{"model": "tiny", "input": "hello", **fields})
    assert raised.value.param
    assert param is None or raised.value.param == param
    assert "extract" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "param", "told"),
    [
        ([], "input", "List should have at least 1 item"),
        ([{"type": "image"}], "input[0]", "an item of type message, function_call"),
        ([5], "input[0]", "an item of type message, function_call"),
    ],
)
def test_what_is_wrong_with_the_input_is_told_in_the_clients_terms(
    given: list[Any], param: str, told: str
) -> None:
    with pytest.raises(ApiError) as raised:
        parsed(ResponseRequest, json.dumps({"model": "m", "input": given}).encode())
    assert raised.value.param == param
    assert told in str(raised.value)
    assert "_kind" not in str(raised.value)


def test_items_become_the_dialogue() -> None:
    items = [
        {"role": "developer", "content": "Be kind."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "y", "arguments": '{"n": 1}'},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
        },
        {"role": "user", "content": "thanks"},
    ]
    body = json.dumps({"model": "tiny", "input": items}).encode()
    (request,) = response_requests(parsed(ResponseRequest, body))
    assert [turn.role for turn in request.turns] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user")
    ]
    assert [call.name for call in request.turns[2].calls] == ["x", "y"]


def test_formats_are_those_of_chat_completions() -> None:
    body = {"model": "tiny", "input": "a", "text": {"format": {"type": "json_schema", "name": "x"}}}
    body["text"]["format"]["schema"] = {"type": "object"}  # type: ignore[index]
    (request,) = response_requests(parsed(ResponseRequest, json.dumps(body).encode()))
    assert request.format is not None
    with pytest.raises(ApiError, match="format"):
        parsed(ResponseRequest, b'{"model": "tiny", "input": "a", "text": {"format": {"type": 1}}}')
