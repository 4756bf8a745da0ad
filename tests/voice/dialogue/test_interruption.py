from __future__ import annotations

import itertools

import pytest

from voice.dialogue.commands import Emit, HangUp, HoldSpeaking, ReleaseSpeaking, StopSpeaking
from voice.dialogue.history import History
from voice.dialogue.interruption import Interruptions
from voice.dialogue.reply_loop import ReplyLoop
from voice.dialogue.speculation import Wording
from voice.dialogue.user_turn import UserTurn
from voice.inputs import AudioPlayed, SessionOptions, SpeakingStopped
from voice.types import Transcript

LATER = 160_000


def agent(says: str = "") -> ReplyLoop:
    """The agent's side; its first reply, if it says anything, sounds."""
    numbers = itertools.count(1)
    made = ReplyLoop(History(), {}, lambda prefix: f"{prefix}{next(numbers)}", 3, 24)
    if says:
        made.say(says, 1, SessionOptions(instructions=""))
        made.audio_sent("resp1")
    return made


def turn() -> UserTurn:
    return UserTurn("item9", LATER, Wording(0))


def heard(text: str) -> Transcript:
    return Transcript(2, text, final=False, confidence=0.9, end_sample=LATER)


def test_nothing_is_held_where_nothing_sounds() -> None:
    one = turn()
    (told,) = Interruptions(agent()).begun(2, one, holds=True, reopens=False)
    assert told == one.started(2)
    assert (one.doubt, one.cut) == (None, None)


def test_sound_is_held_until_speech_has_lasted_and_then_stopped() -> None:
    interrupting, one = Interruptions(agent("A long story.")), turn()
    assert interrupting.begun(2, one, holds=True, reopens=False) == [HoldSpeaking("resp1")]
    assert interrupting.overheard(2, one, "right") == []
    assert interrupting.lasted(2, one) == []
    stopped = interrupting.overheard(2, one, "right but tell me")
    assert stopped == [one.started(2), StopSpeaking("resp1")]
    assert one.doubt is None
    assert interrupting.lasted(2, one) == []


@pytest.mark.parametrize(
    ("text", "ms", "then"),
    [
        ("mm-hmm", 300, [ReleaseSpeaking("resp1")]),
        ("stop", 300, [turn().started(2), StopSpeaking("resp1")]),
        # Perhaps the first half of a word: the sound stays held.
        ("why", 200, []),
    ],
)
def test_a_pause_decides_by_what_was_heard_up_to_it(text: str, ms: int, then: list[Emit]) -> None:
    interrupting, one = Interruptions(agent("A long story.")), turn()
    interrupting.begun(2, one, holds=True, reopens=False)
    one.end_sample = LATER + ms * 16
    assert interrupting.weigh(2, one, heard(text)) == then
    assert (one.doubt is None) == (text == "stop")


@pytest.mark.parametrize("reopens", [False, True])
def test_where_sound_cannot_be_held_it_stops_at_once(reopens: bool) -> None:
    says = agent("A long story.")
    interrupting, one = Interruptions(says), turn()
    commands = interrupting.begun(2, one, holds=reopens, reopens=reopens)
    assert commands == [one.started(2), StopSpeaking("resp1")]
    # Whether it was meant to is known in the end.
    assert one.cut is not None and not one.cut.proven(heard("mm-hmm"), LATER + 4800)
    says.speaking_stopped(SpeakingStopped("resp1", heard="A long"))
    assert says.go_on(2, SessionOptions(instructions=""))


def test_a_question_takes_yes_for_an_answer() -> None:
    interrupting, one = Interruptions(agent("Shall I go on?")), turn()
    interrupting.begun(2, one, holds=True, reopens=False)
    one.end_sample = LATER + 4800
    assert StopSpeaking("resp1") in interrupting.weigh(2, one, heard("yes"))


def test_what_waits_goes_on_once_all_has_stopped() -> None:
    says = agent("A long story.")
    interrupting = Interruptions(says)
    assert interrupting.stopped(lambda: [HangUp("first")]) == []
    assert interrupting.stopped(lambda: [HangUp("second")]) == []
    says.audio_played(AudioPlayed("resp1"))
    assert interrupting.stopped() == [HangUp("first"), HangUp("second")]
    assert interrupting.stopped() == []
