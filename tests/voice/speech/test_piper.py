from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.tiny_piper import (
    FRAMES_PER_PHONEME,
    HOP_SAMPLES,
    SAMPLE_RATE_HZ,
    make_tiny_piper,
)
from voice.errors import ModelError
from voice.speech.normalization import spoken
from voice.speech.tts.piper import PiperSynthesizer
from voice.types import Segment, SpeechChunk


def segment(text: str, said: str | None = None) -> Segment:
    return Segment(1, 0, text, spoken(text) if said is None else said)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_piper(tmp_path_factory.mktemp("voice"))


@pytest.fixture(scope="module")
def voice(model: Path) -> PiperSynthesizer:
    return PiperSynthesizer(model)


def speak(voice: PiperSynthesizer, written: Segment, speed: float = 1.0) -> list[SpeechChunk]:
    chunks = list(voice.synthesize(written, speed))
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    return chunks


def test_speaks_at_the_rate_of_its_settings(voice: PiperSynthesizer) -> None:
    assert voice.name == "piper:en_US-tiny-low"
    assert voice.sample_rate_hz == SAMPLE_RATE_HZ
    chunks = speak(voice, segment("Hello there."))
    samples = np.concatenate([chunk.samples for chunk in chunks])
    assert samples.dtype == np.int16
    assert np.flatnonzero(np.abs(samples) > 300)[0] < SAMPLE_RATE_HZ // 100
    assert len(chunks[-1].samples) == SAMPLE_RATE_HZ * 120 // 1000


def test_each_sentence_is_a_chunk_of_its_own(voice: PiperSynthesizer) -> None:
    chunks = speak(voice, segment("Hello there. How are you? Fine!"))
    assert len(chunks) == 4
    assert [word.end_char for word in chunks[-1].words] == [5, 12, 16, 20, 25, 31]


def test_the_first_sentence_does_not_wait_for_the_second(model: Path) -> None:
    voice = PiperSynthesizer(model)
    made = []
    speak_ids = voice._voice.phoneme_ids_to_audio
    voice._voice.phoneme_ids_to_audio = lambda *a, **k: made.append(1) or speak_ids(*a, **k)
    next(voice.synthesize(segment("Hello there. How are you?")))
    assert len(made) == 1


def test_words_end_where_their_phonemes_end(voice: PiperSynthesizer) -> None:
    # hello is h ə l ˈ o ʊ: six signs, each with a padding after it; a padding and the start before.
    words = speak(voice, segment("Hello you"))[-1].words
    phoneme = int(HOP_SAMPLES * FRAMES_PER_PHONEME)
    attack = SAMPLE_RATE_HZ * 5 // 1000
    assert words[0].end_sample == pytest.approx(attack + 11 * phoneme, abs=phoneme // 4)
    assert words[1].end_sample > words[0].end_sample + 3 * phoneme


def test_words_that_espeak_runs_together_are_still_timed(voice: PiperSynthesizer) -> None:
    text = "It is one of the best in the world."
    words = speak(voice, segment(text))[-1].words
    assert [word.end_char for word in words][-1] == len(text)
    assert len(words) == len(text.split())


def test_speed_changes_the_length(voice: PiperSynthesizer) -> None:
    written = segment("The timer is set for ten minutes.")
    usual, fast = (len(speak(voice, written, speed)[0].samples) for speed in (1, 2))
    assert fast == pytest.approx(usual / 2, rel=0.05)


@pytest.mark.parametrize("said", ["", "👍", "...", "[[x", "a\x00b", "\n", "x" * 2000])
def test_odd_text_is_survived(voice: PiperSynthesizer, said: str) -> None:
    speak(voice, segment(said, said))
    assert len(speak(voice, segment("Still here."))) == 2


@pytest.mark.parametrize(
    ("audio", "told"),
    [
        ({"sample_rate": 0}, "audio.sample_rate: got 0, expected more than 0"),
        ({}, "no Piper voice: KeyError: 'sample_rate'"),
    ],
)
def test_settings_that_no_voice_has_are_told(
    tmp_path: Path, audio: dict[str, object], told: str
) -> None:
    model = make_tiny_piper(tmp_path)
    settings = Path(f"{model}.json")
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "audio": audio}))
    with pytest.raises(ModelError, match=told):
        PiperSynthesizer(model)
