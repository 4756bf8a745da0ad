"""Clicks, clipping and loudness of the voices, over two hundred replies."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.voices import replies, segments
from voice.config import TtsConfig
from voice.speech.tts import installed_voices
from voice.speech.tts.level import LEVEL_DBFS, speech_level

MOST_STEP = 500
"""Between two samples where a segment begins or ends: about twice what counts as silence."""

JOE = "piper:en_US-joe-medium"


@pytest.mark.parametrize(("name", "every"), [("hibari:heart", 1), ("espeak:en-us", 1), (JOE, 25)])
def test_voices_are_even(name: str, every: int) -> None:
    texts = replies()[::every]
    assert len(texts) >= 200 / every
    voice = installed_voices(TtsConfig()).of(name)
    assert voice is not None
    levels = []
    for text in texts:
        said = []
        for segment in segments(text):
            *sound, pause = [chunk.samples.astype(np.int32) for chunk in voice.synthesize(segment)]
            steps = np.abs(np.diff(pause, prepend=pause[0], append=0))
            assert max(steps.max(), abs(sound[0][0])) < MOST_STEP, text
            said += [*sound, pause]
        audio = np.concatenate(said)
        assert np.abs(audio).max() < 32767, text
        levels.append(speech_level(audio.astype(np.int16), voice.sample_rate_hz))
    assert np.mean(levels) == pytest.approx(LEVEL_DBFS, abs=2.5)
    assert np.std(levels) < 1.5
    assert np.max(levels) - np.min(levels) < 7
