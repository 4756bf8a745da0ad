from __future__ import annotations

import pytest

from voice.session.turn_latency import TurnLatency
from voice.types import TurnEnded


class _Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_marks_count_from_the_end_of_speech() -> None:
    clock = _Clock()
    marks = TurnLatency(clock)
    clock.now_s = 100.1
    marks.decoded(1)
    clock.now_s = 100.3
    # Speech ended 4,800 samples, 300 ms, before the decision.
    marks.ended(TurnEnded(1, 16_000, 20_800))
    clock.now_s = 100.35
    marks.reached(1, "first_audio")
    clock.now_s = 101.0
    marks.reached(1, "first_audio")
    marks.lasted(1, "tool.get_time", 12.0)
    measured = marks.measured()
    assert measured is not None
    assert measured.turn_id == 1
    assert measured.marks_ms == pytest.approx(
        {"asr_final": 100.0, "end_of_turn": 300.0, "first_audio": 350.0, "tool.get_time": 12.0}
    )


def test_a_turn_is_measured_once() -> None:
    marks = TurnLatency(_Clock())
    assert marks.measured() is None
    marks.ended(TurnEnded(1, 0, 0))
    assert marks.measured() is not None
    assert marks.measured() is None


def test_a_stale_turn_does_not_touch_the_newest_ones_marks() -> None:
    marks = TurnLatency(_Clock())
    marks.ended(TurnEnded(2, 0, 0))
    marks.reached(1, "first_audio")
    marks.lasted(1, "tool.get_time", 5.0)
    measured = marks.measured()
    assert measured is not None
    assert set(measured.marks_ms) == {"end_of_turn"}


def test_only_the_last_decode_counts() -> None:
    clock = _Clock()
    marks = TurnLatency(clock)
    marks.decoded(1)
    clock.now_s = 100.5
    marks.decoded(1)
    marks.ended(TurnEnded(1, 0, 0))
    measured = marks.measured()
    assert measured is not None
    assert measured.marks_ms["asr_final"] == pytest.approx(0.0)
