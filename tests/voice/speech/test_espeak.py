from __future__ import annotations

import ctypes
import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from voice.errors import ModelError
from voice.speech.normalization import spoken
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import Samples, Segment, SpeechChunk

ODD = (
    *("", "\x00", "👍🏽", "a\x00b", "[[h@l'oU]]", "<speak>x", "\ud800", "%s%n", "\n"),
    *("x" * 3000, "word " * 500),
)


def segment(text: str, said: str | None = None) -> Segment:
    return Segment(1, 0, text, spoken(text) if said is None else said)


def speak(voice: EspeakSynthesizer, written: Segment, speed: float = 1.0) -> list[SpeechChunk]:
    chunks = list(voice.synthesize(written, speed))
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert all(chunk.samples.dtype == np.int16 for chunk in chunks)
    return chunks


def audio(chunks: list[SpeechChunk]) -> Samples:
    return np.concatenate([chunk.samples for chunk in chunks])


@pytest.fixture(scope="module")
def voice() -> EspeakSynthesizer:
    return EspeakSynthesizer()


def test_sound_begins_at_once_and_ends_in_a_short_pause(voice: EspeakSynthesizer) -> None:
    samples = audio(speak(voice, segment("The timer is set now.")))
    sounding = np.flatnonzero(np.abs(samples) > 300) * 1000 / voice.sample_rate_hz
    assert 800 < len(samples) * 1000 / voice.sample_rate_hz < 2000
    assert sounding[0] < 10
    assert 80 < len(samples) * 1000 / voice.sample_rate_hz - sounding[-1] < 160


def test_every_written_word_is_timed(voice: EspeakSynthesizer) -> None:
    text = "One of the best: $49.95, at 3:35 p.m. Is it, sir?"
    chunks = speak(voice, segment(text))
    words = chunks[-1].words
    assert [text[: word.end_char].split()[-1] for word in words] == text.replace(
        "3:35 ", ""
    ).split()
    ends = [word.end_sample for word in words]
    assert ends == sorted(set(ends))
    assert ends[-1] <= sum(len(chunk.samples) for chunk in chunks[:-1])


def test_speed_and_pitch_change_the_sound(voice: EspeakSynthesizer) -> None:
    written = segment("The timer is set for ten minutes.")
    usual = len(audio(speak(voice, written)))
    for speed in (0.25, 1.5, 4):
        assert usual / len(audio(speak(voice, written, speed))) == pytest.approx(speed, rel=0.05)
    high = EspeakSynthesizer(pitch=90)
    assert not np.array_equal(audio(speak(high, written)), audio(speak(voice, written)))


def test_an_unknown_voice_is_an_error() -> None:
    with pytest.raises(ModelError, match="klingonese"):
        EspeakSynthesizer("klingonese")


def test_voices_do_not_mix_across_threads(voice: EspeakSynthesizer) -> None:
    written = segment("I am going to dance in the bath, at the party after half past four.")
    speeds = (0.7, 1.0, 1.6)
    alone = [len(audio(speak(voice, written, speed))) for speed in speeds]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(
            lambda turn: len(audio(speak(EspeakSynthesizer(), written, speeds[turn % 3]))),
            range(24),
        )
        # Some consonants are noise, of which espeak-ng makes a little more or less each time.
        assert list(together) == pytest.approx(alone * 8, rel=0.02)


def test_an_abandoned_segment_holds_no_lock(voice: EspeakSynthesizer) -> None:
    half_heard = voice.synthesize(segment("This is not listened to."))
    next(half_heard)
    assert len(speak(voice, segment("This is."))) == 2


def test_speaking_leaves_no_types_behind(voice: EspeakSynthesizer) -> None:
    def types() -> int:
        gc.collect()
        return sum(
            issubclass(t, ctypes.Array) for t in gc.get_objects() if issubclass(type(t), type)
        )

    speak(voice, segment("Good."))
    before = types()
    for count in range(1, 8):
        speak(voice, segment("The timer is set. " * count))
    assert types() == before


@pytest.mark.parametrize("said", ODD)
def test_odd_text_is_survived(voice: EspeakSynthesizer, said: str) -> None:
    speak(voice, segment(said, said))
    assert len(audio(speak(voice, segment("Still here.")))) > 5000
