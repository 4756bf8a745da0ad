import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.events import (
    Denoising,
    FinalTranscript,
    InterimTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeard,
    ReplyHeld,
    ReplyReleased,
    ReplyStarted,
    ReplyStatus,
    ReplyToolCall,
    ReplyToolResult,
    SessionEvent,
    TranscriptFailed,
    TurnMeasured,
    UserSpeechStarted,
    UserSpeechStopped,
)
from voice.realtime.extensions import NAMES, StateTracker, checked_names, extension_events
from voice.types import ToolCall, ToolResult

CALL = ToolCall("call_1", "get_time", {"place": "Rome"})
RESULT = ToolResult("call_1", "get_time", "It is noon.", False, 12.345)
CASES: list[tuple[str, SessionEvent, dict[str, object]]] = [
    (
        "transcript",
        InterimTranscript(1, "i1", "set a"),
        {"type": "quicksilver.transcript", "item_id": "i1", "text": "set a", "final": False},
    ),
    (
        "transcript",
        FinalTranscript(1, "i1", "Set a timer.", 0.9, 1.5),
        {"type": "quicksilver.transcript", "item_id": "i1", "text": "Set a timer.", "final": True},
    ),
    (
        "latency",
        TurnMeasured(3, {"first_audio": 251.26, "tool.get_time": 3}),
        {
            "type": "quicksilver.latency",
            "turn_id": 3,
            "marks_ms": {"first_audio": 251.3, "tool.get_time": 3},
        },
    ),
    (
        "denoising",
        Denoising("r1", "It ░ noon", 4),
        {"type": "quicksilver.denoising", "response_id": "r1", "text": "It ░ noon", "step": 4},
    ),
    (
        "tools",
        ReplyToolCall("r1", "i3", CALL, client_side=False),
        {
            "type": "quicksilver.tool_call",
            "response_id": "r1",
            "call_id": "call_1",
            "name": "get_time",
            "arguments": {"place": "Rome"},
        },
    ),
    (
        "tools",
        ReplyToolResult("r1", RESULT),
        {
            "type": "quicksilver.tool_result",
            "response_id": "r1",
            "call_id": "call_1",
            "name": "get_time",
            "content": "It is noon.",
            "error": False,
            "duration_ms": 12.3,
        },
    ),
    (
        "heard",
        ReplyHeard("r1", 17),
        {"type": "quicksilver.heard", "response_id": "r1", "item_id": "i2", "chars": 17},
    ),
    (
        "hold",
        ReplyHeld("r1"),
        {"type": "quicksilver.hold", "response_id": "r1", "held": True},
    ),
    (
        "hold",
        ReplyReleased("r1"),
        {"type": "quicksilver.hold", "response_id": "r1", "held": False},
    ),
]


@pytest.mark.parametrize(("name", "event", "expected"), CASES)
def test_an_extension_is_sent_to_who_asks(
    name: str, event: SessionEvent, expected: dict[str, object]
) -> None:
    assert extension_events(event, frozenset({name}), "i2") == [expected]
    assert extension_events(event, frozenset(NAMES) - {name}, "i2") == []


def test_a_clients_own_tool_call_is_no_extension() -> None:
    event = ReplyToolCall("r1", "i3", CALL, client_side=True)
    assert extension_events(event, frozenset(NAMES), "i2") == []


def test_a_forgotten_reply_is_not_told_of() -> None:
    assert extension_events(ReplyHeard("r0", 3), frozenset(NAMES), None) == []


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
