from __future__ import annotations

import pytest

from tests.support.script import Script
from tests.support.virtual_parts import Model, calling, parts
from tests.support.virtual_time import virtual
from voice.dialogue.commands import RunTool
from voice.dialogue.controls import GO_AHEAD, STILL_THERE
from voice.dialogue.conversation import GOODBYE
from voice.events import ReplyText, SessionEnded, UserIdle
from voice.inputs import IdleElapsed, ToolAnswered, ToolFinished
from voice.types import (
    EndReason,
    Message,
    Role,
    ToolCall,
    ToolResult,
    Transcript,
    TurnEnded,
)


def test_a_silence_that_ends_nothing_is_an_entry_of_the_dialogue() -> None:
    script = Script(idle_ends=False)
    for silence in (IdleElapsed(16_000, 96_000), IdleElapsed(96_000, 200_000)):
        script.feed(silence)
        script.sent()
        script.played()
    first, second = script.events(UserIdle)
    assert (first.previous_item_id, first.start_sample, first.end_sample) == (None, 16_000, 96_000)
    assert (second.start_sample, second.end_sample) == (96_000, 200_000)
    users = [e.item_id for e in script.conversation.dialogue if e.message.role is Role.USER]
    assert users == [first.item_id, second.item_id]
    assert script.spoken() == STILL_THERE * 2


@virtual
async def test_after_fifteen_seconds_the_agent_asks_and_after_as_many_it_says_goodbye() -> None:
    async with calling(parts(Model(lambda _: "Fine."))) as line:
        ended = await line.next(SessionEnded)
        assert ended.reason == "idle"
        assert [text.delta for text in line.of(ReplyText)] == [STILL_THERE, GOODBYE]
        asked, parted = line.times(ReplyText)
        assert asked == pytest.approx(15, abs=0.5)
        # As long again behind the end of the question, of which the sound takes a second.
        assert parted - asked == pytest.approx(16, abs=1)


def silence(script: Script) -> str:
    """Nobody speaks for long; what the agent says then."""
    before = script.spoken()
    script.feed(IdleElapsed())
    if said := script.spoken().removeprefix(before):
        script.sent()
        script.played()
    return said


@pytest.mark.parametrize("typed", [True, False])
def test_who_types_or_presses_to_talk_is_there(typed: bool) -> None:
    script = Script(create_response=typed)
    assert silence(script) == STILL_THERE
    if typed:
        script.conversation.dialogue.add("typed", Message(Role.USER, "hello"))
        script.request()
        script.model("Hello.")
        script.sent()
        script.played()
    else:
        script.feed(TurnEnded(1, 16_000, 16_000, EndReason.MANUAL))
        script.feed(Transcript(1, "hello", final=True, confidence=0.9, end_sample=16_000))
    assert silence(script) == STILL_THERE
    assert silence(script) == GOODBYE


def asked(script: Script) -> None:
    """The agent asks whether to make a call, and gets no answer."""
    script.user("a latte maybe")
    script.model("", ToolCall("o", "order_drink", {"drink": "latte"}), confidence=0.01)
    script.sent()
    script.played()
    assert script.spoken().endswith("A latte, is that right?")


@pytest.mark.parametrize("here", ["yes", "Yes, I'm still here."])
def test_a_yes_to_are_you_still_there_agrees_to_nothing_else(here: str) -> None:
    script = Script()
    asked(script)
    assert silence(script) == STILL_THERE
    before = script.spoken()
    script.user(here, turn_id=2, start=200_000)
    assert script.spoken().removeprefix(before) == "A latte, is that right?"
    assert not script.of(RunTool)
    script.sent()
    script.played()
    script.user("yes", turn_id=3, start=400_000)
    assert script.last(RunTool).call.name == "order_drink"


def test_who_is_there_and_was_asked_nothing_may_speak() -> None:
    script = Script()
    assert silence(script) == STILL_THERE
    script.user("yes", turn_id=2, start=200_000)
    assert script.spoken() == STILL_THERE + GO_AHEAD


def test_an_answer_that_was_not_understood_can_be_given_again() -> None:
    script = Script()
    asked(script)
    script.user("", turn_id=2, start=200_000)
    script.sent()
    script.played()
    script.user("yes", turn_id=3, start=400_000)
    assert script.last(RunTool).call.name == "order_drink"


def test_who_waits_for_what_takes_longer_is_not_asked_and_not_left() -> None:
    script = Script()
    script.user("set a timer")
    call = ToolCall("c1", "set_timer", {})
    script.model("", call)
    reply_id = script.last(RunTool).reply_id
    late = ToolResult("c1", "set_timer", "It takes longer.", unfinished=True)
    script.feed(ToolAnswered(reply_id, late))
    script.model("It takes longer.")
    script.sent()
    script.played()
    assert [silence(script), silence(script)] == ["", ""]
    script.feed(ToolFinished(ToolResult("c1", "set_timer", "The timer is set.")))
    script.sent()
    script.played()
    assert script.spoken().endswith("The timer is set.")
    assert silence(script) == STILL_THERE
