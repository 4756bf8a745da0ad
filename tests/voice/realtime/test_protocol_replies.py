import base64
import json
from typing import Any

import numpy as np
import pytest

from tests.support.fakes import FakeSession, counting_ids, refusal
from tests.voice.realtime.wire import NAMES, TYPED, Wire
from voice.access.rate_limits import TokenBucket
from voice.events import (
    ReplyAudio,
    ReplyStarted,
    ReplyToolCall,
    ServerListing,
)
from voice.realtime.protocol import RealtimeProtocol
from voice.types import Message, Role, ServerTool, ToolCall


def test_a_reply_can_be_asked_for(wire: Wire) -> None:
    assert wire.send("response.create") == []
    assert wire.session.calls == [("create_response", None)]
    response = {
        "instructions": "Sing.",
        "output_modalities": ["text"],
        "max_output_tokens": 20,
        "metadata": {"topic": "song"},
        "conversation": "auto",
    }
    wire.send("response.create", response=response)
    overrides = {"instructions": "Sing.", "speak": False, "max_reply_tokens": 20}
    assert wire.session.calls[-1] == ("create_response", overrides)
    (created,) = wire.protocol.translate(ReplyStarted("r2", "i2", 1, None))
    assert created["response"]["metadata"] == {"topic": "song"}
    assert created["response"]["output_modalities"] == ["text"]
    assert wire.session.options.speak


@pytest.mark.parametrize(
    ("response", "param"),
    [
        ({"conversation": "conv_1"}, "response.conversation"),
        ({"input": {}}, "response.input"),
        ({"metadata": {"a": "x" * 513}}, "response.metadata.a"),
        ({"tools": [{"type": "mcp", "server_label": "x"}]}, "response.tools.0.server_url"),
        ({"tool_choice": {"type": "function", "name": "none"}}, "response.tool_choice"),
        ({"audio": {"output": {"format": {"type": "audio/mp3"}}}}, "response.audio.output.format"),
    ],
)
def test_a_wrong_reply_is_refused(wire: Wire, response: dict[str, Any], param: str) -> None:
    assert wire.error("response.create", response=response)["param"] == param
    assert wire.session.calls == []


def test_a_reply_that_is_refused_costs_nothing() -> None:
    session, allowance = FakeSession(), TokenBucket(1e-6, 1)
    protocol = RealtimeProtocol(session, NAMES, counting_ids(), allowance)  # type: ignore[arg-type]

    def codes(**response: Any) -> list[str]:
        text = json.dumps({"type": "response.create", "response": response})
        return [event["error"]["code"] for event in protocol.receive(text)]

    assert codes(max_output_tokens=-1) == ["invalid_value"]
    session.refuse = refusal("conversation_already_has_active_response")
    assert codes() == ["conversation_already_has_active_response"]
    assert codes() == []
    assert codes() == ["rate_limit_exceeded"]


def test_a_reply_to_an_approval_counts() -> None:
    session, allowance = FakeSession(), TokenBucket(1e-6, 9)
    protocol = RealtimeProtocol(session, NAMES, counting_ids(), allowance)  # type: ignore[arg-type]
    store = ServerTool("sums_store", "store", "", {}, None)
    protocol.translate(ServerListing("sums", "http://sums", (store,)))
    protocol.translate(ReplyStarted("r1", "i1", 1, None))
    protocol.translate(ReplyToolCall("r1", "i2", ToolCall("c1", store.name, {}), client_side=True))
    answer = {"type": "mcp_approval_response", "approval_request_id": "i2", "approve": True}
    text = json.dumps({"type": "conversation.item.create", "item": answer})
    told = [event["type"] for event in protocol.receive(text)]
    assert told == ["conversation.item.added", "conversation.item.done"]
    _, limits = protocol.translate(ReplyStarted("approved", "i3", 1, None))
    assert limits["rate_limits"][0]["remaining"] == 7


def test_tools_that_an_mcp_server_has_no_more_are_forgotten(wire: Wire) -> None:
    add, store = (ServerTool(f"sums_{name}", name, "", {}, None) for name in ("add", "store"))
    server = {"type": "mcp", "server_label": "sums", "server_url": "http://sums"}
    wire.send("session.update", session={"tools": [server]})

    def asks_for(tool: ServerTool) -> str:
        """How the client is told of a call that is the client's own, or of the server's tool."""
        wire.protocol.translate(ReplyStarted("r1", "i1", 1, None))
        call = ToolCall("c1", tool.name, {})
        told = wire.protocol.translate(ReplyToolCall("r1", "i2", call, client_side=True))
        return str(told[0]["item"]["type"])

    wire.protocol.translate(ServerListing("sums", "http://sums", (add, store)))
    assert asks_for(store) == "mcp_approval_request"
    wire.protocol.translate(ServerListing("sums", "http://sums", (add,)))
    assert (asks_for(add), asks_for(store)) == ("mcp_approval_request", "function_call")
    wire.send("session.update", session={"tools": []})
    assert asks_for(add) == "function_call"


def test_a_reply_beside_the_conversation_with_its_own_context(wire: Wire) -> None:
    wire.send("conversation.item.create", item={**TYPED, "id": "mine"})
    response = {
        "conversation": "none",
        "input": [{"type": "item_reference", "id": "mine"}, TYPED],
        "instructions": "Sort.",
        "output_modalities": ["text"],
        "metadata": {"topic": "sorting"},
    }
    assert wire.send("response.create", response=response) == []
    overrides = {"instructions": "Sort.", "speak": False}
    context = ("mine", Message(Role.USER, "Hello."))
    assert wire.session.calls[-1] == ("create_response", overrides, context, True)
    (created,) = wire.protocol.translate(ReplyStarted("r1", "i2", 1, None, out_of_band=True))
    assert created["response"]["conversation_id"] is None
    assert created["response"]["metadata"] == {"topic": "sorting"}
    assert wire.protocol.is_out_of_band("r1")


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ({"type": "item_reference", "id": "nobody"}, "response.input.1.id"),
        (
            {"type": "function_call_output", "call_id": "c9", "output": ""},
            "response.input.1.call_id",
        ),
        (
            {**TYPED, "content": [{"type": "input_audio", "audio": "AAAA"}]},
            "response.input.1.content",
        ),
    ],
)
def test_a_wrong_context_is_refused_by_name(wire: Wire, item: dict[str, Any], param: str) -> None:
    response = {"conversation": "none", "input": [TYPED, item]}
    assert wire.error("response.create", response=response)["param"] == param
    assert wire.session.calls == []


def test_a_call_and_its_output_are_context(wire: Wire) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "Rain."}
    wire.send("response.create", response={"input": [TYPED, call, output]})
    _, _, context, beside = wire.session.calls[-1]
    assert [message.role for message in context] == [Role.USER, Role.AGENT, Role.TOOL]
    assert not beside


def test_one_reply_alone_has_another_audio_format(wire: Wire) -> None:
    audio = {"output": {"format": {"type": "audio/pcmu"}}}
    wire.send("response.create", response={"audio": audio})
    assert wire.session.calls == [("create_response", {"output_rate_hz": 8000})]
    (created,) = wire.protocol.translate(ReplyStarted("r1", "i2", 1, None))
    assert created["response"]["audio"]["output"]["format"] == {"type": "audio/pcmu"}
    second = np.ones(8000, np.int16)
    audio_events = wire.protocol.translate(ReplyAudio("r1", second, 8000))
    deltas = [e["delta"] for e in audio_events if e["type"] == "response.output_audio.delta"]
    assert sum(len(base64.b64decode(delta)) for delta in deltas) == 8000
    (usual,) = wire.protocol.translate(ReplyStarted("r9", "i3", 1, None))
    assert usual["response"]["audio"]["output"]["format"]["type"] == "audio/pcm"


def test_a_voice_that_has_been_heard_stays(wire: Wire) -> None:
    ash, sage = ({"audio": {"output": {"voice": voice}}} for voice in ("ash", "sage"))
    wire.send("session.update", session=ash)
    wire.send("session.update", session=sage)
    wire.protocol.translate(ReplyStarted("r1", "i2", 1, None))
    wire.protocol.translate(ReplyAudio("r1", np.ones(480, np.int16), 24_000))
    error = wire.error("session.update", session={**ash, "instructions": "New."})
    assert (error["code"], error["param"]) == (
        "cannot_update_voice",
        "session.audio.output.voice",
    )
    assert wire.session.options.instructions == "You are a test."
    assert wire.error("response.create", response=ash)["param"] == "response.audio.output.voice"
    for same in (sage, {"audio": {"output": {"voice": {"id": "sage"}}}}):
        assert wire.send("session.update", session=same)[0]["type"] == "session.updated"
    # The voice in use, as the session object shows it.
    shown = {"audio": {"output": {"voice": "espeak"}}}
    assert wire.send("session.update", session=shown)[0]["type"] == "session.updated"


def test_a_reply_can_be_cancelled(wire: Wire) -> None:
    assert wire.send("response.cancel", response_id="r1") == []
    assert wire.session.calls == [("cancel_response", "r1")]
    wire.session.refuse = refusal("response_cancel_not_active")
    assert wire.error("response.cancel")["code"] == "response_cancel_not_active"
