from __future__ import annotations

from dataclasses import replace

import pytest

from voice.dialogue.interruption import Interruption, reopens
from voice.dialogue.reply import Reply
from voice.inputs import SessionOptions
from voice.types import SpeechStarted, Transcript, TurnEnded

START = 32_000


def reply(text: str = "A long story.", number: int = 1) -> Reply:
    return Reply(f"resp{number}", "item1", 1, SessionOptions(), text=text)


def begun(*sounding: Reply, holds: bool = True, goes_on: bool = False) -> Interruption:
    return Interruption.begin(sounding or (reply(),), holds, goes_on)


def heard(text: str, guess: str = "") -> Transcript:
    return Transcript(1, text, True, 0.9 if text else 0.0, 0, guess)


def test_a_guess_will_do_to_stop_but_not_where_it_holds_a_word_that_agrees() -> None:
    assert begun().is_meant(heard("", guess="two stop"))
    assert not begun().is_meant(heard("", guess="not right"))


@pytest.mark.parametrize(("after_ms", "same"), [(0, True), (700, True), (701, False)])
def test_who_speaks_again_within_700_ms_had_not_ended_the_turn(after_ms: int, same: bool) -> None:
    ended = TurnEnded(1, 16_000, 20_000)
    again = SpeechStarted(2, 20_000 + after_ms * 16)
    assert reopens(again, ended, {1}) == same
    assert not reopens(again, ended, ())
    assert not reopens(again, replace(ended, turn_id=7), {1})
    assert not reopens(again, None, {1})
