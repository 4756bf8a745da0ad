from __future__ import annotations

from dataclasses import replace

import pytest

from voice.dialogue.commands import HoldSpeaking, ReleaseSpeaking
from voice.dialogue.interruption import Interruption, State, reopens
from voice.dialogue.reply import Reply
from voice.inputs import SessionOptions
from voice.types import SpeechStarted, Transcript, TurnEnded

START = 32_000


def reply(text: str = "A long story.", number: int = 1) -> Reply:
    return Reply(f"resp{number}", "item1", 1, SessionOptions(), text=text)


def begun(*sounding: Reply, holds: bool = True, goes_on: bool = False) -> Interruption:
    return Interruption.begin(START, sounding or (reply(),), holds, goes_on)


def heard(text: str, guess: str = "") -> Transcript:
    return Transcript(1, text, True, 0.9 if text else 0.0, 0, guess)


@pytest.mark.parametrize(
    ("holds", "goes_on", "state"),
    [
        (True, False, State.RELEASED),
        (False, False, State.STOPPED),
        # Who only goes on with the turn before stops what was said too soon.
        (True, True, State.STOPPED),
    ],
)
def test_where_sound_cannot_be_held_it_stops_at_once(
    holds: bool, goes_on: bool, state: State
) -> None:
    made = begun(holds=holds, goes_on=goes_on)
    assert (made.state, made.pending) == (state, state is State.RELEASED)
    assert made.hold() == ([HoldSpeaking("resp1")] if made.pending else [])


@pytest.mark.parametrize(
    ("text", "ms", "over", "state"),
    [
        ("mm-hmm", 300, False, State.RELEASED),
        ("stop", 300, False, State.PROVEN),
        ("", 500, False, State.RELEASED),
        ("", 1000, False, State.PROVEN),
        # Perhaps the first half of a word: the sound stays held.
        ("why", 249, False, State.HELD),
        ("why", 250, False, State.PROVEN),
        ("why", 200, True, State.PROVEN),
    ],
)
def test_a_pause_decides_by_what_was_heard_up_to_it(
    text: str, ms: int, over: bool, state: State
) -> None:
    pending = begun()
    pending.hold()
    out = pending.judge(heard(text), START + ms * 16, over)
    assert pending.state is state
    assert out == ([ReleaseSpeaking("resp1")] if state is State.RELEASED else [])


def test_speech_that_lasts_is_proven_unless_it_is_a_drawn_out_right() -> None:
    pending = begun()
    pending.hold()
    pending.overhear("right")
    pending.last()
    assert pending.pending
    pending.overhear("right but tell me")
    assert pending.state is State.PROVEN
    pending.last()
    assert pending.release() == []


def test_who_goes_on_before_the_answer_sounds_says_something() -> None:
    unheard = Interruption.begin(START, (), True, reopens=True)
    assert unheard.is_meant(heard("yes"), START + 3200)
    assert not begun(goes_on=True).is_meant(heard("yes"), START + 3200)


def test_a_guess_will_do_to_stop_but_not_where_it_holds_a_word_that_agrees() -> None:
    assert begun().is_meant(heard("", guess="two stop"), START + 8000)
    assert not begun().is_meant(heard("", guess="not right"), START + 8000)
    assert begun().is_meant(heard("", guess="not right"), START + 16_000)


def test_how_it_sounded_counts() -> None:
    assert begun().is_meant(heard("wait"), START + 6400)
    assert not begun().is_meant(replace(heard("wait"), sound_odds=5.0), START + 6400)


def test_the_words_show_that_the_agent_was_stopped_for_nothing() -> None:
    stopped, held = begun(holds=False), begun()
    assert stopped.was_none(heard("mm-hmm"), START + 4800)
    assert not stopped.was_none(heard("stop"), START + 4800)
    assert not held.was_none(heard("mm-hmm"), START + 4800)


@pytest.mark.parametrize(("after_ms", "same"), [(0, True), (700, True), (701, False)])
def test_who_speaks_again_within_700_ms_had_not_ended_the_turn(after_ms: int, same: bool) -> None:
    ended = TurnEnded(1, 16_000, 20_000)
    again = SpeechStarted(2, 20_000 + after_ms * 16)
    assert reopens(again, ended, [reply()]) == same
    assert not reopens(again, ended, [])
    assert not reopens(again, replace(ended, turn_id=7), [reply()])
    assert not reopens(again, None, [reply()])
