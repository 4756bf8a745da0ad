from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.humming import WORDS, hums
from benchmarks.voice.short_words import spoken
from voice.demo.virtual_audio import room_tone, speech_span
from voice.hearing.backchannel import (
    AFTER_MS,
    BANDS,
    FRAMES,
    interrupts,
    is_backchannel,
    is_parting,
    sound_log_odds,
    spectrum,
)
from voice.types import Samples, samples_of_ms


@pytest.mark.parametrize(
    "text",
    ["mm-hmm", "Mm hmm.", "uh-huh", "Right.", "okay", "OK", "yeah", "I see", "oh okay", "sure",
     "okay right", "yeah yeah", "all right", "got it"],
)  # fmt: skip
def test_go_on(text: str) -> None:
    assert is_backchannel(text)
    assert not interrupts(text)


@pytest.mark.parametrize(
    "text",
    ["stop", "wait", "no", "okay stop", "right but not today", "what time is it", "cancel", "",
     "hold on", "no thanks", "yes please stop", "okay and what about tomorrow"],
)  # fmt: skip
def test_listen_to_me(text: str) -> None:
    assert not is_backchannel(text)


@pytest.mark.parametrize("text", ["yes", "okay", "sure", "right"])
def test_a_question_makes_an_answer_of_it(text: str) -> None:
    assert interrupts(text, answering=True)
    assert not interrupts("mm-hmm", answering=True)


def test_however_many_words_there_are() -> None:
    assert is_backchannel("oh okay " * 2000)
    assert not is_backchannel("oh okay " * 2000 + "stop")


def test_what_has_no_words_goes_by() -> None:
    assert not interrupts("")
    assert not interrupts(" ")
    assert interrupts("stop")


def test_a_guess_counts_where_nothing_was_understood() -> None:
    assert interrupts("", guess="stove")
    assert not interrupts("", guess="and yes")
    assert interrupts("", answering=True, guess="and yes")
    assert not interrupts("right", guess="stop")


@pytest.mark.parametrize(("text", "guess"), [("wait", ""), ("you add", ""), ("", "white")])
def test_what_sounds_like_going_on_outweighs_a_word_misheard(text: str, guess: str) -> None:
    assert interrupts(text, guess=guess, sound_odds=-2.0)
    assert not interrupts(text, guess=guess, sound_odds=6.0)


def test_words_only_guessed_stop_the_agent_where_the_sound_agrees() -> None:
    assert not interrupts("", guess="bye", sound_odds=0.0)
    assert interrupts("bye", sound_odds=0.0)


@pytest.mark.parametrize(("text", "guess"), [("right", ""), ("", "and yes")])
def test_a_word_that_asks_to_go_on_is_believed_unless_it_sounds_like_no_such(
    text: str, guess: str
) -> None:
    assert not interrupts(text, guess=guess, sound_odds=-2.0)
    assert interrupts(text, guess=guess, sound_odds=-12.0)


def test_the_sound_says_nothing_of_answers_and_coughs() -> None:
    assert interrupts("yes", answering=True, sound_odds=9.0)
    assert not interrupts("", sound_odds=-9.0)


@pytest.mark.parametrize("text", ["bye", "Bye bye!", "okay thanks, bye", "good night", "yes"])
def test_words_that_say_goodbye(text: str) -> None:
    assert is_parting(text)


@pytest.mark.parametrize("text", ["", "wait", "bye the way", "thanks, and one more thing"])
def test_words_that_do_not(text: str) -> None:
    assert not is_parting(text)


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
def test_the_sound_of_backchannels(phrase: str) -> None:
    odds = sound_log_odds(*said(phrase))
    assert odds is not None
    assert odds > 0


@pytest.mark.parametrize("phrase", ["stop", "no", "wait", "cancel"])
def test_the_sound_of_words_that_are_no_backchannel(phrase: str) -> None:
    odds = sound_log_odds(*said(phrase))
    assert odds is not None
    assert odds < 0


@pytest.mark.parametrize("word", WORDS)
def test_hums_ask_to_go_on(word: str) -> None:
    heard = (in_a_room(hum.samples) for hum in hums([word], hummers=range(1, 24, 2)))
    found = [sound_log_odds(*hum) for hum in heard]
    known = [odds for odds in found if odds is not None]
    assert len(known) > 6
    assert np.median(known) > 1


@pytest.mark.parametrize("speech_ms", [0, 100, 1020, 4000])
def test_of_scraps_and_sentences_nothing_is_said(speech_ms: int) -> None:
    assert sound_log_odds(room_tone(5.0, 16_000), samples_of_ms(speech_ms), 960) is None


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
    assert sound_log_odds(louder, speech, silence) == sound_log_odds(audio, speech, silence)
    louder[-silence:] = 9000
    assert sound_log_odds(louder, speech, silence) != sound_log_odds(audio, speech, silence)


def test_only_the_last_second_counts() -> None:
    audio, _, _ = said("stop")
    before = np.full(16_000, 9000, np.int16)
    np.testing.assert_array_equal(spectrum(np.concatenate([before, audio])), spectrum(audio))
    assert (spectrum(audio[:-1600]) != spectrum(audio)).any()


def test_loudness_does_not_matter() -> None:
    audio, *lengths = said("right")
    loud, soft = (sound_log_odds((audio // by).astype(np.int16), *lengths) for by in (1, 3))
    assert loud is not None
    assert soft is not None
    assert abs(loud - soft) < 2
