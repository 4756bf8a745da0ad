"""Silence after speech is not speech; more speech is."""

from __future__ import annotations

import numpy as np

from voice.hearing.asr.turn_audio import TurnAudio
from voice.types import AudioFrame, Samples


def frames(samples: Samples, start: int) -> list[AudioFrame]:
    return [AudioFrame(samples[at : at + 320], start + at) for at in range(0, len(samples), 320)]


def noise(level: float, seconds: float) -> Samples:
    return np.random.default_rng(0).normal(0, level, int(16000 * seconds)).astype(np.int16)


def test_it_collects() -> None:
    audio = TurnAudio()
    assert len(audio.samples()) == 0
    for frame in frames(noise(1000, 0.1), 6400):
        audio.append(frame)
    assert audio.length == 1600
    assert audio.end_sample == 8000
    np.testing.assert_array_equal(audio.samples(), noise(1000, 0.1))


def test_only_speech_after_the_mark_counts() -> None:
    audio = TurnAudio()
    for frame in frames(noise(3000, 0.5), 0):
        audio.append(frame)
    assert audio.speech_since_mark()
    audio.mark()
    for frame in frames(noise(20, 0.5), 8000):
        audio.append(frame)
    assert not audio.speech_since_mark()
    for frame in frames(noise(2000, 0.06), 16000):
        audio.append(frame)
    assert audio.speech_since_mark()
