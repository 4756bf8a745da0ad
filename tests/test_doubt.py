from __future__ import annotations

from voice.doubt import Doubt
from voice.turns import HoldSpeaking, ReleaseSpeaking


def test_sound_is_held_and_released_once() -> None:
    doubt = Doubt(("resp1", "resp2"), answering=False, start_sample=0)
    assert doubt.release() == []
    assert doubt.hold() == [HoldSpeaking("resp1"), HoldSpeaking("resp2")]
    assert doubt.hold() == []
    assert doubt.release() == [ReleaseSpeaking("resp1"), ReleaseSpeaking("resp2")]
    assert doubt.release() == []


def test_the_length_of_speech_counts_from_its_start() -> None:
    doubt = Doubt(("resp1",), answering=False, start_sample=32_000)
    assert not doubt.proven("", 32_000 + 8000)
    assert doubt.proven("", 32_000 + 16_000)
    assert doubt.proven("stop", 32_000 + 1600)
    assert not doubt.proven("right", 32_000 + 1600)


def test_yes_is_an_answer_to_a_question() -> None:
    assert Doubt(("resp1",), answering=True, start_sample=0).proven("yes", 3200)
