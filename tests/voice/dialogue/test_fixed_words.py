from __future__ import annotations

import pytest

from tests.support.script import Script
from voice.config import load_agent
from voice.config.moments import Moment, Moments
from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Draft, Generate, HangUp, RunTool, Speak
from voice.inputs import EndRequested
from voice.types import Message, Role, SpeechStarted, ToolCall

CANNOT_CALL = "I cannot call anybody."
MOMENTS = Moments({"fire": Moment(say=CANNOT_CALL, patterns=("is on fire", "my house is"))})
TIMER = ToolCall("c1", "set_timer", {})


def typed(script: Script, words: str, number: int = 1) -> None:
    script.conversation.dialogue.add(f"typed{number}", Message(Role.USER, words))
    script.request()


def test_a_spoken_message_is_answered_without_the_model() -> None:
    script = Script(moments=MOMENTS)
    script.user("the kitchen is on fire")
    assert script.spoken() == CANNOT_CALL
    assert not script.of(Generate)
    script.sent()
    script.played()
    script.user("thank you", turn_id=2)
    assert script.of(Generate)


@pytest.mark.parametrize("speak", [True, False])
def test_a_typed_message_is_as_well(speak: bool) -> None:
    script = Script(moments=MOMENTS, speak=speak)
    typed(script, "The kitchen's on fire!")
    assert script.history()[-1] == ("agent", CANNOT_CALL)
    assert not script.of(Generate)


def test_so_is_a_message_in_a_context_that_the_client_gives() -> None:
    script = Script(moments=MOMENTS)
    script.request(context=[Message(Role.USER, "the kitchen is on fire")])
    assert script.spoken() == CANNOT_CALL


def test_what_is_outside_the_conversation_is_the_clients_own() -> None:
    script = Script(moments=MOMENTS)
    script.request(context=[Message(Role.USER, "the kitchen is on fire")], out_of_band=True)
    assert script.of(Generate)


@pytest.mark.parametrize(
    ("asked", "said", "fixed"),
    [
        ("Which room are you in?", "112", False),
        ("Noted. What is the number?", "one one two", False),
        ("How many guests?", "112, please", False),
        ("What is the number of your card? It has eight digits.", "9 9 9", False),
        ("So far I have 4 0 0 0. Please say the other four digits.", "nine nine nine", False),
        ("Which number shall we call? Please say your number, or say: never mind.", "999", False),
        ("What is the number of your card? It has eight digits.", "call 999", True),
        ("Which room are you in?", "call 112", True),
        ("What can I do for you?", "112", True),
        ("Which room? I did not get that.", "911", True),
        ("", "112", True),
    ],
)
def test_a_number_that_the_agent_asked_for_is_no_call_for_help(
    asked: str, said: str, fixed: bool
) -> None:
    script = Script(moments=load_agent("assistant").fixed_words)
    script.conversation.dialogue.add("asked", Message(Role.AGENT, asked))
    typed(script, said)
    assert script.spoken().startswith("I am a computer program.") is fixed
    assert bool(script.of(Generate)) is not fixed


@pytest.mark.parametrize(
    ("said", "goes_on", "fixed"),
    [("four zero zero zero", "nine nine nine", False), ("911", "911", True), ("112", "911", True)],
)
def test_the_end_of_a_number_told_in_pieces_is_no_call_for_help(
    said: str, goes_on: str, fixed: bool
) -> None:
    script = Script(moments=load_agent("assistant").fixed_words)
    script.conversation.dialogue.add("before", Message(Role.USER, said))
    typed(script, goes_on)
    assert bool(script.of(Generate)) is not fixed


@pytest.mark.parametrize(
    ("instructions", "told"),
    [
        ("Be brief. You are Ada, a voice assistant.", "I am Ada."),
        ("You are the desk of a hotel that\nhas no bar.", "I am the desk of a hotel."),
        ("You take orders.", "I am a computer program."),
    ],
)
def test_the_agent_says_who_it_is_by_its_instructions(instructions: str, told: str) -> None:
    moments = load_agent("assistant").fixed_words
    script = Script(moments=moments, instructions=instructions)
    script.user("what's your name?")
    assert script.spoken() == told
    large = Script(moments=moments, instructions=instructions, limits=Limits(rephrases=True))
    large.user("what's your name?")
    assert large.of(Generate)


def test_words_in_two_goes_count_together_until_the_agent_was_heard() -> None:
    script = Script(moments=MOMENTS)
    script.user("my house")
    script.feed(SpeechStarted(2, 64_000))
    script.user("is burning", turn_id=2)
    assert script.spoken() == CANNOT_CALL
    script.sent()
    script.played()
    script.user("is it", turn_id=3)
    assert script.of(Generate)


def test_the_agent_does_nothing_else_and_ends_nothing() -> None:
    script = Script(moments=MOMENTS)
    script.user("goodbye my house is on fire")
    script.sent()
    script.played()
    assert not script.of(RunTool)
    assert not script.of(HangUp)


def test_a_transfer_or_an_end_that_was_under_way_is_taken_back() -> None:
    script = Script(moments=MOMENTS)
    script.user("that's all bye")
    script.model("", ToolCall("c2", "end_conversation", {}))
    script.feed(EndRequested("ended by the agent"))
    script.user("wait the kitchen is on fire", turn_id=2)
    script.sent()
    script.played()
    assert script.spoken() == CANNOT_CALL
    assert not script.of(HangUp)


def test_a_draft_with_such_words_is_the_same() -> None:
    script = Script(moments=MOMENTS)
    _, commands = script.conversation.speculate(Draft(1, "the kitchen is on fire"))
    assert [c.segment.text for c in commands if isinstance(c, Speak)] == [CANNOT_CALL]
    assert not [c for c in commands if isinstance(c, Generate)]


def test_a_reply_that_a_cough_has_stopped_is_given_again() -> None:
    script = Script(moments=MOMENTS)
    script.user("the kitchen is on fire")
    script.user("", turn_id=2, seconds=0.3)
    assert script.spoken() == CANNOT_CALL * 2
    assert not script.of(Generate)
