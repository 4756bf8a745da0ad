from __future__ import annotations

from voice.dialogue.commands import Emit, HoldSpeaking
from voice.dialogue.pending_interruption import PendingInterruption
from voice.dialogue.speculation import Wording
from voice.dialogue.user_turn import UserTurn
from voice.events import InterimTranscript
from voice.types import Pause, SpeechResumed, TurnEnded


def test_its_length_is_known_once_it_is_over() -> None:
    turn = UserTurn("item1", 16_000, Wording(2))
    assert turn.seconds == 0
    turn.ended = TurnEnded(1, 40_000, 48_000)
    assert turn.seconds == 1.5


def test_a_turn_that_the_client_ends_at_once_has_no_length() -> None:
    turn = UserTurn("item1", 16_000, Wording(2), ended=TurnEnded(1, 8_000, 8_000))
    assert turn.seconds == 0


def test_an_interim_transcript_is_told_once() -> None:
    turn = UserTurn("item1", 0, Wording(2))
    assert turn.shown(1, "set a") == [Emit(InterimTranscript(1, "item1", "set a"))]
    assert turn.shown(1, "set a") == []
    assert turn.shown(1, "set a timer") == [Emit(InterimTranscript(1, "item1", "set a timer"))]


def test_who_goes_on_behind_a_pause_has_the_sound_held_again() -> None:
    turn = UserTurn("item1", 0, Wording(2), doubt=PendingInterruption(("resp1",), False, 0))
    assert turn.pause(Pause(1, 8_000)) == []
    assert (turn.paused, turn.end_sample) == (True, 8_000)
    assert turn.pause(SpeechResumed(1, 12_000)) == [HoldSpeaking("resp1")]
    assert (turn.paused, turn.end_sample) == (False, None)
