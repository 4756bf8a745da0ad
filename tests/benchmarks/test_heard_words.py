from __future__ import annotations

import numpy as np
import soxr

from benchmarks.voice.heard_words import Heard, heard_words
from voice.speech.normalization import spoken
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import SAMPLE_RATE_HZ, Samples, Segment

TEXT = "12 times 7 equals 84."


def sound(text: str) -> tuple[Samples, list[int]]:
    """A text's audio at 16 kHz, and where the voice says that its words end."""
    voice = EspeakSynthesizer()
    chunks = list(voice.synthesize(Segment(1, 0, text, spoken(text))))
    audio = np.concatenate([chunk.samples for chunk in chunks])
    ends = [word.end_sample for chunk in chunks for word in chunk.words]
    rate_hz = voice.sample_rate_hz
    return soxr.resample(audio, rate_hz, SAMPLE_RATE_HZ), [
        end * SAMPLE_RATE_HZ // rate_hz for end in ends
    ]


def test_words_are_found_where_the_voice_says_they_are() -> None:
    audio, ends = sound(TEXT)
    for count, end in enumerate(ends, start=1):
        heard = heard_words(TEXT, audio, end)
        assert heard is not None
        assert heard.least <= count <= heard.most
        assert heard.most - heard.least <= 1
    assert heard_words(TEXT, audio, 0) == Heard(0, 0, 0)


def test_a_word_too_many_is_told_from_one_at_the_edge() -> None:
    heard = Heard(least=2, likely=2, most=3)
    assert [heard.off(kept) for kept in ("12", "12 times", "12 times 7", TEXT)] == [-1, 0, 0, 2]
