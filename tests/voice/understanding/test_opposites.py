from __future__ import annotations

from typing import Any

import pytest

from tests.support.script import Script
from voice.dialogue.commands import RunTool
from voice.events import ReplyToolCall
from voice.types import ToolCall, ToolSpec
from voice.understanding.opposites import KEPT, LEFT_ALONE, UNSURE, Opposed, opposed, setters


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall("c1", tool, arguments)


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("turn off the seven o'clock alarm", call("set_alarm", when="seven o'clock")),
        ("Delete the six o'clock alarm.", call("set_alarm", when="six o'clock")),
        ("cancel the reminder", call("set_reminder", text="the reminder")),
        ("take milk off the list", call("add_to_list", item="milk")),
        ("I don't need the alarm any more", call("set_alarm", when="any more")),
        ("stop reminding me to drink water", call("set_reminder", text="drink water")),
        ("set an alarm for seven", call("cancel_alarm", when="seven")),
        ("add eggs", call("remove_from_list", item="eggs")),
        ("how much water do roses need", call("set_device", device="water", state="need")),
        ("close the tab and delete the file", call("createFile", path="file")),
        ("does the chai have nuts in it?", call("order_drink", drink="chai")),
        ("is the front door locked?", call("lock_device", device="front door")),
        ("did you say five or nine", call("change_timer", duration="nine")),
        ("right, just the tea then", call("remove_drink", drink="tea")),
        ("no, leave the tea", call("remove_drink", drink="tea")),
        ("keep the alarm", call("cancel_alarm")),
    ],
)
def test_a_call_that_does_the_opposite(message: str, made: ToolCall) -> None:
    assert opposed(message, [made]).calls == (made,)


def test_what_is_kept_is_not_the_thing_that_another_takes_the_place_of() -> None:
    made = [call("remove_drink", drink="cold brew"), call("order_drink", drink="iced coffee")]
    assert not opposed("so iced coffee instead, keep the splash of cream", made).calls


def test_what_is_put_in_another_place_is_not_to_go() -> None:
    made = call("remove_drink", drink="mocha")
    whole = "swap the milks over: oat in the latte, soy in the mocha"
    assert opposed("soy in the mocha", [made], whole=whole).calls == (made,)
    assert not opposed("take the mocha off", [made], whole=f"{whole}, and take the mocha off").calls


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("remind me to cancel netflix", call("set_reminder", text="cancel netflix")),
        ("cancel netflix tomorrow remind me", call("set_reminder", text="cancel netflix")),
        ("turn off the light", call("set_device", device="light", state="off")),
        ("what was I going to say... ah yes, milk", call("add_to_list", item="milk")),
        ("Miss? Is there a way of making the light stay on?",
         call("set_device", device="light", state="on")),
        ("did I say four? Thursday at two", call("change_reminder", when="Thursday at two")),
        ("don't let me forget to lock up", call("set_reminder", text="lock up")),
        ("make sure my alarm is off", call("cancel_alarm")),
        ("the alarm I set isn't needed", call("cancel_alarm")),
        ("cancel the alarm and set one for eight", call("set_alarm", when="eight")),
        ("how about a timer for ten minutes", call("set_timer", duration="ten minutes")),
        ("how many eggs are on the list", call("read_list")),
        ("delete it", call("move_item", item="it", to="it")),
        ("could I have a chai?", call("order_drink", drink="chai")),
        ("what about a chai?", call("order_drink", drink="chai")),
        ("is there any chance of a chai", call("order_drink", drink="chai")),
        ("start the list over", call("clear_list")),
        ("what is my balance", call("fetch_balance")),
        ("seven", call("set_alarm", when="seven")),
        ("don't wake me any more", call("cancel_alarm")),
        ("why don't you cancel the alarm", call("cancel_alarm")),
        ("don't set an alarm, delete the one for six", call("cancel_alarm", when="six")),
    ],
)  # fmt: skip
def test_a_call_that_does_not(message: str, made: ToolCall) -> None:
    assert opposed(message, [made]).calls == ()


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("don't cancel the alarm", call("cancel_alarm")),
        ("Please do not clear my list.", call("clear_list")),
        ("never delete my reminders", call("cancel_reminder")),
        ("I told you not to remove it", call("remove_from_list", item="it")),
    ],
)
def test_what_is_not_to_be_ended_is_left_alone(message: str, made: ToolCall) -> None:
    assert opposed(message, [made]) == Opposed((made,), LEFT_ALONE)


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("make the tea that then", [call("remove_drink", drink="tea")]),
        ("make the tea that then", [call("remove_drink", drink="tea"),
                                    call("order_drink", drink="tea")]),
        ("no the tea wasn't decaf", [call("remove_drink", drink="tea")]),
        ("that's a lot of sugar isn't it", [call("change_drink", drink="tea", sweetener="sugar")]),
    ],
)  # fmt: skip
def test_what_is_not_asked_to_go_stays(message: str, made: list[ToolCall]) -> None:
    assert opposed(message, made).calls == tuple(made)


def test_a_question_is_not_known_by_the_name_of_its_thing() -> None:
    made = call("order_drink", drink="the chai")
    told = "Sorry, I do not know that about the chai."
    assert opposed("has the chai got nuts in it", [made]) == Opposed((made,), told)


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("I don't want a latte, I want a cortado", call("order_drink", drink="latte")),
        ("a tea rather than a latte", call("order_drink", drink="latte")),
        ("no latte today", call("order_drink", drink="latte")),
        ("add eggs but not milk, there's some", call("add_to_list", item="milk")),
        ("eggs instead of the milk", call("add_to_list", item="milk")),
        ("we don't need milk", call("add_to_list", item="milk")),
    ],
)
def test_what_is_named_to_say_no_to_it_is_not_made(message: str, made: ToolCall) -> None:
    other = call(made.name, thing="something else")
    assert opposed(message, [made, other]) == Opposed((made,), KEPT)


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("there's no milk", call("add_to_list", item="milk")),
        ("why not a latte", call("order_drink", drink="latte")),
        ("not a small latte, a large latte", call("order_drink", drink="latte")),
        ("don't forget the milk", call("add_to_list", item="milk")),
        ("we do not have milk", call("add_to_list", item="milk")),
        ("a latte, not too hot", call("order_drink", drink="latte")),
        ("she says a latte with a drop of soy", call("order_drink", drink="latte")),
        ("we don't need milk any more", call("remove_from_list", item="milk")),
        ("I don't want the light on", call("set_device", device="light", state="off")),
    ],
)
def test_what_is_not_denied_is(message: str, made: ToolCall) -> None:
    assert not opposed(message, [made], frozenset({"set_device"})).calls


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("should I water cactuses daily", call("set_reminder", text="water cactuses")),
        ("should we keep the milk", call("add_to_list", item="milk")),
        ("does clearing the list clear the others", call("clear_list")),
        ("if I asked you to clear my list what would happen", call("clear_list")),
        ("if I cancel the alarm how long will it stay off", call("cancel_alarm")),
        ("what happens if I leave the oven on", call("set_device", device="oven", state="on")),
    ],
)
def test_a_question_of_what_would_be_does_nothing(message: str, made: ToolCall) -> None:
    assert opposed(message, [made]).calls == (made,)


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("can I add milk", call("add_to_list", item="milk")),
        ("could we pop eggs on the list", call("add_to_list", item="eggs")),
        ("can I please get a reminder to stretch", call("set_reminder", text="stretch")),
        ("can I nick a latte", call("order_drink", drink="latte")),
        ("if it rains add milk, what else", call("add_to_list", item="milk")),
    ],
)
def test_a_request_in_the_form_of_one_is_made(message: str, made: ToolCall) -> None:
    assert opposed(message, [made]).calls == ()


def test_what_sets_a_value_may_end_something_but_answers_no_question() -> None:
    needs = {"type": "object", "required": ["device", "state"]}
    found = setters([ToolSpec("set_device", "", needs), ToolSpec("set_alarm", "", {})])
    assert found == {"set_device"}
    killed = call("set_device", device="light", state="off")
    assert opposed("kill the hall light", [killed], found).calls == ()
    assert opposed("how much light does it need", [killed], found).calls == (killed,)


def test_a_message_that_asks_for_both_is_served_by_both() -> None:
    calls = [call("remove_drink", drink="latte"), call("order_drink", drink="mocha")]
    assert opposed("drop the latte and a mocha instead", calls).calls == ()


def test_the_opposite_is_not_done_and_the_agent_says_so() -> None:
    script = Script()
    script.user("cancel the ten minute timer")
    script.model("", call("set_timer", duration="ten minute"))
    assert not script.of(RunTool)
    assert not script.events(ReplyToolCall)
    assert script.spoken() == UNSURE


def test_what_was_asked_for_by_which_may_go_alone() -> None:
    made = call("remove_drink", drink="tea")
    assert opposed("just the tea", [made], choosing=True).calls == ()
    assert opposed("leave the tea out", [made]).calls == ()
    assert opposed("just the tea", [call("order_drink", drink="tea")]).calls == ()
