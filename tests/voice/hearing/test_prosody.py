"""Made-up voices whose pitch and level are known, and a real one."""

from __future__ import annotations

import numpy as np
import pytest

from voice.demo.recordings import load
from voice.demo.virtual_audio import room_tone, speech_span
from voice.hearing.prosody import Prosody, measure
from voice.types import SAMPLE_RATE_HZ, Samples


def sung(*pieces: tuple[float, float, float, float]) -> Samples:
    """Pulses with a formant: (seconds, first pitch in Hz, last pitch, last level in dB) each."""
    out = []
    for seconds, first_hz, last_hz, last_db in pieces:
        count = round(seconds * SAMPLE_RATE_HZ)
        phase = np.cumsum(np.linspace(first_hz, last_hz, count)) / SAMPLE_RATE_HZ
        tone = sum(np.sin(2 * np.pi * k * phase) / k for k in range(1, 8))
        level = 10 ** (np.linspace(0, last_db, count) / 20)
        out.append(np.asarray(3000 * tone * level))
    return np.concatenate(out).round().astype(np.int16)


def of(samples: Samples) -> Prosody:
    found = measure(samples)
    assert found is not None
    return found


@pytest.mark.parametrize("pitch_hz", [85, 120, 210, 330])
def test_a_held_tone_neither_rises_nor_falls(pitch_hz: int) -> None:
    found = of(sung((1.2, pitch_hz, pitch_hz, 0)))
    assert abs(found.pitch_st) < 0.3
    assert abs(found.slope_st) < 0.3
    assert abs(found.decay_db) < 1
    assert found.voiced == 1
    assert found.held_ms > 1000


def test_an_octave_down_at_the_end_is_a_fall() -> None:
    found = of(sung((1.0, 200, 200, 0), (0.3, 200, 100, 0)))
    assert -12 <= found.pitch_st < -5
    assert -8 < found.slope_st < -4


def test_a_question_rises() -> None:
    found = of(sung((1.0, 120, 120, 0), (0.25, 120, 200, 0)))
    assert found.pitch_st > 4
    assert found.slope_st > 3


def test_a_voice_that_dies_away() -> None:
    found = of(sung((1.0, 120, 120, 0), (0.3, 120, 120, -20)))
    assert found.level_db < -8
    assert found.decay_db < -6


def test_the_last_sound_is_measured_from_the_last_break() -> None:
    gap = room_tone(0.1, SAMPLE_RATE_HZ)
    found = of(np.concatenate([sung((0.8, 120, 120, 0)), gap, sung((0.3, 120, 120, 0))]))
    assert 240 <= found.held_ms <= 340


@pytest.mark.parametrize(
    "samples",
    [np.zeros(0, np.int16), np.zeros(16_000, np.int16), room_tone(1.0, 16_000), np.ones(600, "i2")],
)
def test_nothing_is_said_about_what_is_no_voice(samples: Samples) -> None:
    assert measure(samples) is None


def test_only_the_end_of_a_long_stretch_counts() -> None:
    tail = sung((1.7, 120, 110, -6))
    assert measure(np.concatenate([sung((3.0, 300, 300, 0)), tail])) == measure(tail)


def test_a_recorded_voice_falls_and_fades_at_its_end() -> None:
    samples = load("assistant-6-time")
    found = of(samples[: speech_span(samples, SAMPLE_RATE_HZ)[1]])
    assert found.level_db < -5
    assert found.decay_db < 0
    assert found.vector().shape == (6,)
