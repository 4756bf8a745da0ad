from typing import Any

from voice.events import (
    Failure,
    FinalTranscript,
    InterimTranscript,
    ReplyEnded,
    ReplyHeard,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyToolCall,
    SessionEnded,
    SessionEvent,
    TranscriptFailed,
    UserIdle,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.realtime.server_events import ResponseFormat, ServerEvents, error_event
from voice.realtime.wire import PcmFormat
from voice.types import ToolCall

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
    assert kinds(
        out,
        UserSpeechStarted(1, "i1", 8_000),
        InterimTranscript(1, "i1", "what"),
        UserSpeechStopped(1, "i1", 24_000),
        UserTurnCommitted(1, "i1", None),
        FinalTranscript(1, "i1", "What time is it?", 0.9, 1.0),
        ReplyStarted("r1", "i2", 1, "i1"),
    ) == [
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


def test_positions_are_milliseconds() -> None:
    out = outgoing()
    started, stopped = (
        out.translate(event)[0]
        for event in (UserSpeechStarted(1, "i1", 8_000), UserSpeechStopped(1, "i1", 24_016))
    )
    assert (started["audio_start_ms"], stopped["audio_end_ms"]) == (500, 1501)
    assert started["item_id"] == stopped["item_id"] == "i1"


def test_the_users_item_has_a_transcript_of_null() -> None:
    out = outgoing()
    out.translate(UserTurnCommitted(1, "i0", None))
    committed, added, done = out.translate(UserTurnCommitted(1, "i1", "i0"))
    assert committed["previous_item_id"] == added["previous_item_id"] == "i0"
    assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]
    assert done["item"] == added["item"]


def test_an_item_that_the_client_does_not_know_is_not_named() -> None:
    out = outgoing()
    out.translate(UserTurnCommitted(1, "i1", None))
    committed = out.translate(UserTurnCommitted(2, "i4", "result-of-a-tool"))[0]
    assert committed["previous_item_id"] == "i1"


def test_transcription_deltas_make_the_transcript() -> None:
    delta, done = outgoing().translate(FinalTranscript(1, "i1", "Hello.", 0.8, 1.23456))
    assert delta["delta"] == done["transcript"] == "Hello."
    assert done["usage"] == {"type": "duration", "seconds": 1.235}
    nothing = outgoing().translate(FinalTranscript(1, "i1", "", 0.0, 0.5))
    assert [event["transcript"] for event in nothing] == [""]


def test_transcription_is_sent_to_who_asked() -> None:
    out = outgoing()
    out.configure(FORM, False, None)
    assert out.translate(FinalTranscript(1, "i1", "Hello.", 0.8, 1.0)) == []
    assert out.translate(TranscriptFailed(1, "i1", "broken")) == []


def test_a_transcript_that_failed() -> None:
    assert outgoing().translate(TranscriptFailed(1, "i1", "broken")) == [
        {
            "type": "conversation.item.input_audio_transcription.failed",
            "item_id": "i1",
            "content_index": 0,
            "error": {"type": "server_error", "code": "asr_failed", "message": "broken"},
        }
    ]


def test_a_failure_is_an_error_of_the_server() -> None:
    assert outgoing().translate(Failure(1, "tts", "no voice")) == [
        {
            "type": "error",
            "error": {
                "type": "server_error",
                "code": "tts_failed",
                "message": "no voice",
                "param": None,
                "event_id": None,
            },
        }
    ]


def test_errors_name_the_clients_event() -> None:
    error = error_event("no", "bad", param="x", event_id="e1")["error"]
    assert error == {
        "type": "invalid_request_error",
        "code": "bad",
        "message": "no",
        "param": "x",
        "event_id": "e1",
    }


def test_only_the_clients_tools_are_its_items() -> None:
    out = outgoing()
    call = ToolCall("call_1", "weather", {})
    out.translate(ReplyStarted("r1", "i2", 1, None))
    assert kinds(out, ReplyToolCall("r1", "i3", call, client_side=False)) == []
    assert "conversation.item.added" in kinds(out, ReplyToolCall("r1", "i4", call, True))
    assert out.items.calls == {"call_1": "weather"}


def test_a_form_holds_for_one_reply() -> None:
    out = outgoing()
    out.expect("r1", ResponseFormat(False, FORM.audio_format, "espeak", 10, {"a": "b"}))
    first: Any = out.translate(ReplyStarted("r1", "i2", 1, None))[0]["response"]
    out.translate(ended("r1"))
    second: Any = out.translate(ReplyStarted("r2", "i3", 2, None))[0]["response"]
    assert (first["output_modalities"], first["metadata"]) == (["text"], {"a": "b"})
    assert second["output_modalities"] == ["audio"]
    assert "metadata" not in second


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


def test_extensions_and_states_come_after() -> None:
    out = outgoing()
    out.configure(FORM, True, {"state", "heard"})
    assert kinds(out, UserSpeechStarted(1, "i1", 0)) == [
        "input_audio_buffer.speech_started",
        "quicksilver.state",
    ]
    out.translate(ReplyStarted("r1", "i2", 1, None))
    assert kinds(out, ReplyHeard("r1", 3), SessionEnded("over")) == ["quicksilver.heard"]
