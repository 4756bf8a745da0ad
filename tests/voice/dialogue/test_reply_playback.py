from __future__ import annotations

from dataclasses import replace

import pytest

from voice.dialogue.commands import Emit, Speak, StopSpeaking
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.dialogue.reply_playback import ReplyPlayback
from voice.events import ReplyText
from voice.inputs import AudioPlayed, SessionOptions
from voice.types import Message, Role

ALOUD = SessionOptions(instructions="", output_rate_hz=8000, speed=1.5)
SILENT = replace(ALOUD, speak=False)


def reply(number: int = 1, options: SessionOptions = ALOUD) -> Reply:
    return Reply(f"resp{number}", f"item{number}", number, options)


def heard(reply_id: str) -> str:
    return "It is"


def said(dialogue: History) -> list[str]:
    return [entry.message.content for entry in dialogue]


@pytest.mark.parametrize("options", [ALOUD, SILENT])
def test_pieces_are_told_kept_and_sounded_where_there_is_sound(options: SessionOptions) -> None:
    dialogue = History()
    one = reply(options=options)
    commands = ReplyPlayback(dialogue, heard).speak(one, [" It is noon.", " Lunch time."])
    told = [
        c.event.delta for c in commands if isinstance(c, Emit) and isinstance(c.event, ReplyText)
    ]
    assert told == ["It is noon.", " Lunch time."]
    assert said(dialogue) == [one.text] == ["It is noon. Lunch time."]
    sounded = [(c.rate_hz, c.speed) for c in commands if isinstance(c, Speak)]
    assert sounded == ([(8000, 1.5)] * 2 if options.speak else [])


def test_nothing_to_say_leaves_no_trace() -> None:
    dialogue = History()
    assert ReplyPlayback(dialogue, heard).speak(reply(), []) == []
    assert said(dialogue) == []


def test_of_an_aside_only_the_place_is_kept() -> None:
    dialogue = History()
    speaking, one = ReplyPlayback(dialogue, heard), reply()
    (aside,) = speaking.speak_aside(one, "One moment.")
    assert isinstance(aside, Speak) and aside.segment.spoken == "One moment."
    assert (one.text, said(dialogue)) == ("", [""])
    assert speaking.speak_aside(reply(options=SILENT), "One moment.") == []


def test_a_reply_sounds_until_it_was_played() -> None:
    speaking = ReplyPlayback(History(), heard)
    first, second, silent = reply(1), reply(2), reply(3, SILENT)
    for one in (first, second, silent):
        speaking.speak(one, ["Hello."])
        speaking.sounds_on(one)
    speaking.sounds_on(reply(4))
    assert speaking.playing == [first, second]
    assert [speaking.played(AudioPlayed("resp1")) for _ in range(2)] == [True, False]
    assert speaking.playing == [second]


def test_of_a_reply_whose_voice_failed_what_sounded_is_kept() -> None:
    dialogue = History()
    speaking, one, aside = ReplyPlayback(dialogue, heard), reply(1), reply(2)
    speaking.speak(one, ["It is noon.", " It rains."])
    speaking.speak_aside(aside, "One moment.")
    for failed, text in ((one, "It is noon."), (aside, "")):
        speaking.sounds_on(failed)
        assert speaking.played(AudioPlayed(failed.reply_id, text))
    assert said(dialogue) == ["It is noon.", ""]


def test_what_is_stopped_is_kept_as_far_as_it_was_heard() -> None:
    dialogue = History()
    speaking, sounding, made = ReplyPlayback(dialogue, heard), reply(1), reply(2)
    speaking.speak(sounding, ["It is noon."])
    speaking.sounds_on(sounding)
    speaking.speak(made, ["Lunch is ready."])
    assert speaking.stop_all() == [StopSpeaking("resp1")]
    assert speaking.stop(made) == [StopSpeaking("resp2")]
    assert speaking.stop(reply(3, SILENT)) == []
    assert speaking.playing == []
    assert said(dialogue) == ["It is", "It is"]
    assert speaking.unheard(sounding) == " noon."
    # What the client has rewritten is said as a whole.
    dialogue.say("item1", "Something else")
    assert speaking.unheard(sounding) == "It is noon."


def test_of_what_is_withdrawn_nothing_is_kept() -> None:
    dialogue = History()
    dialogue.add("user", Message(Role.USER, "hello"))
    speaking, one = ReplyPlayback(dialogue, heard), reply()
    speaking.speak(one, ["It is noon."])
    speaking.withdraw(one)
    speaking.stop(one)
    speaking.truncate("item1", "It is noon.")
    assert said(dialogue) == ["hello", ""]
