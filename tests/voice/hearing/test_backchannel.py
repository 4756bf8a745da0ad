from __future__ import annotations

import pytest

from voice.hearing.backchannel import interrupts, is_backchannel, is_parting


@pytest.mark.parametrize(
    "text",
    ["mm-hmm", "Mm hmm.", "uh-huh", "Right.", "okay", "OK", "yeah", "I see", "oh okay", "sure",
     "okay right", "yeah yeah", "all right", "got it"],
)  # fmt: skip
def test_go_on(text: str) -> None:
    assert is_backchannel(text)
    assert not interrupts(text, 0.9)


@pytest.mark.parametrize(
    "text",
    ["stop", "wait", "no", "okay stop", "right but not today", "what time is it", "cancel", "",
     "hold on", "no thanks", "yes please stop", "okay and what about tomorrow"],
)  # fmt: skip
def test_listen_to_me(text: str) -> None:
    assert not is_backchannel(text)


@pytest.mark.parametrize("text", ["yes", "okay", "sure", "right"])
def test_a_question_makes_an_answer_of_it(text: str) -> None:
    assert interrupts(text, 0.3, answering=True)
    assert not interrupts("mm-hmm", 0.3, answering=True)


def test_a_cough_goes_by_and_a_sentence_nobody_understood_does_not() -> None:
    assert not interrupts("", 0.5)
    assert interrupts(" ", 1.2)
    assert interrupts("stop", 0.2)


def test_a_guess_counts_where_nothing_was_understood() -> None:
    assert interrupts("", 0.4, guess="stove")
    assert not interrupts("", 0.4, guess="and yes")
    assert interrupts("", 0.4, answering=True, guess="and yes")
    assert not interrupts("right", 0.4, guess="stop")


def test_a_scrap_of_a_sound_decides_nothing() -> None:
    assert not interrupts("nope", 0.1)
    assert not interrupts("", 0.1, guess="hello")


@pytest.mark.parametrize(("text", "guess"), [("wait", ""), ("you add", ""), ("", "white")])
def test_what_sounds_like_going_on_outweighs_a_word_misheard(text: str, guess: str) -> None:
    assert interrupts(text, 0.4, guess=guess, go_on=-2.0)
    assert not interrupts(text, 0.4, guess=guess, go_on=6.0)


def test_words_only_guessed_stop_the_agent_where_the_sound_agrees() -> None:
    assert not interrupts("", 0.4, guess="bye", go_on=0.0)
    assert interrupts("bye", 0.4, go_on=0.0)


@pytest.mark.parametrize(("text", "guess"), [("right", ""), ("", "and yes")])
def test_a_word_that_asks_to_go_on_is_believed_unless_it_sounds_like_no_such(
    text: str, guess: str
) -> None:
    assert not interrupts(text, 0.4, guess=guess, go_on=-2.0)
    assert interrupts(text, 0.4, guess=guess, go_on=-12.0)


def test_the_sound_says_nothing_of_answers_sentences_and_coughs() -> None:
    assert interrupts("yes", 0.3, answering=True, go_on=9.0)
    assert interrupts("turn it off", 0.8, go_on=9.0)
    assert not interrupts("", 0.3, go_on=-9.0)
    assert interrupts("", 0.95, go_on=9.0)


@pytest.mark.parametrize("text", ["bye", "Bye bye!", "okay thanks, bye", "good night", "yes"])
def test_words_that_say_goodbye(text: str) -> None:
    assert is_parting(text)


@pytest.mark.parametrize("text", ["", "wait", "bye the way", "thanks, and one more thing"])
def test_words_that_do_not(text: str) -> None:
    assert not is_parting(text)
