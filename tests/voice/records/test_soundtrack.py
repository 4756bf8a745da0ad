"""Both sides on one clock: what was heard, when, and nothing else."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from voice.records.soundtrack import RATE_HZ, Both, Soundtrack
from voice.types import SAMPLE_RATE_HZ, Samples


class Line:
    """A conversation whose time passes as the test says."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.track = Soundtrack(lambda: self.now_s)
        self.pieces: list[Both] = []

    def speak(self, level: int, seconds: float, packet_s: float = 0.02) -> None:
        """The user's audio, as it is captured."""
        for _ in range(round(seconds / packet_s)):
            self.now_s += packet_s
            self.track.hear(tone(level, packet_s), RATE_HZ)

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.pieces.append(self.track.take())

    def end(self) -> Both:
        self.pieces.append(self.track.take(last=True))
        return np.concatenate(self.pieces)


def tone(level: int, seconds: float, rate_hz: int = RATE_HZ) -> Samples:
    return np.full(round(seconds * rate_hz), level, np.int16)


def spans(side: Samples) -> list[tuple[int, float, float]]:
    """Level, beginning and end, in seconds, of all that is no silence."""
    edges = np.flatnonzero(np.diff(side, prepend=0, append=0))
    return [
        (int(side[at]), at / RATE_HZ, until / RATE_HZ) for at, until in pairwise(edges) if side[at]
    ]


def near(*expected: tuple[int, float, float]) -> list[object]:
    return [(level, *(pytest.approx(s, abs=0.005) for s in times)) for level, *times in expected]


def test_both_sides_lie_where_they_were_heard() -> None:
    line = Line()
    line.speak(5, 1.0)
    line.track.say("r1", tone(7, 0.5), RATE_HZ)
    line.track.say("r1", tone(8, 0.5), RATE_HZ)
    line.speak(0, 2.0)
    both = line.end()
    assert len(both) / RATE_HZ == pytest.approx(3.0, abs=0.01)
    assert spans(both[:, 0]) == near((5, 0.0, 1.0))
    assert spans(both[:, 1]) == near((7, 1.0, 1.5), (8, 1.5, 2.0))
    assert line.track.ms_in_reply("r1", 750) == pytest.approx(1750, abs=5)
    assert line.track.ms_in_reply("r2", 0) is None
    assert line.track.ms_of(SAMPLE_RATE_HZ // 2) == pytest.approx(500, abs=5)


def test_a_line_that_sends_nothing_is_silent_and_keeps_the_time() -> None:
    line = Line()
    line.wait(2.0)
    line.speak(5, 1.0)
    line.wait(3.0)
    line.speak(6, 1.0)
    assert line.track.ms_of(SAMPLE_RATE_HZ * 3 // 2) == pytest.approx(6500, abs=5)
    assert line.track.heard == 2 * SAMPLE_RATE_HZ
    assert spans(line.end()[:, 0]) == near((5, 2.0, 3.0), (6, 6.0, 7.0))


def test_packets_that_come_in_fits_make_no_holes() -> None:
    line = Line()
    line.speak(5, 1.0)
    line.now_s += 0.2
    line.speak(5, 0.2, packet_s=0.2)
    line.now_s -= 0.2
    line.speak(5, 1.0)
    assert spans(line.end()[:, 0]) == near((5, 0.0, 2.2))


def test_audio_sooner_than_it_can_have_been_spoken_moves_the_agent_along() -> None:
    line = Line()
    line.track.hear(tone(5, 3.0), RATE_HZ)
    line.track.say("r1", tone(7, 1.0), RATE_HZ)
    line.wait(2.0)
    both = line.end()
    assert spans(both[:, 0]) == near((5, 0.0, 3.0))
    assert spans(both[:, 1]) == near((7, 3.0, 4.0))


def test_a_reply_that_is_held_pauses_and_one_that_is_stopped_ends() -> None:
    line = Line()
    line.track.say("r1", tone(7, 2.0), RATE_HZ)
    line.wait(0.5)
    line.track.hold(True)
    line.wait(1.0)
    line.track.hold(False)
    line.wait(0.5)
    line.track.stop()
    line.wait(1.0)
    line.track.say("r2", tone(9, 0.5), RATE_HZ)
    line.wait(1.0)
    assert spans(line.end()[:, 1]) == near((7, 0.0, 0.5), (7, 1.5, 2.0), (9, 3.0, 3.5))


def test_what_the_client_has_not_played_is_taken_back() -> None:
    line = Line()
    line.track.say("r1", tone(7, 3.0), RATE_HZ)
    line.wait(2.0)
    line.track.stop()
    line.wait(0.3)
    line.track.truncate("r1", 1500)
    line.wait(1.0)
    assert spans(line.end()[:, 1]) == near((7, 0.0, 1.5))


def test_telephone_audio_is_as_long_as_it_was() -> None:
    line = Line()
    for _ in range(100):
        line.now_s += 0.02
        line.track.hear(tone(5, 0.02, 8000), 8000)
    line.track.say("r1", tone(7, 1.0, 8000), 8000)
    line.track.end("r1")
    line.wait(3.0)
    both = line.end()
    ((_, start_s, end_s),) = [
        (0, *np.flatnonzero(np.abs(both[:, side]) > 2)[[0, -1]] / RATE_HZ) for side in (1,)
    ]
    assert (start_s, end_s) == (pytest.approx(2.0, abs=0.05), pytest.approx(3.0, abs=0.05))
    assert line.track.heard / SAMPLE_RATE_HZ == pytest.approx(2.0, abs=0.05)


def test_memory_is_bounded_where_nobody_asks_for_the_sound() -> None:
    line = Line()
    line.now_s += 3600
    assert len(line.track.take()) == 30 * RATE_HZ
