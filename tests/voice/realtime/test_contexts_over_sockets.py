"""What a client's messages, tools and results may be, with the embedded model behind a socket."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.voice.realtime.test_over_sockets import receive_until, running, send
from voice.session.resources import Resources

SEARCH = {
    "type": "function",
    "name": "search",
    "description": "Search the web.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
}
ANSWERED = ("completed", "incomplete")
"""Whatever the model makes of so many words, the answer is its own, and may go round in circles."""
UNIQUE = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}


@pytest.fixture
async def socket(embedded_parts: Resources) -> AsyncGenerator[ClientConnection, None]:
    """A conversation in text."""
    async with running(embedded_parts) as url, connect(url) as opened:
        session = {"output_modalities": ["text"], "tools": [SEARCH]}
        await send(opened, "session.update", session=session)
        await receive_until(opened, "session.updated")
        yield opened


async def reply(socket: ClientConnection, **wanted: Any) -> dict[str, Any]:
    await send(socket, "response.create", response=wanted)
    response: dict[str, Any] = (await receive_until(socket, "response.done"))[-1]["response"]
    return response


async def say(socket: ClientConnection, text: str, **wanted: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    await send(socket, "conversation.item.create", item=item)
    return await reply(socket, **wanted)


async def answer(socket: ClientConnection, response: dict[str, Any], output: str) -> dict[str, Any]:
    [call] = [item for item in response["output"] if item["type"] == "function_call"]
    item = {"type": "function_call_output", "call_id": call["call_id"], "output": output}
    await send(socket, "conversation.item.create", item=item)
    return await reply(socket)


async def test_a_reply_may_be_as_long_as_the_protocol_says(socket: ClientConnection) -> None:
    await send(socket, "session.update", session={"max_output_tokens": 4096})
    await receive_until(socket, "session.updated")
    assert (await say(socket, "hello"))["status"] == "completed"


async def test_a_long_result_ends_no_conversation(socket: ClientConnection) -> None:
    called = await say(socket, "search for penguins", tool_choice="required")
    found = [{"title": f"Penguin {n}", "url": f"https://example.com/{n}"} for n in range(180)]
    told = await answer(socket, called, json.dumps({"results": found}))
    assert told["status"] in ANSWERED
    assert (await say(socket, "hello"))["status"] in ANSWERED


async def test_a_long_message_ends_no_conversation(socket: ClientConnection) -> None:
    assert (await say(socket, "word " * 10_000))["status"] in ANSWERED
    assert (await say(socket, "hello"))["status"] in ANSWERED


async def test_a_tool_that_answers_with_nothing_is_called_once(socket: ClientConnection) -> None:
    called = await say(socket, "search for penguins", tool_choice="required")
    told = await answer(socket, called, "")
    assert [item["type"] for item in told["output"]] == ["message"]


async def test_tools_that_the_model_cannot_call_are_refused_and_the_old_ones_stay(
    socket: ClientConnection,
) -> None:
    for schema, param in ((UNIQUE, "properties.x"), ({"type": "foo"}, "properties.x.type")):
        tools = [SEARCH | {"parameters": {"properties": {"x": schema}}}]
        for kind, field in (("session.update", "session"), ("response.create", "response")):
            await send(socket, kind, **{field: {"instructions": "Sing.", "tools": tools}})
            error = (await receive_until(socket, "error"))[-1]["error"]
            assert error["param"] == f"{field}.tools.0.parameters.{param}"
    await send(socket, "session.update", session={})
    session = (await receive_until(socket, "session.updated"))[-1]["session"]
    assert session["tools"] == [SEARCH]
    assert session["instructions"] != "Sing."
    assert (await say(socket, "hello"))["status"] == "completed"
