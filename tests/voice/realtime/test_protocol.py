import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fakes import OPTIONS, FakeModel, FakeSession, counting_ids, refusal
from tests.voice.realtime.wire import AUDIO, NAMES, TYPED, Wire
from voice.errors import ProtocolError
from voice.events import (
    FinalTranscript,
    ReplyStarted,
    ReplyToolCall,
    UserSpeechStarted,
    UserTurnCommitted,
    UserTurnDropped,
)
from voice.realtime import items
from voice.realtime.client_events import CLIENT_EVENTS
from voice.realtime.items import MAX_CHARS
from voice.realtime.protocol import RealtimeProtocol, preview
from voice.types import Message, Role, ToolCall, ToolSpec


def test_the_session_opens_in_full(wire: Wire) -> None:
    (created,) = wire.protocol.opening()
    assert created["type"] == "session.created"
    assert created["event_id"].startswith("event_")
    assert created["session"]["id"] == wire.protocol.session_id
    assert created["session"]["instructions"] == "You are a test."
    assert created["session"]["audio"]["input"]["turn_detection"]["interrupt_response"] is True


def test_a_client_is_told_its_trace_once_and_where_it_asks_for_it() -> None:
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    protocol = RealtimeProtocol(FakeSession(), NAMES, counting_ids(), trace_id=trace_id)  # type: ignore[arg-type]
    assert [event["type"] for event in protocol.opening()] == ["session.created"]
    asking = json.dumps(
        {"type": "session.update", "session": {"quicksilver": {"events": ["trace"]}}}
    )
    _, told = protocol.receive(asking)
    assert (told["type"], told["trace_id"]) == ("quicksilver.trace", trace_id)
    assert [event["type"] for event in protocol.receive(asking)] == ["session.updated"]


def test_a_client_that_is_in_no_trace_is_told_none(wire: Wire) -> None:
    wire.send("session.update", session={"quicksilver": {"events": ["trace"]}})
    assert [event["type"] for event in wire.protocol.opening()] == ["session.created"]


def test_an_update_is_merged_and_answered_in_full(wire: Wire) -> None:
    audio = {"input": {"turn_detection": {"type": "server_vad"}}}
    (updated,) = wire.send("session.update", session={"type": "realtime", "audio": audio})
    assert updated["type"] == "session.updated"
    assert updated["session"]["audio"]["input"]["turn_detection"]["silence_duration_ms"] == 500
    assert wire.session.options.silence_ms == 500
    wire.send("session.update", session={"type": "realtime", "model": "gpt", "tracing": "auto"})
    assert wire.session.options.silence_ms == 500


def test_a_wrong_update_changes_nothing(wire: Wire) -> None:
    session = {"instructions": "New.", "audio": {"output": {"speed": 9}}}
    error = wire.error("session.update", session=session, event_id="e7")
    assert error["param"] == "session.audio.output.speed"
    assert error["event_id"] == "e7"
    assert wire.session.calls == []
    assert wire.protocol.shown["instructions"] == "You are a test."


def test_audio_goes_to_the_session(wire: Wire) -> None:
    assert wire.send("input_audio_buffer.append", audio=AUDIO) == []
    wire.send("session.update", session={"audio": {"input": {"format": {"type": "audio/pcmu"}}}})
    wire.send("input_audio_buffer.append", audio=AUDIO)
    appended = [call for call in wire.session.calls if call[0] == "append_audio"]
    assert appended == [("append_audio", 480, 24_000), ("append_audio", 960, 8_000)]
    assert wire.error("input_audio_buffer.append", audio="?")["param"] == "audio"
    assert wire.error("output_audio_buffer.clear")["code"] == "unsupported_event"


def test_manual_turns(wire: Wire) -> None:
    assert wire.send("input_audio_buffer.commit") == []
    (cleared,) = wire.send("input_audio_buffer.clear")
    assert cleared["type"] == "input_audio_buffer.cleared"
    assert wire.session.calls == [("commit_audio",), ("clear_audio",)]
    wire.session.refuse = refusal("input_audio_buffer_commit_empty")
    error = wire.error("input_audio_buffer.commit", event_id="e1")
    assert (error["code"], error["event_id"]) == ("input_audio_buffer_commit_empty", "e1")


def test_a_turn_that_is_dropped_is_heard_no_more(wire: Wire) -> None:
    wire.protocol.enable_extensions(["state"])
    wire.protocol.translate(UserSpeechStarted(2, "i1", 0))
    assert wire.protocol.translate(UserTurnDropped(1, "i0")) == []
    (state,) = wire.protocol.translate(UserTurnDropped(2, "i1"))
    assert (state["type"], state["state"]) == ("quicksilver.state", "listening")
    assert wire.protocol.translate(UserTurnDropped(2, "i1")) == []


def test_typed_messages(wire: Wire) -> None:
    added, done = wire.send("conversation.item.create", item=TYPED)
    assert (added["type"], done["type"]) == ("conversation.item.added", "conversation.item.done")
    assert added["previous_item_id"] is None
    item_id = added["item"]["id"]
    assert wire.session.calls == [("add_item", item_id, Message(Role.USER, "Hello."), None)]
    second, _ = wire.send("conversation.item.create", item={**TYPED, "id": "mine"})
    assert (second["item"]["id"], second["previous_item_id"]) == ("mine", item_id)
    front, _ = wire.send("conversation.item.create", item=TYPED, previous_item_id="root")
    assert front["previous_item_id"] is None
    assert wire.session.calls[-1][3] == "root"
    wire.session.calls.clear()
    output = {"type": "function_call_output", "call_id": "c1", "output": "Rain."}
    for code, fields in (
        ("item_exists", {"item": {**TYPED, "id": "mine"}}),
        ("invalid_tool_call_id", {"item": output}),
    ):
        assert wire.error("conversation.item.create", **fields)["code"] == code
    nowhere = wire.error("conversation.item.create", item=TYPED, previous_item_id="nobody")
    assert (nowhere["code"], nowhere["param"]) == ("item_not_found", "previous_item_id")
    assert nowhere["message"].startswith("previous_item_id: got 'nobody'")
    assert wire.session.calls == []


def test_a_function_that_the_client_runs(wire: Wire) -> None:
    call = ToolCall("c1", "weather", {"place": "Rome"})
    wire.protocol.translate(ReplyStarted("r1", "i2", 1, None))
    wire.protocol.translate(ReplyToolCall("r1", "i3", call, client_side=True))
    output = {"type": "function_call_output", "call_id": "c1", "output": "Rain."}
    added, _ = wire.send("conversation.item.create", item=output)
    assert added["previous_item_id"] == "i3"
    message = Message(Role.TOOL, "Rain.", call_id="c1", name="weather")
    assert wire.session.calls[-1] == ("add_item", added["item"]["id"], message, None)
    # A second one is an error, and the first may be taken back.
    repeated = wire.error("conversation.item.create", item=output, event_id="e1")
    assert (repeated["code"], repeated["event_id"]) == ("item_exists", "e1")
    wire.send("conversation.item.delete", item_id=added["item"]["id"])
    assert len(wire.send("conversation.item.create", item=output)) == 2


def test_an_item_of_audio_is_recognised(wire: Wire) -> None:
    content = [{"type": "input_audio", "audio": AUDIO}]
    added, _ = wire.send("conversation.item.create", item={**TYPED, "content": content})
    assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]
    item_id = added["item"]["id"]
    assert wire.session.calls == [
        ("add_item", item_id, Message(Role.USER, ""), None),
        ("hear_item", item_id, 480, 24_000, 0),
    ]
    wire.protocol.translate(FinalTranscript(0, item_id, "Hello.", 0.9, 1.0))
    (retrieved,) = wire.send("conversation.item.retrieve", item_id=item_id)
    assert retrieved["item"]["content"][0]["transcript"] == "Hello."
    broken = [{"type": "input_audio", "audio": "?"}]
    error = wire.error("conversation.item.create", item={**TYPED, "content": broken})
    assert error["param"] == "item.content"
    assert len(wire.session.calls) == 2


def test_an_item_of_audio_and_text_keeps_their_order(wire: Wire) -> None:
    text = [{"type": "input_text", "text": word} for word in ("Say", "in", "German.")]
    content = [text[0], {"type": "input_audio", "audio": AUDIO}, *text[1:]]
    added, _ = wire.send("conversation.item.create", item={**TYPED, "content": content})
    item_id = added["item"]["id"]
    assert wire.session.calls == [
        ("add_item", item_id, Message(Role.USER, "Say in German."), None),
        ("hear_item", item_id, 480, 24_000, len("in German.")),
    ]


def test_truncation_leaves_what_was_heard(wire: Wire) -> None:
    wire.reply("Hello there, how are you?")
    (truncated,) = wire.send(
        "conversation.item.truncate", item_id="i2", content_index=0, audio_end_ms=1240
    )
    del truncated["event_id"]
    assert truncated == {
        "type": "conversation.item.truncated",
        "item_id": "i2",
        "content_index": 0,
        "audio_end_ms": 1240,
    }
    assert wire.send("quicksilver.played", item_id="i2", audio_end_ms=300.5) == []
    assert wire.session.calls == [("truncate", "r1", 1240), ("played", "r1", 300.5)]
    unknown = wire.error("quicksilver.played", item_id="i9", audio_end_ms=1)
    assert unknown["code"] == "item_not_found"
    wire.session.messages["i2"] = Message(Role.AGENT, "Hello there,")
    (retrieved,) = wire.send("conversation.item.retrieve", item_id="i2")
    assert retrieved["type"] == "conversation.item.retrieved"
    assert retrieved["item"]["content"] == [{"type": "output_audio", "transcript": "Hello there,"}]


def test_only_the_agents_messages_can_be_truncated(wire: Wire) -> None:
    wire.protocol.translate(UserTurnCommitted(1, "i1", None))
    where = {"content_index": 0, "audio_end_ms": 10}
    assert wire.error("conversation.item.truncate", item_id="i1", **where)["param"] == "item_id"
    error = wire.error("conversation.item.truncate", item_id="i9", **where)
    assert error["code"] == "item_not_found"
    wire.reply()
    wire.session.refuse = refusal("invalid_value")
    assert wire.error("conversation.item.truncate", item_id="i2", **where)["message"] == "refused"


def test_text_cannot_be_truncated(wire: Wire) -> None:
    wire.protocol.configure({"output_modalities": ["text"]})
    wire.reply()
    error = wire.error("conversation.item.truncate", item_id="i2", audio_end_ms=10)
    assert (error["code"], error["param"]) == ("invalid_value", "item_id")
    assert "only audio" in error["message"]


def test_items_can_be_deleted(wire: Wire) -> None:
    wire.send("conversation.item.create", item={**TYPED, "id": "mine"})
    (deleted,) = wire.send("conversation.item.delete", item_id="mine")
    assert (deleted["type"], deleted["item_id"]) == ("conversation.item.deleted", "mine")
    for kind in ("delete", "retrieve"):
        assert wire.error(f"conversation.item.{kind}", item_id="mine")["code"] == "item_not_found"


def test_the_oldest_items_are_deleted_where_all_are_too_long(wire: Wire) -> None:
    part = {"type": "input_text", "text": "x" * (MAX_CHARS // 3)}
    for number in range(3):
        item = {**TYPED, "id": f"i{number}", "content": [part]}
        events = wire.send("conversation.item.create", item=item)
        told = [event.get("item_id") for event in events if event["type"].endswith(".deleted")]
        assert told == (["i0"] if number == 2 else [])
    assert wire.session.calls[-1] == ("delete_item", "i0")
    assert wire.error("conversation.item.retrieve", item_id="i0")["code"] == "item_not_found"


def test_the_oldest_of_too_many_items_is_deleted_for_the_client_and_the_session(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "MAX_ITEMS", 2)
    for item_id in ("i1", "i2"):
        wire.protocol.translate(UserTurnCommitted(1, item_id, None))
    deleted = wire.protocol.translate(UserTurnCommitted(1, "i3", None))[-1]
    assert (deleted["type"], deleted["item_id"]) == ("conversation.item.deleted", "i1")
    deleted = wire.send("conversation.item.create", item=TYPED)[-1]
    assert (deleted["type"], deleted["item_id"]) == ("conversation.item.deleted", "i2")
    assert wire.session.calls[-1] == ("delete_item", "i2")


def test_extensions_are_opt_in(wire: Wire) -> None:
    final = FinalTranscript(1, "i1", "Hello.", 0.9, 1.0)
    assert wire.protocol.translate(final) == []
    wire.protocol.enable_extensions(["transcript"])
    assert [e["type"] for e in wire.protocol.translate(final)] == ["quicksilver.transcript"]
    session = {"audio": {"input": {"transcription": {"model": "local"}}}}
    wire.send("session.update", session=session)
    assert len(wire.protocol.translate(final)) == 3
    wire.send("session.update", session={"quicksilver": {"events": []}})
    assert len(wire.protocol.translate(final)) == 2


def test_extensions_in_the_address_put_no_greeting_off_and_bring_none() -> None:
    session = FakeSession()
    protocol = RealtimeProtocol(session, NAMES, counting_ids(), idle_s=15.0)  # type: ignore[arg-type]
    protocol.enable_extensions(["state"])
    protocol.configure({"instructions": "Hi."})
    assert (session.calls.count(("greet",)), session.options.idle_timeout_s) == (0, 0)
    assert protocol.shown["quicksilver"]["greet"] is True
    protocol.configure({"quicksilver": {"agent_tools": []}})
    assert (session.calls.count(("greet",)), session.options.idle_timeout_s) == (1, 15.0)
    assert protocol.shown["quicksilver"]["events"] == ["state"]
    protocol.configure({"quicksilver": {"events": ["heard"]}})
    assert session.calls.count(("greet",)) == 1


def test_who_knows_of_greetings_is_asked_whether_they_are_there() -> None:
    session = FakeSession()
    protocol = RealtimeProtocol(session, NAMES, counting_ids(), idle_s=15.0)  # type: ignore[arg-type]
    protocol.configure({"instructions": "Hi."})
    assert session.options.idle_timeout_s == 0
    protocol.configure({"quicksilver": {"events": ["state"]}})
    assert (session.options.idle_timeout_s, session.options.idle_ends) == (15.0, True)
    detection = {"type": "server_vad", "idle_timeout_ms": 6000}
    protocol.configure({"audio": {"input": {"turn_detection": detection}}})
    assert (session.options.idle_timeout_s, session.options.idle_ends) == (6.0, False)
    protocol.configure({"type": "transcription"})
    assert session.options.idle_timeout_s == 0


def test_a_session_can_be_shown_before_it_exists() -> None:
    shown = preview(OPTIONS, {"instructions": "Sing."}, NAMES, FakeModel())
    assert (shown["instructions"], shown["model"]) == ("Sing.", "quicksilver")
    with pytest.raises(ProtocolError):
        choice = {"type": "function", "name": "none_such"}
        preview(OPTIONS, {"tool_choice": choice}, NAMES, FakeModel())


def test_a_session_whose_tools_cannot_be_called_is_not_shown() -> None:
    class Refusing(FakeModel):
        def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
            assert [tool.name for tool in tools] == ["f"]
            raise refusal(path)

    with pytest.raises(ProtocolError) as raised:
        preview(OPTIONS, {"tools": [{"name": "f"}]}, NAMES, Refusing())
    assert raised.value.code == "session.tools"


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_no_text_breaks_it(text: str) -> None:
    assert all(event["type"] == "error" for event in Wire().protocol.receive(text))


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        name: st.none() | st.integers() | st.text(max_size=4) | st.just({}) | st.just([{}])
        for name in ("session", "audio", "item", "item_id", "response", "audio_end_ms", "event_id")
    },
)
KINDS = st.sampled_from(sorted(CLIENT_EVENTS))


@given(st.lists(st.tuples(KINDS, FIELDS), max_size=5))
def test_no_sequence_of_events_breaks_it(events: list[tuple[str, dict[str, Any]]]) -> None:
    wire = Wire()
    for kind, fields in events:
        for answer in wire.send(kind, **fields):
            json.dumps(answer)
    assert wire.send("session.update", session={})[0]["type"] == "session.updated"


def test_a_transcription_session_transcribes_and_does_no_more(wire: Wire) -> None:
    (updated,) = wire.send("session.update", session={"type": "transcription"})
    assert updated["session"]["type"] == "transcription"
    wire.protocol.translate(UserTurnCommitted(1, "i1", None))
    kinds = [
        event["type"].rpartition(".")[2]
        for event in wire.protocol.translate(FinalTranscript(1, "i1", "Hello.", 0.9, 1.0))
    ]
    assert kinds == ["delta", "completed"]
    assert wire.error("response.create")["code"] == "unsupported_event"
    wire.send("session.update", session={"quicksilver": {"events": []}})
    assert ("greet",) not in wire.session.calls
