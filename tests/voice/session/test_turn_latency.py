from __future__ import annotations

import numpy as np
import pytest

from voice.events import (
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyTimed,
    ReplyToolCall,
    ReplyToolResult,
    Stage,
    TurnMeasured,
    UserSpeechStarted,
)
from voice.session.turn_latency import TurnLatency
from voice.types import ToolCall, ToolResult, TurnEnded

EPOCH_S = 1000.0
SOUND = ReplyAudio("r", np.zeros(240, np.int16), 24_000)
CALL = ToolCall("c", "get_time", {})


class _Rig:
    """A `TurnLatency` at a time that a test sets; the clock of the session began at `EPOCH_S`."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.marks = TurnLatency(lambda: self.now_s, lambda: self.now_s + EPOCH_S)

    def reply(self, turn_id: int = 1, reply_id: str = "r", out_of_band: bool = False) -> None:
        self.marks.observe(ReplyStarted(reply_id, "item", turn_id, None, out_of_band))

    def over(self, reply_id: str = "r") -> tuple[TurnMeasured | None, ReplyTimed]:
        ended = ReplyEnded(reply_id, ReplyStatus.COMPLETED, "", "", 0, 0)
        *measured, timed = self.marks.over(ended)
        assert isinstance(timed, ReplyTimed)
        (turn,) = measured or [None]
        assert turn is None or isinstance(turn, TurnMeasured)
        return turn, timed


def test_marks_count_from_the_end_of_speech() -> None:
    rig = _Rig()
    rig.now_s = 100.1
    rig.marks.decoded(1)
    rig.now_s = 100.3
    # Speech ended 4,800 samples, 300 ms, before the decision.
    rig.marks.ended(TurnEnded(1, 16_000, 20_800))
    rig.reply()
    rig.now_s = 100.35
    rig.marks.observe(SOUND)
    rig.now_s = 101.0
    rig.marks.observe(SOUND)
    rig.marks.observe(ReplyToolResult("r", ToolResult("c", "get_time", "noon", duration_ms=12.0)))
    turn, _ = rig.over()
    assert turn is not None
    assert turn.turn_id == 1
    assert turn.marks_ms == pytest.approx(
        {"asr_final": 100.0, "end_of_turn": 300.0, "first_audio": 350.0, "tool.get_time": 12.0}
    )


def test_a_turn_is_measured_once() -> None:
    rig = _Rig()
    rig.reply()
    assert rig.over()[0] is None
    rig.marks.ended(TurnEnded(1, 0, 0))
    rig.reply()
    assert rig.over()[0] is not None
    rig.reply()
    assert rig.over()[0] is None


def test_the_end_of_a_stale_reply_does_not_tell_the_newest_turn() -> None:
    rig = _Rig()
    rig.reply(1, "stale")
    rig.marks.ended(TurnEnded(2, 0, 0))
    rig.marks.reached("stale", "first_token")
    assert rig.over("stale")[0] is None
    rig.reply(2)
    rig.marks.reached("r", "reply_committed")
    turn, _ = rig.over()
    assert turn is not None
    assert (turn.turn_id, set(turn.marks_ms)) == (2, {"end_of_turn", "reply_committed"})


def test_only_the_last_decode_counts() -> None:
    rig = _Rig()
    rig.marks.decoded(1)
    rig.now_s = 100.5
    rig.marks.decoded(1)
    rig.marks.ended(TurnEnded(1, 0, 0))
    rig.reply()
    turn, _ = rig.over()
    assert turn is not None
    assert turn.marks_ms["asr_final"] == pytest.approx(0.0)


def test_the_stages_of_a_spoken_turn_have_their_times() -> None:
    rig = _Rig()
    rig.marks.observe(UserSpeechStarted(1, "item", 16_000))
    rig.marks.decoded(1)
    rig.now_s = 100.5
    rig.marks.ended(TurnEnded(1, 32_000, 36_800))
    rig.reply()
    with rig.marks.asking("r"):
        rig.now_s = 100.6
        rig.marks.reached("r", "first_token")
    rig.marks.observe(ReplyToolCall("r", "item", CALL, client_side=False))
    rig.now_s = 100.8
    rig.marks.observe(ReplyToolResult("r", ToolResult("c", "get_time", "noon")))
    with rig.marks.asking("r"):
        rig.now_s = 100.9
        rig.marks.reached("r", "first_token")
        rig.marks.observe(ReplyText("r", "It is noon."))
    rig.now_s = 101.0
    rig.marks.observe(SOUND)
    rig.now_s = 101.1
    rig.marks.observe(SOUND)
    rig.now_s = 101.5
    timed = rig.over()[1]
    assert (timed.start_s, timed.end_s) == pytest.approx((1099.2, 1101.5))
    expected = (
        Stage("speech_to_text", 1099.2, 1100.0),
        Stage("end_of_turn", 1100.2, 1100.5),
        Stage("chat", 1100.5, 1100.6, 1100.6),
        Stage("execute_tool", 1100.6, 1100.8, call_id="c"),
        Stage("chat", 1100.8, 1100.9, 1100.9),
        Stage("text_to_speech", 1100.9, 1101.1, 1101.0),
    )
    assert [(s.name, s.call_id) for s in timed.stages] == [(s.name, s.call_id) for s in expected]
    for stage, true in zip(timed.stages, expected, strict=True):
        assert (stage.start_s, stage.end_s) == pytest.approx((true.start_s, true.end_s)), stage
        assert stage.first_s == (true.first_s and pytest.approx(true.first_s))


def test_a_typed_turn_begins_with_the_request_and_shown_text_has_no_sound() -> None:
    rig = _Rig()
    rig.reply(0)
    rig.now_s = 101.0
    with rig.marks.asking("r"):
        rig.marks.observe(ReplyText("r", "It is noon."))
        # The user has interrupted it: the request ends with the reply.
        turn, timed = rig.over()
    assert turn is None
    assert timed.start_s == pytest.approx(1100.0)
    (asked,) = timed.stages
    assert (asked.name, asked.first_s) == ("chat", None)
    assert asked.end_s == pytest.approx(1101.0)


def test_a_reply_out_of_band_touches_no_turn() -> None:
    rig = _Rig()
    rig.marks.ended(TurnEnded(1, 0, 0))
    rig.reply(1, "aside", out_of_band=True)
    with rig.marks.asking("aside"):
        rig.marks.reached("aside", "first_token")
    turn, timed = rig.over("aside")
    assert turn is None
    assert [stage.name for stage in timed.stages] == ["chat"]
    rig.reply()
    turn, _ = rig.over()
    assert turn is not None and set(turn.marks_ms) == {"end_of_turn"}
