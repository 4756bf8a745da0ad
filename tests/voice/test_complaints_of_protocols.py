"""What users of other agents complain of, where a protocol is served that is not the published one.

The numbers are those of the list of complaints that the project keeps; `tests/test_complaints_*`
together have them all. Complaint 16 is also tested with the published clients, in tests/e2e.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from openai.types.realtime import RealtimeClientEvent, RealtimeServerEvent

from tests.voice.realtime.wire import AUDIO, TYPED, Wire
from voice.events import (
    Failure,
    FinalTranscript,
    InterimTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeard,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyToolCall,
    SessionEvent,
    TranscriptFailed,
    UserIdle,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.types import ToolCall

WEBRTC_ONLY = {"output_audio_buffer.clear"}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("session.update", {"session": {"type": "realtime", "instructions": "Be brief."}}),
    ("conversation.item.create", {"item": TYPED}),
    ("input_audio_buffer.append", {"audio": AUDIO}),
    ("input_audio_buffer.clear", {}),
    ("response.create", {}),
    ("conversation.item.retrieve", {"item_id": "nobody"}),
    ("no.such.event", {}),
]
HAPPENED: list[SessionEvent] = [
    UserSpeechStarted(1, "i1", 8_000),
    InterimTranscript(1, "i1", "what"),
    UserSpeechStopped(1, "i1", 24_000),
    UserTurnCommitted(1, "i1", None),
    FinalTranscript(1, "i1", "What time is it?", 0.9, 1.0),
    ReplyStarted("r1", "i2", 1, "i1"),
    ReplyText("r1", "It is noon."),
    ReplyAudio("r1", np.zeros(2400, np.int16), 24_000),
    ReplyHeard("r1", 5),
    ReplyEnded("r1", ReplyStatus.CANCELLED, "turn_detected", "It is noon.", 10, 4),
    ReplyStarted("r2", "i3", 2, "i2"),
    ReplyToolCall("r2", "i4", ToolCall("call1", "open_door", {"which": "front"}), True),
    ReplyEnded("r2", ReplyStatus.COMPLETED, "", "", 10, 4),
    ReplyStarted("r3", "i5", 3, "i4"),
    ReplyEnded("r3", ReplyStatus.FAILED, "the model failed", "", 0, 0),
    TranscriptFailed(4, "i6", "it broke"),
    Failure(4, "asr", "it broke"),
    UserIdle("i7", "i5", 16_000, 96_000),
]


@pytest.fixture
def wire() -> Wire:
    """A protocol over a fake session."""
    return Wire()


def published(events: Any) -> dict[str, Any]:
    """Type → the published client's own class of an event."""
    union = get_args(events)[0]
    return {get_args(kind.model_fields["type"].annotation)[0]: kind for kind in get_args(union)}


def test_complaint_16_every_published_request_is_known(wire: Wire) -> None:
    kinds = set(published(RealtimeClientEvent))
    assert len(kinds) >= 11
    unknown = wire.error("no.such.event")["code"]
    for kind in sorted(kinds):
        told = [event["error"]["code"] for event in Wire().send(kind) if event["type"] == "error"]
        assert unknown not in told
        assert ("unsupported_event" in told) == (kind in WEBRTC_ONLY)


def test_complaint_16_every_answer_is_one_that_the_published_client_reads(wire: Wire) -> None:
    kinds = published(RealtimeServerEvent)
    sent = wire.protocol.opening()
    for kind, fields in REQUESTS:
        sent += wire.send(kind, **fields)
    for event in HAPPENED:
        sent += wire.protocol.translate(event)
    for event in sent:
        kinds[event["type"]].model_validate(event, strict=True)
        assert event["event_id"]
    of_replies = [event["type"] for event in sent if event["type"].startswith("response.")]
    assert of_replies.count("response.created") == of_replies.count("response.done") == 3
    assert {"error", "response.function_call_arguments.done"} <= {event["type"] for event in sent}
