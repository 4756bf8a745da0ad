from __future__ import annotations

from dataclasses import replace

from voice.dialogue.commands import HoldSpeaking, ReleaseSpeaking
from voice.dialogue.pending_interruption import PendingInterruption
from voice.types import Transcript


def test_sound_is_held_and_released_once() -> None:
    doubt = PendingInterruption(("resp1", "resp2"), answering=False, start_sample=0)
    assert doubt.release() == []
    assert doubt.hold() == [HoldSpeaking("resp1"), HoldSpeaking("resp2")]
    assert doubt.hold() == []
    assert doubt.release() == [ReleaseSpeaking("resp1"), ReleaseSpeaking("resp2")]
    assert doubt.release() == []


def heard(text: str, guess: str = "") -> Transcript:
    return Transcript(1, text, True, 0.9 if text else 0.0, 0, guess)


def test_the_length_of_speech_counts_from_its_start() -> None:
    doubt = PendingInterruption(("resp1",), answering=False, start_sample=32_000)
    assert not doubt.proven(heard(""), 32_000 + 8000)
    assert doubt.proven(heard(""), 32_000 + 16_000)
    assert doubt.proven(heard("stop"), 32_000 + 3200)
    assert not doubt.proven(heard("right"), 32_000 + 3200)


def test_yes_is_an_answer_to_a_question() -> None:
    assert PendingInterruption(("resp1",), answering=True, start_sample=0).proven(
        heard("yes"), 3200
    )


def test_a_guess_will_do_to_stop_but_not_where_it_holds_a_word_that_agrees() -> None:
    doubt = PendingInterruption(("resp1",), answering=False, start_sample=0)
    assert doubt.proven(heard("", guess="two stop"), 8000)
    assert not doubt.proven(heard("", guess="not right"), 8000)
    assert doubt.proven(heard("", guess="not right"), 16_000)


def test_how_it_sounded_counts() -> None:
    doubt = PendingInterruption(("resp1",), answering=False, start_sample=0)
    assert doubt.proven(heard("wait"), 6400)
    assert not doubt.proven(replace(heard("wait"), go_on=5.0), 6400)


def test_short_speech_may_be_the_beginning_of_a_word() -> None:
    doubt = PendingInterruption(("resp1",), answering=False, start_sample=32_000)
    assert doubt.may_be_a_beginning(32_000 + 3000)
    assert not doubt.may_be_a_beginning(32_000 + 4000)
