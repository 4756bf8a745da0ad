"""What a client's messages, tools and results may be, with the embedded model behind a socket."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.voice.realtime.test_over_sockets import receive_until, running, send
from voice.dialogue.call_checks import STILL_WAITS
from voice.dialogue.fillers import UNDER_WAY
from voice.session.resources import Resources

SEARCH = {
    "type": "function",
    "name": "search",
    "description": "Search the web.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
}
FEED_CAT = {
    "type": "function",
    "name": "feed_cat",
    "description": "Feed the cat some grams of food.",
    "parameters": {
        "type": "object",
        "properties": {"grams": {"type": "integer"}, "cat": {"type": "string"}},
        "required": ["grams", "cat"],
    },
}
CLEAN_BOWL = {
    "type": "function",
    "name": "clean_bowl",
    "description": "Clean the bowl of an animal.",
    "parameters": {
        "type": "object",
        "properties": {"animal": {"type": "string"}},
        "required": ["animal"],
    },
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


def words(response: dict[str, Any]) -> str:
    """What a reply of words alone says."""
    assert response["status"] == "completed"
    [item] = response["output"]
    return str(item["content"][0]["text"])


async def test_while_a_call_waits_for_its_output_the_agent_goes_on(
    socket: ClientConnection,
) -> None:
    await send(socket, "session.update", session={"tools": [FEED_CAT, CLEAN_BOWL]})
    fed = await say(socket, "Feed Tom 30 grams")
    assert fed["output"][0]["name"] == "feed_cat"
    assert "Quicksilver" in words(await say(socket, "What is your name?"))
    # The same call is not sent twice, nor anything false in its place.
    assert words(await say(socket, "Feed Tom 30 grams")) == UNDER_WAY
    assert words(await say(socket, "Stop, do not feed him"))
    cleaned = await say(socket, "Please clean the bowl of Rex")
    [call] = cleaned["output"]
    assert (call["name"], json.loads(call["arguments"])) == ("clean_bowl", {"animal": "Rex"})
    # What still waits is not told beside what is done.
    assert words(await answer(socket, cleaned, "The bowl of Rex is clean.")) == (
        "The bowl of Rex is clean."
    )
    assert words(await answer(socket, fed, "Tom was fed.")) == "Tom was fed."
    again = await say(socket, "Feed Tom 30 grams")
    assert again["output"][0]["name"] == "feed_cat"


async def test_who_requires_a_call_that_waits_is_told_why_there_is_none(
    socket: ClientConnection,
) -> None:
    await send(socket, "session.update", session={"tools": [FEED_CAT], "tool_choice": "required"})
    first = await say(socket, "Feed Tom 30 grams")
    assert json.loads(first["output"][0]["arguments"]) == {"grams": 30, "cat": "Tom"}
    second = await say(socket, "Feed Tom 30 grams")
    assert (second["status"], second["output"]) == ("failed", [])
    assert second["status_details"]["error"]["message"] == STILL_WAITS


async def test_cancelling_another_response_than_the_one_in_progress_says_so(
    socket: ClientConnection,
) -> None:
    await send(socket, "response.create")
    own = (await receive_until(socket, "response.created"))[-1]["response"]["id"]
    await send(socket, "response.cancel", response_id="resp_another")
    error = (await receive_until(socket, "error"))[-1]["error"]
    assert error["code"] == "response_cancel_not_active"
    assert error["param"] == "response_id"
    assert "'resp_another' is not in progress" in error["message"]
    await send(socket, "response.cancel", response_id=own)
    events = await receive_until(socket, "response.done")
    assert events[-1]["response"]["id"] == own
