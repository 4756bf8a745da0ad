from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.events import (
    Denoising,
    Failure,
    FinalTranscript,
    InterimTranscript,
    ReplyAudio,
    ReplyDrafted,
    ReplyEnded,
    ReplyHeard,
    ReplyHeld,
    ReplyReleased,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyToolCall,
    ReplyToolResult,
    SessionEvent,
    TranscriptFailed,
    TurnMeasured,
    UserIdle,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.realtime.extensions import NAMES, StateTracker, checked_names, extension_events
from voice.realtime.items import ItemLog, parse_item, wire_item
from voice.realtime.server_events import Response, ResponseFormat, ServerEvents
from voice.realtime.wire import PcmFormat
from voice.types import ToolCall, ToolResult

FORM = ResponseFormat(True, PcmFormat(type="audio/pcm"), "espeak", "inf")


def outgoing() -> ServerEvents:
    out = ServerEvents("conv_1", FORM)
    out.configure(FORM, True, None)
    return out


def kinds(out: ServerEvents, *events: SessionEvent) -> list[str]:
    return [sent["type"] for event in events for sent in out.translate(event)]


def ended(reply_id: str) -> ReplyEnded:
    return ReplyEnded(reply_id, ReplyStatus.COMPLETED, "", "Hi.", 1, 1)


def test_a_turn_in_order() -> None:
    out = outgoing()
    happened = [
        UserSpeechStarted(1, "i1", 8_000),
        InterimTranscript(1, "i1", "what"),
        UserSpeechStopped(1, "i1", 24_016),
        UserTurnCommitted(1, "i1", None),
        FinalTranscript(1, "i1", "What time is it?", 0.9, 1.0),
        ReplyStarted("r1", "i2", 1, "i1"),
    ]
    sent = [event for each in happened for event in out.translate(each)]
    assert (sent[0]["audio_start_ms"], sent[1]["audio_end_ms"]) == (500, 1501)
    assert sent[0]["item_id"] == sent[1]["item_id"] == "i1"
    assert types_of(sent) == [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.delta",
        "conversation.item.input_audio_transcription.completed",
        "response.created",
    ]
    assert out.items.require("i1")["content"][0]["transcript"] == "What time is it?"


def test_the_users_item_has_a_transcript_of_null() -> None:
    out = outgoing()
    out.translate(UserTurnCommitted(1, "i0", None))
    committed, added, done = out.translate(UserTurnCommitted(1, "i1", "i0"))
    assert committed["previous_item_id"] == added["previous_item_id"] == "i0"
    assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]
    assert done["item"] == added["item"]
    # The result of a tool is an item that the client does not know.
    unknown = out.translate(UserTurnCommitted(2, "i4", "result-of-a-tool"))[0]
    assert unknown["previous_item_id"] == "i1"


def test_transcription_deltas_make_the_transcript() -> None:
    delta, done = outgoing().translate(FinalTranscript(1, "i1", "Hello.", 0.8, 1.23456))
    assert delta["delta"] == done["transcript"] == "Hello."
    assert done["usage"] == {"type": "duration", "seconds": 1.235}
    nothing = outgoing().translate(FinalTranscript(1, "i1", "", 0.0, 0.5))
    assert [event["transcript"] for event in nothing] == [""]


SERVER_ERROR = {"type": "server_error", "code": "asr_failed", "message": "broken"}


@pytest.mark.parametrize(
    ("event", "sent"),
    [
        (
            TranscriptFailed(1, "i1", "broken"),
            {
                "type": "conversation.item.input_audio_transcription.failed",
                "item_id": "i1",
                "content_index": 0,
                "error": SERVER_ERROR,
            },
        ),
        (
            Failure(1, "asr", "broken"),
            {"type": "error", "error": {**SERVER_ERROR, "param": None, "event_id": None}},
        ),
    ],
)
def test_a_failure_is_an_error_of_the_server(event: SessionEvent, sent: dict[str, Any]) -> None:
    assert outgoing().translate(event) == [sent]


def test_a_failure_names_the_part_that_was_not_recognised() -> None:
    out = outgoing()
    parts = [{"type": "input_text", "text": "Translate:"}, {"type": "input_audio", "audio": "AAAA"}]
    said = {"type": "message", "role": "user", "content": parts}
    out.items.put(wire_item(parse_item(said), "i1"))
    (failed,) = out.translate(TranscriptFailed(0, "i1", "broken"))
    assert (failed["content_index"], failed["error"]) == (1, SERVER_ERROR)


def test_only_the_clients_tools_are_its_items() -> None:
    out = outgoing()
    call = ToolCall("call_1", "weather", {})
    out.translate(ReplyStarted("r1", "i2", 1, None))
    assert kinds(out, ReplyToolCall("r1", "i3", call, client_side=False)) == []
    assert "conversation.item.added" in kinds(out, ReplyToolCall("r1", "i4", call, True))
    assert out.items.calls == {"call_1": "weather"}


def test_a_reply_beside_the_conversation_leaves_it_alone() -> None:
    out = outgoing()
    out.configure(FORM, True, {"state"})
    out.translate(ReplyStarted("r1", "i2", 1, None))
    (created,) = out.translate(ReplyStarted("r2", "i3", 0, None, out_of_band=True))
    response: Any = created["response"]
    assert response["conversation_id"] is None
    assert (out.is_out_of_band("r1"), out.is_out_of_band("r2")) == (False, True)
    call = ToolCall("call_1", "weather", {})
    events = [ReplyText("r2", "Well."), ReplyToolCall("r2", "i4", call, True), ended("r2")]
    told = [kind for event in events for kind in kinds(out, event)]
    assert told[-1] == "response.done"
    assert not [kind for kind in told if kind.startswith(("conversation.", "quicksilver."))]
    assert "i3" not in out.items
    assert out.items.calls == {}
    assert not out.spoke


def test_what_is_beside_the_conversation_is_none_of_its_items_when_it_is_cut_short() -> None:
    out = outgoing()
    out.translate(ReplyStarted("r1", "i2", 1, None))
    out.translate(ReplyStarted("r2", "i3", 0, None, out_of_band=True))
    assert [event["item_id"] for event in out.cut_short("r1", 40.0)] == ["i2"]
    assert out.cut_short("r2", 40.0) == []


def test_silence_of_the_user_is_an_item() -> None:
    out = outgoing()
    idle = UserIdle("i9", None, 16_000, 112_000)
    elapsed, *committed = out.translate(idle)
    assert elapsed == {
        "type": "input_audio_buffer.timeout_triggered",
        "audio_start_ms": 1000,
        "audio_end_ms": 7000,
        "item_id": "i9",
    }
    assert [event["type"] for event in committed] == [
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.completed",
    ]
    assert out.items.require("i9")["content"] == [{"type": "input_audio", "transcript": ""}]


def test_old_replies_are_forgotten() -> None:
    out = outgoing()
    for number in range(100):
        out.translate(ReplyStarted(f"r{number}", f"i{number}", number, None))
        out.translate(ended(f"r{number}"))
    assert out.response_of_item("i99") is not None
    assert out.response_of_item("i49") is None
    assert kinds(out, ReplyText("r0", "late")) == []


def test_a_reply_that_goes_on_is_not_forgotten() -> None:
    out = outgoing()
    out.translate(ReplyStarted("aside", "i", 0, None, out_of_band=True))
    for number in range(100):
        out.translate(ReplyStarted(f"r{number}", f"i{number}", number, None))
        out.translate(ended(f"r{number}"))
    assert kinds(out, ReplyText("aside", "Well."), ended("aside"))[-1] == "response.done"


HALF_SECOND = np.ones(12_000, np.int16)


def begin(form: ResponseFormat = FORM) -> Response:
    return Response(ReplyStarted("resp_1", "item_1", 1, None), form, "conv_1", ItemLog())


def end(status: ReplyStatus = ReplyStatus.COMPLETED, reason: str = "") -> ReplyEnded:
    return ReplyEnded("resp_1", status, reason, "Hello there.", 40, 7)


def types_of(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def test_a_spoken_reply() -> None:
    reply = begin()
    created = reply.created()
    assert created[0]["response"] == {
        "object": "realtime.response",
        "id": "resp_1",
        "status": "in_progress",
        "output": [],
        "conversation_id": "conv_1",
        "output_modalities": ["audio"],
        "max_output_tokens": "inf",
        "audio": {"output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "espeak"}},
    }
    opened = reply.text("Hello ")
    assert types_of(opened) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
    ]
    assert opened[0]["item"]["content"] == []
    assert opened[0]["item"]["status"] == "in_progress"
    assert opened[2]["part"] == {"type": "audio", "transcript": ""}
    sound = reply.audio(HALF_SECOND, 24_000)
    assert set(types_of(sound)) == {"response.output_audio.delta"}
    assert [len(base64.b64decode(event["delta"])) // 48 for event in sound] == [40, 200, 200, 60]
    assert types_of(reply.text("there.")) == ["response.output_audio_transcript.delta"]
    assert len(base64.b64decode(reply.audio(HALF_SECOND, 24_000)[0]["delta"])) == 9600
    ended = reply.ended(end())
    ids = {"response_id": "resp_1", "item_id": "item_1", "output_index": 0, "content_index": 0}
    for event in [*opened[2:], *sound, *ended[:3]]:
        assert {key: event[key] for key in ids} == ids
    assert types_of(ended) == [
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert ended[1]["transcript"] == "Hello there."
    response = ended[-1]["response"]
    assert response["status"] == "completed"
    assert "status_details" not in response
    assert response["output"] == [ended[3]["item"]]
    assert response["output"][0]["content"] == [
        {"type": "output_audio", "transcript": "Hello there."}
    ]
    assert response["usage"] == {
        "total_tokens": 47,
        "input_tokens": 40,
        "output_tokens": 7,
        "input_token_details": {"text_tokens": 40, "audio_tokens": 0, "cached_tokens": 0},
        "output_token_details": {"text_tokens": 7, "audio_tokens": 0},
    }


def test_a_message_that_is_deleted_while_it_is_said_stays_deleted() -> None:
    reply = begin()
    reply.text("Hello there.")
    assert reply.items is not None
    reply.items.remove("item_1")
    ended = reply.ended(end())
    assert "conversation.item.done" not in types_of(ended)
    assert types_of(ended)[-2:] == ["response.output_item.done", "response.done"]
    assert ended[-1]["response"]["output"] == [ended[-2]["item"]]
    assert "item_1" not in reply.items


def test_a_reply_of_text_has_no_audio() -> None:
    reply = begin(replace(FORM, speech=False, metadata={"topic": "x"}))
    assert reply.audio(HALF_SECOND, 24_000) == []
    opened = reply.text("Hi.")
    assert opened[2]["part"] == {"type": "text", "text": ""}
    assert opened[3]["type"] == "response.output_text.delta"
    ended = reply.ended(end())
    assert types_of(ended)[:2] == ["response.output_text.done", "response.content_part.done"]
    assert ended[0]["text"] == "Hi."
    assert ended[2]["item"]["content"] == [{"type": "output_text", "text": "Hi."}]
    assert "audio" not in ended[-1]["response"]
    assert ended[-1]["response"]["metadata"] == {"topic": "x"}


def test_a_function_call() -> None:
    reply = begin()
    events = reply.function_call("item_7", ToolCall("call_1", "weather", {"place": "Rome"}))
    assert types_of(events) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "conversation.item.done",
        "response.output_item.done",
    ]
    assert (events[0]["item"]["arguments"], events[0]["item"]["status"]) == ("", "in_progress")
    assert events[2]["delta"] == '{"place":"Rome"}'
    assert events[3] == {
        "type": "response.function_call_arguments.done",
        "response_id": "resp_1",
        "item_id": "item_7",
        "output_index": 0,
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"place":"Rome"}',
    }
    assert events[5]["item"]["status"] == "completed"
    done = reply.ended(end())
    assert types_of(done) == ["response.done"]
    assert done[0]["response"]["output"] == [events[5]["item"]]


def test_a_message_and_a_call_have_their_own_places() -> None:
    reply = begin()
    reply.text("One moment.")
    call = reply.function_call("item_7", ToolCall("call_1", "weather", {}))
    assert call[0]["output_index"] == 1
    assert call[1]["previous_item_id"] == "item_1"
    ended = reply.ended(end())
    assert ended[0]["output_index"] == 0
    output = ended[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["message", "function_call"]


@pytest.mark.parametrize(
    ("status", "reason", "details"),
    [
        (
            ReplyStatus.CANCELLED,
            "turn_detected",
            {"type": "cancelled", "reason": "turn_detected"},
        ),
        (ReplyStatus.CANCELLED, "closed", {"type": "cancelled", "reason": "client_cancelled"}),
        (
            ReplyStatus.INCOMPLETE,
            "max_output_tokens",
            {"type": "incomplete", "reason": "max_output_tokens"},
        ),
        (
            ReplyStatus.FAILED,
            "the voice failed",
            {
                "type": "failed",
                "error": {
                    "type": "server_error",
                    "code": "reply_failed",
                    "message": "the voice failed",
                },
            },
        ),
    ],
)
def test_a_reply_that_did_not_complete(
    status: ReplyStatus, reason: str, details: dict[str, Any]
) -> None:
    reply = begin()
    reply.text("Hel")
    ended = reply.ended(end(status, reason))
    assert ended[-1]["response"]["status"] == status.value
    assert ended[-1]["response"]["status_details"] == details
    assert ended[-2]["item"]["status"] == "incomplete"
    assert types_of(begin().ended(end(status, reason))) == ["response.done"]


CALL = ToolCall("call_1", "get_time", {"place": "Rome"})
RESULT = ToolResult("call_1", "get_time", "It is noon.", False, 12.345)
OF_CALL = {"response_id": "r1", "call_id": "call_1", "name": "get_time"}
CASES: list[tuple[str, SessionEvent, dict[str, object]]] = [
    *(
        ("transcript", event, {"type": "transcript", "item_id": "i1", "text": "a", "final": final})
        for event, final in (
            (InterimTranscript(1, "i1", "a"), False),
            (FinalTranscript(1, "i1", "a", 0.9, 1.5), True),
        )
    ),
    (
        "latency",
        TurnMeasured(3, {"first_audio": 251.26, "tool.get_time": 3}),
        {"type": "latency", "turn_id": 3, "marks_ms": {"first_audio": 251.3, "tool.get_time": 3}},
    ),
    (
        "denoising",
        Denoising("r1", "It ░ noon", 4),
        {"type": "denoising", "response_id": "r1", "text": "It ░ noon", "step": 4},
    ),
    (
        "draft",
        ReplyDrafted(2, 3, "It ░", (CALL,)),
        {
            "type": "draft",
            "turn_id": 2,
            "number": 3,
            "text": "It ░",
            "calls": [{"name": "get_time", "arguments": {"place": "Rome"}}],
        },
    ),
    (
        "tools",
        ReplyToolCall("r1", "i3", CALL, client_side=False),
        {"type": "tool_call", **OF_CALL, "arguments": {"place": "Rome"}},
    ),
    (
        "tools",
        ReplyToolResult("r1", RESULT),
        {
            "type": "tool_result",
            **OF_CALL,
            "content": "It is noon.",
            "error": False,
            "unfinished": False,
            "duration_ms": 12.3,
        },
    ),
    (
        "heard",
        ReplyHeard("r1", 17),
        {"type": "heard", "response_id": "r1", "item_id": "i2", "chars": 17},
    ),
    *(
        ("hold", event, {"type": "hold", "response_id": "r1", "held": held})
        for event, held in ((ReplyHeld("r1"), True), (ReplyReleased("r1"), False))
    ),
]


@pytest.mark.parametrize(("name", "event", "expected"), CASES)
def test_an_extension_is_sent_to_who_asks(
    name: str, event: SessionEvent, expected: dict[str, object]
) -> None:
    sent = {**expected, "type": f"quicksilver.{expected['type']}"}
    assert extension_events(event, frozenset({name}), "i2") == [sent]
    assert extension_events(event, frozenset(NAMES) - {name}, "i2") == []


def test_no_extension_tells_of_a_clients_own_call_or_a_forgotten_reply() -> None:
    own = ReplyToolCall("r1", "i3", CALL, client_side=True)
    for event, item_id in ((own, "i2"), (ReplyHeard("r0", 3), None)):
        assert extension_events(event, frozenset(NAMES), item_id) == []


def test_unknown_names_are_refused() -> None:
    assert checked_names(["state", "heard"]) == ["state", "heard"]
    with pytest.raises(ProtocolError, match="'stat'"):
        checked_names(["stat"])


def states(*events: SessionEvent) -> list[str]:
    tracker = StateTracker()
    return [tracker.state for event in events if tracker.observe(event)]


STARTED = UserSpeechStarted(1, "i1", 0)
STOPPED = UserSpeechStopped(1, "i1", 16_000)
REPLY = ReplyStarted("r1", "i2", 1, "i1")
SOUND = ReplyAudio("r1", np.zeros(10, np.int16), 24_000)
DONE = ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Hi.", 1, 1)


def test_states_of_a_turn() -> None:
    heard = FinalTranscript(1, "i1", "Hi.", 0.9, 1.0)
    expected = ["hearing", "thinking", "speaking", "listening"]
    assert states(STARTED, STOPPED, heard, REPLY, SOUND, SOUND, DONE) == expected


def test_states_of_an_interruption() -> None:
    expected = ["thinking", "speaking", "hearing", "thinking"]
    assert states(REPLY, SOUND, STARTED, SOUND, DONE, STOPPED) == expected


@pytest.mark.parametrize(
    "nothing", [FinalTranscript(1, "i1", "", 0, 1.0), TranscriptFailed(1, "i1", "broken")]
)
def test_a_turn_that_is_not_answered_ends_in_listening(nothing: SessionEvent) -> None:
    assert states(STARTED, STOPPED, nothing) == ["hearing", "thinking", "listening"]


@pytest.mark.parametrize(
    "known", [FinalTranscript(1, "i1", "Hi.", 0.9, 1.0), TranscriptFailed(1, "i1", "broken")]
)
def test_a_turn_that_did_not_stop_by_itself_is_heard_no_more(known: SessionEvent) -> None:
    assert states(STARTED, known, REPLY, SOUND) == ["hearing", "listening", "thinking", "speaking"]
    before = FinalTranscript(0, "i0", "Hi.", 0.9, 1.0)
    assert states(STARTED, before) == ["hearing"]
