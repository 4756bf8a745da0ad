from __future__ import annotations

import numpy as np
import pytest

from voice.speech.tts.assembly import SilenceTrimmer
from voice.speech.tts.timing import sound_end
from voice.types import Samples

RATE_HZ = 16_000


def silence(ms: int) -> Samples:
    return np.zeros(ms * 16, np.int16)


def tone(ms: int) -> Samples:
    return np.full(ms * 16, 4000, np.int16)


def trim(samples: Samples, step: int, pause_ms: float = 120) -> Samples:
    trimmer = SilenceTrimmer(RATE_HZ)
    parts = [trimmer.push(samples[start : start + step]) for start in range(0, len(samples), step)]
    return np.concatenate([*parts, trimmer.finish(pause_ms)])


@pytest.mark.parametrize("step", [1_000_000, 1600, 160, 37])
def test_takes_silence_off_both_ends(step: int) -> None:
    audio = np.concatenate([silence(300), tone(200), silence(400), tone(100), silence(700)])
    trimmed = trim(audio, step)
    first = np.flatnonzero(trimmed)[0]
    assert 0 <= first <= RATE_HZ * 10 // 1000
    assert len(trimmed) - first == pytest.approx(16 * (200 + 400 + 100 + 120), abs=2)


def test_a_short_ending_is_filled_up_to_the_pause() -> None:
    assert len(trim(tone(100), 160, pause_ms=60)) == 16 * 160


def test_sound_is_let_through_at_once() -> None:
    trimmer = SilenceTrimmer(RATE_HZ)
    assert len(trimmer.push(silence(50))) == 0
    assert len(trimmer.push(tone(20))) == 16 * 25
    assert trimmer.dropped == 16 * 45


def test_nothing_comes_of_silence() -> None:
    assert len(trim(silence(500), 160)) == 0


def test_sound_end() -> None:
    audio = np.concatenate([tone(10), silence(10)])
    assert sound_end(audio, 0, len(audio)) == 160
    assert sound_end(audio, 200, 300) == 300
    assert sound_end(audio, 50, 50) == 50
