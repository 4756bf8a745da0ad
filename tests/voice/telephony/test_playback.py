import numpy as np
import pytest

from voice.telephony.codec import Traits
from voice.telephony.playback import MARK_LATE_S, Playback, Progress
from voice.types import Samples

RATE_HZ = 8000
SECOND = np.arange(RATE_HZ).astype(np.int16)


def lengths(items: list[Samples | str]) -> list[int | str]:
    return [item if isinstance(item, str) else len(item) for item in items]


def test_only_a_little_is_sent_ahead() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=50))
    playback.say("r1", SECOND)
    assert lengths(playback.due(0.0)) == [160, 160, 160]
    assert playback.due(0.0) == []
    assert playback.wait_s(0.0) == pytest.approx(0.01)
    assert lengths(playback.due(0.02)) == [160]
    assert lengths(playback.due(0.06)) == [160, 160]


def test_what_is_sent_is_what_was_said() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=10_000))
    for piece in np.array_split(SECOND, 7):
        playback.say("r1", piece)
    playback.end("r1")
    frames = [item for item in playback.due(0.0) if not isinstance(item, str)]
    assert np.concatenate(frames).tolist() == SECOND.tolist()


def test_a_frame_waits_until_it_is_full_or_the_reply_ends() -> None:
    playback = Playback(RATE_HZ, Traits())
    playback.say("r1", SECOND[:100])
    assert playback.due(0.0) == []
    assert playback.wait_s(0.0) is None
    playback.end("r1")
    assert lengths(playback.due(0.0)) == [100, "m1"]


def test_marks_tell_what_was_played() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=10_000))
    playback.say("r1", SECOND[:4000])
    playback.end("r1")
    marks = [item for item in playback.due(0.0) if isinstance(item, str)]
    assert marks == ["m1", "m2", "m3"]
    assert playback.played("m1", 0.3) == Progress("r1", 200.0)
    assert playback.played("m1", 0.3) is None
    assert not playback.idle
    # The last one tells of a little more than was sent, so that rounding leaves nothing unheard.
    assert playback.played("m3", 0.6) == Progress("r1", 501.0)
    assert playback.idle


def test_without_marks_the_clock_tells() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=40, marks=False))
    playback.say("r1", SECOND[:320])
    playback.end("r1")
    assert lengths(playback.due(0.0)) == [160, 160]
    assert playback.wait_s(0.0) == 0.04
    assert playback.elapsed(0.03) == []
    assert playback.elapsed(0.04) == [Progress("r1", 41.0)]
    assert playback.idle


def test_an_interruption_tells_how_far_playback_has_come() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=200))
    playback.say("r1", SECOND)
    playback.say("r2", SECOND)
    playback.due(10.0)
    first, second = playback.clear(10.15)
    assert (first.reply_id, second) == ("r1", Progress("r2", 0.0))
    assert first.played_ms == pytest.approx(150)
    assert playback.idle
    assert playback.due(10.2) == []


def test_playback_is_never_past_the_next_mark() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=400))
    playback.say("r1", SECOND)
    playback.due(0.0)
    # The line is slow: the mark at 200 ms has not come back after 390.
    assert playback.clear(0.39) == [Progress("r1", 200.0)]
    assert playback.played("m1", 0.4) is None


def test_replies_that_are_made_at_the_same_time_are_played_one_by_one() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=10_000, marks=False))
    for reply_id in ("r1", "r2", "r1"):
        playback.say(reply_id, SECOND)
    playback.end("r2")
    playback.end("r1")
    playback.due(0.0)
    assert playback.elapsed(1.9)[-1] == Progress("r1", 1800.0)
    assert playback.clear(1.9) == [Progress("r1", 1800.0), Progress("r2", 0.0)]


def test_after_an_interruption_audio_is_sent_at_once() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=190))
    playback.say("r1", SECOND)
    playback.due(0.0)
    playback.clear(0.1)
    playback.say("r2", SECOND)
    assert len(playback.due(0.1)) == 11


def test_a_line_that_is_closed_gets_nothing() -> None:
    playback = Playback(RATE_HZ, Traits())
    playback.say("r1", SECOND)
    playback.flow(is_open=False)
    assert playback.due(0.0) == []
    assert playback.wait_s(0.0) is None
    playback.flow(is_open=True)
    assert playback.due(0.0) != []


def test_a_far_side_that_answers_no_mark_has_played_what_it_got() -> None:
    playback = Playback(RATE_HZ, Traits(ahead_ms=10))
    playback.say("r", SECOND[:160])
    playback.end("r")
    playback.due(0.0)
    assert playback.wait_s(0.0) == pytest.approx(0.02 + MARK_LATE_S)
    now_s = 0.02
    for number in range(100):
        playback.say(f"r{number}", SECOND[:1600])
        playback.end(f"r{number}")
        while playback.waiting_s:
            playback.due(now_s)
            playback.elapsed(now_s)
            now_s += 0.02
    # An interruption takes back nothing that sounded long ago.
    assert len(playback._points) <= 5 * MARK_LATE_S + 2
    assert playback.elapsed(now_s + MARK_LATE_S + 1)[-1] == Progress("r99", 201.0)
    assert playback.clear(now_s) == []


def test_more_than_an_hour_of_audio_is_too_much() -> None:
    playback = Playback(RATE_HZ, Traits())
    minute = np.zeros(60 * RATE_HZ, np.int16)
    kept = [playback.say("r1", minute) for _ in range(71)]
    assert (all(kept[:60]), kept[-1]) == (True, False)
