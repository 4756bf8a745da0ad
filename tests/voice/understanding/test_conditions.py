"""What a request is made to depend on, and no call can, is told and asked about before anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.script import TOOLS, Script
from voice.config import ToolsConfig, TurnConfig
from voice.dialogue.commands import RunTool
from voice.tools import Toolbox
from voice.tools.scope import SessionScope
from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.conditions import days, unkept

TOOLBOX = Toolbox(ToolsConfig(database=":memory:"), TurnConfig())
SPECS = {spec.name: spec for spec in TOOLBOX.specs(TOOLBOX.names, SessionScope("s"))}
NOW = "Shall I do it now?"
DEPENDS = "Sorry, I can't make it depend on that. Shall I do it all the same?"
WHOLE = "Sorry, I can't leave anything out there. Shall I do it all the same?"


def call(tool: str, **arguments: str) -> ToolCall:
    return ToolCall("c", tool, arguments)


LIGHT = call("set_device", device="light", state="on")
LIGHTS = call("set_device", device="all the lights", state="off")
MILK = call("add_to_list", item="milk")
LATTE = call("order_drink", drink="latte")
TIMER = call("set_timer", duration="ten minute")
ALARM = call("set_alarm", when="seven")


@pytest.mark.parametrize(
    ("request_text", "made", "time"),
    [
        ("turn on the light in ten minutes", LIGHT, "in ten minutes"),
        ("in a quarter of an hour turn on the light", LIGHT, "in a quarter of an hour"),
        ("Turn on the light tomorrow at six, please.", LIGHT, "tomorrow at six"),
        ("i want the light on at ten", LIGHT, "at ten"),
        ("at ten i want the light on", LIGHT, "at ten"),
        ("turn the light on this evening", LIGHT, "this evening"),
        ("turn the light on at sunset", LIGHT, "at sunset"),
        ("put the light on every night", LIGHT, "every night"),
        ("turn on the light until ten", LIGHT, "until ten"),
        ("turn on the light for half an hour", LIGHT, "for half an hour"),
        ("turn on the light later", LIGHT, "later"),
        ("turn on the light in a bit", LIGHT, "in a bit"),
        ("turn the light on next monday", LIGHT, "next monday"),
        ("start a ten minute timer at six", TIMER, "at six"),
        ("a latte for tomorrow at nine", LATTE, "for tomorrow at nine"),
        ("it's dark, so turn on the light at six", LIGHT, "at six"),
    ],
)
def test_what_acts_at_once_cannot_be_done_at_a_time(
    request_text: str, made: ToolCall, time: str
) -> None:
    assert unkept(request_text, [made], SPECS) == f"Sorry, I can't do that {time}. {NOW}"


@pytest.mark.parametrize(
    ("request_text", "made"),
    [
        ("turn on the light when I get home", LIGHT),
        ("when it gets dark turn on the light", LIGHT),
        ("turn on the light unless Tom is asleep", LIGHT),
        ("turn on the light if it rains", LIGHT),
        ("if nobody is up by seven, turn on the light", LIGHT),
        ("turn on the light as soon as the film is over", LIGHT),
        ("turn the light on once everyone's in bed", LIGHT),
        ("turn the light on after I come in", LIGHT),
        ("leave the light on until she's back", LIGHT),
        ("add milk if we're out", MILK),
        ("put milk on the list unless it's too dear", MILK),
        ("start a ten minute timer when the water boils", TIMER),
        ("a latte unless there's a queue", LATTE),
        ("I'd have a latte if you did it with milk, otherwise a tea", LATTE),
        ("wake me at seven if it snows", ALARM),
    ],
)
def test_nor_on_a_condition(request_text: str, made: ToolCall) -> None:
    assert unkept(request_text, [made], SPECS) == DEPENDS


@pytest.mark.parametrize(
    ("request_text", "made"),
    [
        ("turn off all the lights except the kitchen", LIGHTS),
        ("turn off all the lights but the hall one", LIGHTS),
        ("apart from the hall turn off all the lights", LIGHTS),
        ("clear the list except for the eggs", call("clear_list")),
        ("cancel all alarms apart from the first one", call("cancel_alarm", when="all")),
    ],
)
def test_nor_for_all_but_one(request_text: str, made: ToolCall) -> None:
    assert unkept(request_text, [made], SPECS) == WHOLE


@pytest.mark.parametrize(
    ("request_text", "made"),
    [
        ("turn on the light now", LIGHT),
        ("turn on the light if you can", LIGHT),
        ("turn on the light when you get a chance", LIGHT),
        ("if it's not too much trouble turn on the light", LIGHT),
        ("turn on the light if it isn't too much trouble", LIGHT),
        ("turn on the light if it isn't on already", LIGHT),
        ("turn on the light before I forget", LIGHT),
        ("turn the light on before I come in", LIGHT),
        ("a ten minute timer before we have to leave", TIMER),
        ("Reg arrives on Sunday so I want milk", MILK),
        ("turn on the light on the second floor", LIGHT),
        ("turn on the light in the kitchen", LIGHT),
        ("i'm leaving in ten minutes turn on the light", LIGHT),
        ("it was dark when we came, turn on the light", LIGHT),
        ("turn on the light, it's six already", LIGHT),
        ("see if the hall is dark and turn on the light", LIGHT),
        ("add milk for Sunday", MILK),
        ("add milk, we're off tomorrow", MILK),
        ("add milk in case they come", MILK),
        ("a latte, I'll be there in twenty minutes", LATTE),
        ("a latte for six people", LATTE),
        ("a latte if you have oat milk", LATTE),
        # An order is read back before it is placed.
        ("a latte if it isn't terribly inconvenient", LATTE),
        ("triple, if the machine allows it", call("change_drink", drink="latte", shots="triple")),
        ("a latte before I miss my train", LATTE),
        ("a latte, same as every day", LATTE),
        ("a latte with chocolate on one", LATTE),
        ("a second latte, in every way but without the foam", LATTE),
        ("a latte for Nils, he's had a day", LATTE),
        ("nothing except a latte", LATTE),
        ("except the large latte", LATTE),
        ("not everything but a latte", LATTE),
        ("start a ten minute timer in case I doze off", TIMER),
        ("tell me when the pasta's done, a ten minute timer", TIMER),
        ("set an alarm for seven and tomorrow as well", ALARM),
        ("set an alarm for seven because I start at eight", ALARM),
        ("remind me to call if it rains", call("set_reminder", text="call if it rains")),
        ("feed the cat after lunch, remind me", call("set_reminder", text="feed the cat")),
        ("cancel my dentist reminder on friday", call("cancel_reminder", text="dentist")),
        ("move the alarm on friday to seven", call("change_alarm", to="seven")),
        ("how warm is it at six if it rains", call("get_weather")),
        ("bye, see you tomorrow", call("end_conversation")),
        ("turn it on in ten minutes", call("a_tool_of_the_client", thing="it")),
    ],
)
def test_what_only_looks_like_a_term_goes_through(request_text: str, made: ToolCall) -> None:
    assert unkept(request_text, [made], SPECS) == ""


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("Noon alarm on Sunday, I'm working nights", ["on sunday", "sunday"]),
        ("an alarm at seven every day", ["every day"]),
        ("same again for Saturday but at seven", ["saturday"]),
        ("an alarm for seven, on Sunday I was late", []),
        ("an alarm for seven in two days", []),
    ],
)
def test_days_that_no_call_has_are_found(request_text: str, found: list[str]) -> None:
    made = call("set_alarm", when="noon" if "Noon" in request_text else "seven")
    assert [*days(request_text, [made])] == found


def test_the_call_is_made_when_the_user_wants_it_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lattes = Reading(lambda said: said if said == "latte" else None, lambda said: "")
    shop = replace(TOOLS["order_drink"], readings={"drink": lattes})
    monkeypatch.setitem(TOOLS, "order_drink", shop)
    script = Script()
    script.user("a latte in ten minutes")
    script.model("", LATTE, confidence=0.99)
    assert script.spoken() == f"Sorry, I can't do that in ten minutes. {NOW}"
    assert not script.of(RunTool)
    script.sent()
    script.played()
    script.user("okay, do it", turn_id=2, seconds=9)
    assert [run.call for run in script.of(RunTool)] == [LATTE]


def test_long_requests_are_read_in_part() -> None:
    spec = ToolSpec("set_device", "", {"required": []})
    assert unkept("light " + "in " * 5000, [LIGHT], {"set_device": spec}) == ""
