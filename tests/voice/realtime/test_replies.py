import base64
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from voice.events import ReplyEnded, ReplyStarted, ReplyStatus
from voice.realtime.items import ItemLog
from voice.realtime.server_events import Response, ResponseFormat
from voice.realtime.wire import G711Format, PcmFormat
from voice.types import ToolCall

SPOKEN = ResponseFormat(True, PcmFormat(type="audio/pcm"), "espeak", "inf")
HALF_SECOND = np.ones(12_000, np.int16)


def begin(form: ResponseFormat = SPOKEN) -> Response:
    return Response(ReplyStarted("resp_1", "item_1", 1, None), form, "conv_1", ItemLog())


def end(status: ReplyStatus = ReplyStatus.COMPLETED, reason: str = "") -> ReplyEnded:
    return ReplyEnded("resp_1", status, reason, "Hello there.", 40, 7)


def kinds(events: list[dict[str, Any]]) -> list[str]:
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
    assert kinds(opened) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
    ]
    assert opened[0]["item"]["content"] == []
    assert opened[0]["item"]["status"] == "in_progress"
    assert opened[2]["part"] == {"type": "audio", "transcript": ""}
    sound = reply.audio(HALF_SECOND, 24_000)
    assert set(kinds(sound)) == {"response.output_audio.delta"}
    assert [len(base64.b64decode(event["delta"])) // 48 for event in sound] == [40, 200, 200, 60]
    assert kinds(reply.text("there.")) == ["response.output_audio_transcript.delta"]
    assert len(base64.b64decode(reply.audio(HALF_SECOND, 24_000)[0]["delta"])) == 9600
    ended = reply.ended(end())
    assert kinds(ended) == [
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
    assert "conversation.item.done" not in kinds(ended)
    assert kinds(ended)[-2:] == ["response.output_item.done", "response.done"]
    assert ended[-1]["response"]["output"] == [ended[-2]["item"]]
    assert "item_1" not in reply.items


def test_every_part_event_carries_the_five_ids() -> None:
    reply = begin()
    events = [*reply.text("Hello."), *reply.audio(HALF_SECOND, 24_000), *reply.ended(end())]
    ids = {"response_id": "resp_1", "item_id": "item_1", "output_index": 0, "content_index": 0}
    for event in events:
        if event["type"].startswith(("response.output_audio", "response.content_part")):
            assert {key: event[key] for key in ids} == ids


def test_a_reply_of_text_has_no_audio() -> None:
    reply = begin(replace(SPOKEN, speech=False, metadata={"topic": "x"}))
    assert reply.audio(HALF_SECOND, 24_000) == []
    opened = reply.text("Hi.")
    assert opened[2]["part"] == {"type": "text", "text": ""}
    assert opened[3]["type"] == "response.output_text.delta"
    ended = reply.ended(end())
    assert kinds(ended)[:2] == ["response.output_text.done", "response.content_part.done"]
    assert ended[0]["text"] == "Hi."
    assert ended[2]["item"]["content"] == [{"type": "output_text", "text": "Hi."}]
    assert "audio" not in ended[-1]["response"]
    assert ended[-1]["response"]["metadata"] == {"topic": "x"}


def test_telephone_audio_is_one_byte_a_sample() -> None:
    reply = begin(replace(SPOKEN, audio_format=G711Format(type="audio/pcmu")))
    first = reply.audio(np.zeros(800, np.int16), 8000)[3]
    assert base64.b64decode(first["delta"]) == b"\xff" * 320


def test_a_function_call() -> None:
    reply = begin()
    events = reply.function_call("item_7", ToolCall("call_1", "weather", {"place": "Rome"}))
    assert kinds(events) == [
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
    assert kinds(done) == ["response.done"]
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


def test_a_reply_that_failed_before_a_word_still_ends() -> None:
    assert kinds(begin().ended(end(ReplyStatus.FAILED, "x"))) == ["response.done"]
