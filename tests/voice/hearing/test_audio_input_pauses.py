from __future__ import annotations

import threading

from tests.support.hearing import hearing, loud, silent
from voice.types import Pause, SpeechStarted, Transcript, TurnEnded


async def test_words_from_before_a_pause_are_told_with_how_they_sounded() -> None:
    """A recogniser that is behind must not have them judged as if nobody could tell."""
    async with hearing() as rig:
        busy = threading.Event()
        rig.threads.submit(busy.wait, 20)
        rig.hear(silent(1.0), loud(0.6), silent(0.3))
        while Pause not in rig.kinds():
            rig.changed.clear()
            await rig.changed.wait()
        busy.set()
        await rig.settle()
        told = [event for event in rig.heard if isinstance(event, Transcript)]
        assert [(event.text, event.go_on is None) for event in told] == [("word", False)]


async def test_words_from_before_a_pause_do_not_end_it_before_its_own_decode_has_come() -> None:
    """They are a guess: only the decode of the whole says how far they can be trusted."""
    async with hearing() as rig:
        rig.hear(loud(1.2))
        await rig.settle()
        rig.recognizer.let_finish.clear()
        rig.hear(silent(0.6))
        assert rig.kinds() == [SpeechStarted, Pause]
        rig.recognizer.let_finish.set()
        await rig.settle()
        rig.hear(silent(0.02))
        assert rig.kinds() == [SpeechStarted, Pause, TurnEnded]
