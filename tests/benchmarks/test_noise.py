from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.noise import with_noise
from voice.demo.virtual_audio import room_tone, speech_span
from voice.types import SAMPLE_RATE_HZ

LINES = demo_lines("assistant")[:3]
NOISES = [room_tone(1.0, SAMPLE_RATE_HZ, -40), room_tone(2.0, SAMPLE_RATE_HZ, -30)]


def test_noise_is_as_loud_as_the_ratio_says() -> None:
    for noisy in with_noise(LINES[:1], NOISES, (20, 5)):
        assert noisy.around is not None
        begin, end = speech_span(noisy.samples, SAMPLE_RATE_HZ)
        powers = [np.mean(x.astype(float) ** 2) for x in (noisy.samples[begin:end], noisy.around)]
        assert 10 * np.log10(powers[0] / powers[1]) == pytest.approx(noisy.snr_db, abs=0.5)
        assert not noisy.plain
