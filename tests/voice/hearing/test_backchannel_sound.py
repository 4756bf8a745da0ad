from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.voice.humming import WORDS, hums
from benchmarks.voice.short_words import spoken
from voice.demo.virtual_audio import room_tone, speech_span
from voice.hearing.backchannel_sound import (
    AFTER_MS,
    BANDS,
    FRAMES,
    asks_to_go_on,
    load,
    network,
    spectrum,
)
from voice.types import Samples, samples_of_ms


def said(phrase: str) -> tuple[Samples, int, int]:
    """A phrase by a synthetic voice between silences; how many samples are speech, and silence."""
    return in_a_room(next(spoken([phrase], np.random.default_rng(3))).samples)


def in_a_room(samples: Samples) -> tuple[Samples, int, int]:
    """Something said between silences; how many samples are speech, and silence."""
    first, last = speech_span(samples, 16_000)
    lead, tail = room_tone(1.0, 16_000), room_tone(0.1, 16_000)
    # A sound cut off where it is still audible would begin and end in a click.
    heard = np.concatenate([lead, samples, tail])
    return heard, last - first, len(heard) - len(lead) - last


@pytest.mark.parametrize("phrase", ["yes", "right", "okay", "uh huh"])
def test_words_that_ask_to_go_on(phrase: str) -> None:
    odds = asks_to_go_on(*said(phrase))
    assert odds is not None
    assert odds > 0


@pytest.mark.parametrize("phrase", ["stop", "no", "wait", "cancel"])
def test_words_that_do_not(phrase: str) -> None:
    odds = asks_to_go_on(*said(phrase))
    assert odds is not None
    assert odds < 0


@pytest.mark.parametrize("word", WORDS)
def test_hums_ask_to_go_on(word: str) -> None:
    heard = (in_a_room(hum.samples) for hum in hums([word], hummers=range(1, 24, 2)))
    found = [asks_to_go_on(*hum) for hum in heard]
    known = [odds for odds in found if odds is not None]
    assert len(known) > 6
    assert np.median(known) > 1


@pytest.mark.parametrize("speech_ms", [0, 100, 1020, 4000])
def test_of_scraps_and_sentences_nothing_is_said(speech_ms: int) -> None:
    assert asks_to_go_on(room_tone(5.0, 16_000), samples_of_ms(speech_ms), 960) is None


@pytest.mark.parametrize("samples", [1, 511, 2000, 15_999, 16_000, 40_000])
def test_a_spectrum_has_one_size_and_is_finite(samples: int) -> None:
    heard = spectrum(room_tone(3.0, 16_000)[:samples])
    assert heard.shape == (FRAMES, BANDS)
    assert heard.dtype == np.float32
    assert np.isfinite(heard).all()


def test_what_follows_the_speech_counts_for_so_long() -> None:
    audio, speech, silence = said("right")
    louder = audio.copy()
    louder[-silence + samples_of_ms(AFTER_MS) :] = 9000
    assert asks_to_go_on(louder, speech, silence) == asks_to_go_on(audio, speech, silence)
    louder[-silence:] = 9000
    assert asks_to_go_on(louder, speech, silence) != asks_to_go_on(audio, speech, silence)


def test_only_the_last_second_counts() -> None:
    audio, _, _ = said("stop")
    before = np.full(16_000, 9000, np.int16)
    np.testing.assert_array_equal(spectrum(np.concatenate([before, audio])), spectrum(audio))
    assert (spectrum(audio[:-1600]) != spectrum(audio)).any()


def test_loudness_does_not_matter() -> None:
    audio, *lengths = said("right")
    loud, soft = (asks_to_go_on((audio // by).astype(np.int16), *lengths) for by in (1, 3))
    assert loud is not None
    assert soft is not None
    assert abs(loud - soft) < 2


def test_the_layers_are_convolutions() -> None:
    rng = np.random.default_rng(0)
    weights = {
        "first.weight": rng.normal(size=(2, BANDS, 5)),
        "first.bias": np.zeros(2),
        "second.weight": rng.normal(size=(2, 2, 5)),
        "second.bias": np.zeros(2),
        "third.weight": rng.normal(size=(2, 2, 5)),
        "third.bias": np.zeros(2),
        "out.weight": np.eye(4),
        "out.bias": np.zeros(4),
    }
    assert (network(np.zeros((FRAMES, BANDS), np.float32), weights) == 0).all()  # type: ignore[arg-type]


def test_weights_are_read_from_a_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "some.npz", agrees=np.array([1, 0], np.float16))
    assert load(tmp_path / "some.npz")["agrees"].dtype == np.float32
    assert {"first.weight", "out.bias", "agrees"} <= load().keys()
