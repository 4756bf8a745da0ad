from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.script import DOOR, TIME, TOOLS, Script
from voice.dialogue.commands import Generate, Speak
from voice.dialogue.controls import NOTHING_ASKED, NOTHING_SAID, controlled
from voice.dialogue.conversation import NOT_CAUGHT
from voice.dialogue.history import History
from voice.dialogue.other_language import SPEAKS_ENGLISH
from voice.inputs import Input, OptionsChanged, SessionOptions
from voice.types import Message, Role, SpeechStarted, ToolCall, Transcript, TurnEnded


def dialogue(*said: tuple[Role, str]) -> History:
    history = History()
    for number, (role, text) in enumerate(said):
        history.add(f"i{number}", Message(role, text))
    return history


HAD = (
    (Role.USER, "what time is it"),
    (Role.AGENT, "It is 3:42 PM."),
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Say that again, please.", "It is 3:42 PM."),
        ("could you repeat that", "It is 3:42 PM."),
        ("Sorry, what did you say?", "It is 3:42 PM."),
        ("what?", "It is 3:42 PM."),
        ("sorry what time did you say again?", "It is 3:42 PM."),
        ("and what was the number again", "It is 3:42 PM."),
        ("What did I ask you?", "You said: what time is it"),
        ("can you speak a little slower please", "Okay, I speak slower now."),
        ("you're talking too slowly", "Okay, I speak faster now."),
        ("Speak up!", "Okay, I speak louder now."),
        ("turn the volume down", "Okay, I speak quieter now."),
        ("Not so loud, the baby is asleep.", "Okay, I speak quieter now."),
        ("not that loud, half of it", "Okay, I speak quieter now."),
        ("you'll have to speak louder, there is a lorry", "Okay, I speak louder now."),
        ("what was it I asked you to do?", "You said: what time is it"),
    ],
)
def test_what_is_said_to_the_conversation_itself(text: str, answer: str) -> None:
    found = controlled(dialogue(*HAD, (Role.USER, text)), SessionOptions())
    assert found is not None
    assert found[0] == answer


@pytest.mark.parametrize(
    "text",
    ["", "repeat the order", "say hello", "what time is it", "turn the radio up", "what's louder",
     "set a timer", "not that one", "what is the time", "the same again", "slower cooker recipe",
     "again tomorrow at nine", "say you're sorry"],
)  # fmt: skip
def test_other_messages_are_the_models(text: str) -> None:
    assert controlled(dialogue(*HAD, (Role.USER, text)), SessionOptions()) is None


def test_what_was_asked_is_what_was_asked_of_the_model() -> None:
    asked = dialogue(*HAD, (Role.USER, "say that again"), (Role.USER, "what did i ask"))
    assert controlled(asked, SessionOptions()) == ("You said: what time is it", SessionOptions())


def test_there_may_be_nothing_to_repeat() -> None:
    for text, answer in (("repeat that", NOTHING_SAID), ("what did I ask", NOTHING_ASKED)):
        assert controlled(dialogue((Role.USER, text)), SessionOptions()) == (
            answer, SessionOptions(),
        )  # fmt: skip


def test_speed_and_loudness_have_bounds() -> None:
    options = SessionOptions()
    heard = dialogue((Role.USER, "slower"))
    for _ in range(9):
        answer, options = controlled(heard, options) or ("", options)
    assert (answer, options.spoken_speed) == ("I cannot speak any slower.", 0.5)
    heard = dialogue((Role.USER, "louder"))
    for _ in range(9):
        answer, options = controlled(heard, options) or ("", options)
    assert answer == "I cannot speak any louder."
    assert options.loudness == 2.56
    normally = controlled(dialogue((Role.USER, "speak normally please")), options)
    assert normally == ("Okay, as before.", replace(options, pace=1.0, loudness=1.0))


@pytest.mark.parametrize(
    ("speed", "slower", "faster"), [(0.25, 0.25, 0.312), (2.0, 1.6, 2.5), (4.0, 3.2, 4.0)]
)
def test_slower_is_slower_whatever_speed_is_configured(
    speed: float, slower: float, faster: float
) -> None:
    for word, wanted in (("slower", slower), ("faster", faster)):
        answer, options = controlled(dialogue((Role.USER, word)), SessionOptions(speed=speed)) or (
            "", SessionOptions(),
        )  # fmt: skip
        assert options.spoken_speed == pytest.approx(wanted, abs=0.01)
        can = "Okay, I speak {} now." if wanted != speed else "I cannot speak any {}."
        assert answer == can.format(word)


def test_a_change_of_speed_is_not_what_is_repeated() -> None:
    said = (*HAD, (Role.USER, "slower please"), (Role.AGENT, "Okay, I speak slower now."))
    found = controlled(dialogue(*said, (Role.USER, "say that again")), SessionOptions())
    assert found == ("It is 3:42 PM.", SessionOptions())


@pytest.mark.parametrize(("call", "answer"), [(DOOR, ""), (TIME, "Okay, I speak louder now.")])
def test_what_is_turned_up_may_be_a_thing(call: ToolCall, answer: str) -> None:
    had = dialogue((Role.USER, "the heating please"))
    had.add("call", Message(Role.AGENT, tool_calls=(call,)))
    had.add("reply", Message(Role.AGENT, "There you are."))
    had.add("last", Message(Role.USER, "turn it up"))
    found = controlled(had, SessionOptions(), tools=TOOLS)
    assert (found[0] if found else "") == answer
    had.say("last", "turn the volume up")
    assert controlled(had, SessionOptions(), tools=TOOLS)


@pytest.mark.parametrize("heard", ["", "You have two"])
def test_a_reply_that_was_cut_is_repeated_in_full(heard: str) -> None:
    script = Script(heard=heard)
    script.user("what timers do I have")
    script.model("You have two timers: pasta and eggs.")
    script.sent()
    script.commands.clear()
    script.user("Sorry, what did you say?", turn_id=2, start=100_000)
    assert script.spoken() == "You have two timers: pasta and eggs."


def test_replies_from_then_on_are_spoken_that_way_without_the_model() -> None:
    script = Script()
    script.user("slower please")
    assert not script.of(Generate)
    assert script.last(Speak).speed == pytest.approx(0.8)
    assert script.spoken() == "Okay, I speak slower now."
    # A client that changes other options sends its own speed with them.
    script.feed(OptionsChanged(replace(script.conversation.options, speed=1.0)))
    script.user("say that again", turn_id=2, start=100_000)
    assert script.last(Speak).speed == pytest.approx(0.8)


def foreign(text: str, sure: float = 0.9, language: str = "de", turn_id: int = 1) -> list[Input]:
    return [
        SpeechStarted(turn_id, 0),
        TurnEnded(turn_id, 16_000, 20_000),
        Transcript(turn_id, text, True, 0.9, 16_000, language=language, language_confidence=sure),
    ]


def test_who_speaks_another_language_is_told_once() -> None:
    script = Script()
    script.feed(*foreign("Wie spät ist es?"))
    assert script.spoken() == SPEAKS_ENGLISH
    assert not script.of(Generate)
    script.sent()
    script.played()
    script.feed(*foreign("Ich verstehe kein Wort.", turn_id=2))
    assert script.spoken() == SPEAKS_ENGLISH + NOT_CAUGHT
    assert not script.of(Generate)


def test_what_is_typed_behind_another_language_is_for_the_model() -> None:
    script = Script()
    script.feed(*foreign("Wie spät ist es?"))
    script.sent()
    script.played()
    script.conversation.dialogue.add("typed", Message(Role.USER, "what time is it"))
    script.request()
    assert script.of(Generate)
    assert script.spoken() == SPEAKS_ENGLISH


@pytest.mark.parametrize(
    "turn",
    [
        foreign("Wie spät ist es?", sure=0.4),
        foreign("Jawohl!"),
        foreign("Na ja."),
        foreign("what time is it now", language="en"),
    ],
)
def test_a_noise_or_a_doubt_is_no_other_language(turn: list[Input]) -> None:
    script = Script()
    script.feed(*turn)
    assert script.of(Generate)


def test_a_language_without_spaces_is_one_too() -> None:
    script = Script()
    script.feed(*foreign("今日の天気はどうですか", language="ja"))
    assert script.spoken() == SPEAKS_ENGLISH
