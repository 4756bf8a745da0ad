from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.support.fakes import FakeSession, refusal
from tests.support.script import Script
from tests.voice.telephony.test_asterisk import PLAIN_START
from voice.dialogue.commands import Generate
from voice.errors import ProtocolError
from voice.events import (
    AudioStopped,
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeld,
    ReplyReleased,
    ReplyStarted,
    ReplyStatus,
    TranscriptFailed,
    UserSpeechStarted,
    UserTurnDropped,
)
from voice.telephony.asterisk import ChanWebSocket
from voice.telephony.call_bridge import LONGEST_TURN_S, MAX_KEYS, CallBridge
from voice.telephony.codec import (
    CallAudio,
    FlowChanged,
    KeyPressed,
    LineMessage,
    MarkPlayed,
)
from voice.types import Message, Role

SECOND = np.zeros(8000, np.int16)
STARTED = ReplyStarted("r1", "i1", 1, None)
FRAME = b"\xff" * 160


class Bench:
    """A call on virtual time."""

    def __init__(self, session: FakeSession | None = None) -> None:
        self.now_s = 0.0
        self.session = session or FakeSession()
        self.out: deque[LineMessage] = deque()
        codec = ChanWebSocket({})
        codec.receive(PLAIN_START)
        self.bridge = CallBridge(self.session, codec, self.out, lambda: self.now_s, 2.5)  # type: ignore[arg-type]
        self.sent()

    def sent(self) -> list[LineMessage]:
        sent = list(self.out)
        self.out.clear()
        return sent

    def after(self, seconds: float) -> list[LineMessage]:
        self.now_s += seconds
        self.bridge.tick()
        return self.sent()

    def press(self, keys: str) -> None:
        for key in keys:
            self.bridge.from_line(KeyPressed(key))

    def calls(self, *names: str) -> list[tuple[Any, ...]]:
        return [call for call in self.session.calls if call[0] in names]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_call_is_taken_and_audio_goes_both_ways(bench: Bench) -> None:
    bench.bridge.from_line(CallAudio(SECOND[:160], 8000))
    assert bench.session.calls == [("append_audio", 160, 8000)]
    bench.bridge.from_session(STARTED)
    bench.bridge.from_session(ReplyAudio("r1", SECOND, 8000))
    assert bench.after(0) == [FRAME] * 10 + ["MARK_MEDIA m1", FRAME]
    assert bench.after(0.04) == [FRAME] * 2


def test_a_key_that_no_telephone_has_is_ignored(bench: Bench) -> None:
    bench.bridge.from_session(STARTED)
    bench.bridge.from_session(ReplyAudio("r1", SECOND, 8000))
    bench.after(0)
    bench.press("!W, !")
    assert bench.calls("interrupt") == []
    bench.press("1!#")
    bench.after(0)
    assert bench.calls("add_item")[0][2] == Message(Role.USER, "1")


def test_marks_tell_the_session_what_was_heard(bench: Bench) -> None:
    bench.bridge.from_session(STARTED)
    bench.bridge.from_session(ReplyAudio("r1", SECOND[:1600], 8000))
    bench.bridge.from_session(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Hello.", 1, 1))
    assert bench.after(0)[-1] == "MARK_MEDIA m1"
    assert bench.bridge.unheard_s() == pytest.approx(0.2)
    bench.bridge.from_line(MarkPlayed("m1"))
    bench.bridge.from_line(MarkPlayed("unknown"))
    assert bench.calls("played") == [("played", "r1", 201.0)]
    assert bench.bridge.unheard_s() is None


def test_an_interruption_clears_the_line_and_keeps_what_was_heard(bench: Bench) -> None:
    bench.bridge.from_session(STARTED)
    bench.bridge.from_session(ReplyAudio("r1", SECOND, 8000))
    bench.after(0)
    bench.after(0.1)
    bench.bridge.from_session(AudioStopped())
    assert bench.sent() == ["FLUSH_MEDIA"]
    assert bench.calls("truncate") == [("truncate", "r1", pytest.approx(100))]
    assert bench.after(1) == []
    # Where nothing sounds there is nothing to clear.
    bench.bridge.from_session(AudioStopped())
    assert bench.sent() == []
    bench.bridge.from_session(ReplyAudio("r2", SECOND, 8000))
    bench.session.refuse = refusal("item_not_found")
    bench.bridge.from_session(AudioStopped())
    assert bench.sent() == ["FLUSH_MEDIA"]
    bench.bridge.from_session(
        ReplyEnded("r1", ReplyStatus.CANCELLED, "turn_detected", "Hello", 1, 1)
    )
    assert bench.sent() == []


def test_a_sound_that_may_be_nothing_only_holds_the_agent(bench: Bench) -> None:
    bench.bridge.from_session(STARTED)
    bench.bridge.from_session(ReplyAudio("r1", SECOND, 8000))
    bench.after(0)
    bench.bridge.from_session(ReplyHeld("r1"))
    assert bench.after(1) == []
    bench.bridge.from_session(ReplyReleased("r1"))
    assert bench.after(0)[:2] == [FRAME] * 2
    bench.bridge.from_session(ReplyHeld("r1"))
    bench.bridge.from_session(AudioStopped())
    assert bench.sent() == ["FLUSH_MEDIA"]
    bench.bridge.from_session(ReplyStarted("r2", "i3", 2, None))
    bench.bridge.from_session(ReplyAudio("r2", SECOND, 8000))
    assert bench.after(0) != []


def test_the_lines_flow_control_is_obeyed(bench: Bench) -> None:
    bench.bridge.from_session(ReplyAudio("r1", SECOND, 8000))
    bench.bridge.from_line(FlowChanged(open=False))
    assert bench.after(0) == []
    bench.bridge.from_line(FlowChanged(open=True))
    assert bench.after(0) != []


@pytest.mark.parametrize(
    ("keys", "entries"),
    [
        ("4521#", ["4 5 2 1"]),
        ("#", ["hash"]),
        ("*1#2#", ["star 1", "2"]),
        ("7" * (MAX_KEYS + 1), [" ".join("7" * MAX_KEYS)]),
    ],
)
def test_keys_become_what_the_user_says(bench: Bench, keys: str, entries: list[str]) -> None:
    bench.press(keys)
    assert bench.after(0) == []
    said = [
        ("add_item", f"item_keys_{n}", Message(Role.USER, entry), None)
        for n, entry in enumerate(entries, 1)
    ]
    assert bench.calls("add_item", "create_response") == [*said, ("create_response", None)]


def test_each_key_interrupts_the_agent_and_a_pause_ends_the_entry(bench: Bench) -> None:
    bench.press("4")
    bench.after(2)
    bench.press("5")
    assert bench.calls("interrupt") == [("interrupt",)] * 2
    assert bench.bridge.tick() == 2.5
    bench.after(2.4)
    assert bench.calls("create_response") == []
    bench.after(0.1)
    assert [call[2].content for call in bench.calls("add_item")] == ["4 5"]


def test_keys_do_not_wait_for_a_turn_that_was_dropped(bench: Bench) -> None:
    bench.bridge.from_session(UserSpeechStarted(2, "i1", 0))
    bench.press("7#")
    bench.bridge.from_session(UserTurnDropped(1, "i0"))
    bench.after(0)
    assert bench.calls("add_item") == []
    bench.bridge.from_session(UserTurnDropped(2, "i1"))
    bench.after(0)
    assert [call[2].content for call in bench.calls("add_item")] == ["7"]


def test_keys_wait_for_the_end_of_a_spoken_turn(bench: Bench) -> None:
    bench.bridge.from_session(UserSpeechStarted(1, "i1", 0))
    bench.press("7#")
    bench.after(1)
    assert bench.calls("add_item") == []
    bench.bridge.from_session(FinalTranscript(1, "i1", "my number is", 0.9, 1.0))
    bench.after(0)
    # The reply to the spoken words alone gives way to one to both.
    assert [call[0] for call in bench.session.calls[-3:]] == [
        "interrupt",
        "add_item",
        "create_response",
    ]


def test_keys_wait_for_the_newest_of_several_turns(bench: Bench) -> None:
    for turn_id in (1, 2):
        bench.bridge.from_session(UserSpeechStarted(turn_id, f"i{turn_id}", 0))
    bench.press("7#")
    bench.bridge.from_session(FinalTranscript(1, "i1", "my number is", 0.9, 1.0))
    bench.after(0)
    assert bench.calls("create_response") == []
    bench.bridge.from_session(TranscriptFailed(2, "i2", "recognition failed"))
    bench.after(0)
    assert bench.calls("create_response") == [("create_response", None)]


class Conversing(FakeSession):
    """A session whose dialogue is real."""

    def __init__(self) -> None:
        super().__init__()
        self.script = Script(agent_tools=(), interrupt_response=False)

    def interrupt(self) -> None:
        self.script.took(self.script.conversation.interrupt())

    def add_item(self, item_id: str, message: Message, previous_item_id: str | None) -> None:
        self.script.conversation.dialogue.add(item_id, message, previous_item_id)

    def create_response(self, *_: object) -> str:  # type: ignore[override]
        return self.script.request()


def test_keys_are_answered_with_the_words_that_wait_for_the_reply_they_stop() -> None:
    bench = Bench(session := Conversing())
    bench.press("7")
    session.script.user("what do you have", 1)
    # It is being answered, and the user goes on.
    session.script.user("and what does it cost", 2)
    bench.after(3)
    said = session.script.of(Generate)[-1].prompt.messages[-1].content
    assert said == "what do you have and what does it cost 7"


def test_keys_do_not_wait_for_ever(bench: Bench) -> None:
    bench.bridge.from_session(UserSpeechStarted(1, "i1", 0))
    bench.press("7#")
    assert bench.bridge.tick() == LONGEST_TURN_S
    bench.after(LONGEST_TURN_S / 2)
    bench.press("8#")
    bench.after(LONGEST_TURN_S / 2)
    assert [call[0] for call in bench.calls("add_item", "create_response")] == [
        "add_item",
        "add_item",
        "create_response",
    ]


def test_a_line_that_never_plays_what_it_gets(bench: Bench) -> None:
    bench.bridge.from_line(FlowChanged(open=False))
    with pytest.raises(ProtocolError, match="does not take"):
        for _ in range(200):
            bench.bridge.from_session(ReplyAudio("r1", np.zeros(1024 * 1024, np.int16), 8000))


def test_a_reply_of_ten_minutes_may_be_there_before_it_is_heard(bench: Bench) -> None:
    for _ in range(600):
        bench.bridge.from_session(ReplyAudio("r1", SECOND, 8000))
    unheard_s = bench.bridge.unheard_s()
    assert unheard_s is not None and unheard_s >= 600
