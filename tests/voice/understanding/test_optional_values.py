"""Optional values that a request says and its call has left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voice.config import ToolsConfig, TurnConfig
from voice.tools import Toolbox
from voice.tools.scope import SessionScope
from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.optional_values import (
    completed,
    counted,
    filled,
    measured,
    taken_out,
    without_strays,
)


def reading(*words: str, anywhere: bool = False) -> Reading:
    return Reading(
        lambda said: said if {*said.split()} <= {*words} else None,
        lambda _: "",
        anywhere=anywhere,
    )


READINGS = {
    "drink": reading("tea", "mocha"),
    "size": reading("medium", "large"),
    "milk": reading("no", "oat", "milk", "cream"),
    "extras": reading("whipped", "cream", "two"),
    "which": reading("saucer", anywhere=True),
}
SPEC = ToolSpec("order_drink", "Order.", {"required": ["drink"]}, readings=READINGS)


@pytest.mark.parametrize(
    ("request_text", "given", "added"),
    [
        ("a mocha, medium", {}, {"size": "medium"}),
        ("a mocha, large, with oat milk", {}, {"size": "large", "milk": "oat milk"}),
        ("a large mocha with oat milk", {"size": "large"}, {"milk": "oat milk"}),
        ("a mocha with cream", {}, {"milk": "cream"}),
        ("a mocha with whipped cream", {"milk": "cream"}, {"extras": "whipped"}),
        ("a mocha but not large", {}, {}),
        ("a mocha with no milk", {}, {}),
        ("two of a mocha on a saucer", {}, {}),
        ("a mocha, and please large", {}, {"size": "large"}),
        # Of something else.
        ("a mocha for Tom, the large baby", {}, {}),
        ("ordinary milk will do me. A mocha", {}, {}),
        ("a mocha but she hates cream", {}, {}),
        ("a mocha with oat rather than cream", {"milk": "oat"}, {}),
    ],
)
def test_what_a_reader_can_read_is_its_value(
    request_text: str, given: dict[str, str], added: dict[str, str]
) -> None:
    arguments = {"drink": "mocha", **given}
    call = filled(ToolCall("c", "order_drink", arguments), request_text, SPEC)
    assert call.arguments == {**arguments, **added}


_WORDS = {"evening", "next", "Saturday", "at", "two", "for"}
WHEN = Reading(
    lambda said: said if said.endswith(("two", "evening")) and {*said.split()} <= _WORDS else None,
    lambda _: "",
)
REMINDER = ToolSpec("set_reminder", "Note.", {"required": ["text"]}, readings={"when": WHEN})


@pytest.mark.parametrize(
    ("text", "kept", "when"),
    [
        ("Nuria's birthday, next Saturday at two.", "Nuria's birthday", "next Saturday at two"),
        ("at two, ring Nuria", "ring Nuria", "at two"),
        ("a table for two", "a table for two", None),
        ("read chapter two", "read chapter two", None),
        ("the parents evening", "the parents evening", None),
        ("at two", "at two", None),
    ],
)
def test_a_time_is_taken_out_of_the_text(text: str, kept: str, when: str | None) -> None:
    call = taken_out(ToolCall("c", "set_reminder", {"text": text}), REMINDER)
    assert call.arguments == {"text": kept} | ({"when": when} if when else {})
    # Whichever of several values it is.
    several = replace(REMINDER, readings={"colour": reading("red"), "when": WHEN})
    assert taken_out(ToolCall("c", "set_reminder", {"text": text}), several) == call
    timed = ToolCall("c", "set_reminder", {"text": text, "when": "at nine"})
    assert taken_out(timed, REMINDER) == timed


TOOLBOX = Toolbox(ToolsConfig(database=":memory:"), TurnConfig())
SPECS = {spec.name: spec for spec in TOOLBOX.specs(TOOLBOX.names, SessionScope("s"))}


@pytest.mark.parametrize(
    ("request_text", "when", "whole"),
    [
        ("Noon alarm on Sunday, please, I'm working nights.", "Noon", "Noon on sunday"),
        ("alarm at twenty to nine, but only on Fridays", "twenty to nine",
         "twenty to nine on fridays"),
        ("same again for Saturday but at nine", "nine", "nine saturday"),
        ("every day at eight wake me", "at eight", "at eight every day"),
        ("wake me at six, I was late on Monday", "six", "six"),
        ("wake me at six, Tom comes on Monday", "six", "six"),
        ("wake me tomorrow at six", "tomorrow at six", "tomorrow at six"),
    ],
)  # fmt: skip
def test_a_time_has_the_day_that_is_said_apart(request_text: str, when: str, whole: str) -> None:
    spec = SPECS["set_alarm"]
    call = completed(ToolCall("c", "set_alarm", {"when": when}), request_text, spec)
    assert call.arguments == {"when": whole}


@pytest.mark.parametrize(
    ("request_text", "state", "whole"),
    [
        ("set the fan to speed three", "three", "speed three"),
        ("fan on level 2 please", "2", "level 2"),
        ("turn the fan up by two degrees", "two", "by two degrees"),
        ("dim the fan two notches", "two", "two notches"),
        ("set the fan to thirty please", "thirty", "thirty"),
        ("set the fan to thirty percent", "thirty", "thirty"),
        ("set the fan brightness to 2.5", "2.5", "2.5"),
        ("put the fan at thirty tonight", "thirty", "thirty"),
        ("turn the fan on", "on", "on"),
        ("fan thirty and the light thirty", "thirty", "thirty"),
        ("still too bright, the fan wants thirty", "thirty", "thirty"),
        ("turn the fan up to 22, I'm shivering", "22", "22"),
        ("a bit brighter, twenty, for the fan", "twenty", "twenty"),
    ],
)
def test_a_number_goes_with_its_scale(request_text: str, state: str, whole: str) -> None:
    given = {"device": "fan", "state": state}
    call = measured(ToolCall("c", "set_device", given), request_text, SPECS["set_device"])
    assert call.arguments == {"device": "fan", "state": whole}


def test_a_conversion_has_its_number_alone() -> None:
    given = {"amount": "350", "from_unit": "Fahrenheit", "to_unit": "Celsius"}
    call = ToolCall("c", "convert_units", given)
    assert measured(call, "350 degrees Fahrenheit in Celsius", SPECS["convert_units"]) == call


@pytest.mark.parametrize(
    ("tool", "request_text", "given", "kept"),
    [
        ("set_device", "fan off in ten minutes", {"device": "fan", "room": "in ten minutes"},
         ["device"]),
        ("set_device", "fan off at midnight", {"device": "fan", "room": "midnight"}, ["device"]),
        ("set_device", "fan off in the attic", {"device": "fan", "room": "attic"}, ["device",
         "room"]),
        ("set_timer", "one minute at six", {"duration": "one minute", "name": "six"}, ["duration"]),
        ("cancel_alarm", "cancel the one at six", {"when": "six"}, ["when"]),
        ("add_to_list", "milk for the sunday list", {"item": "milk", "list": "sunday"}, ["item",
         "list"]),
        ("order_drink", "a tea with no sugar and no milk", {"drink": "tea", "milk": "milk"},
         ["drink"]),
        ("order_drink", "a tea without milk", {"drink": "tea", "milk": "milk"}, ["drink"]),
        ("order_drink", "a tea, not too much milk", {"drink": "tea", "milk": "milk"}, ["drink"]),
        ("order_drink", "a tea, no milk", {"drink": "tea", "milk": "no milk"}, ["drink", "milk"]),
        ("order_drink", "no, milk in the tea", {"drink": "tea", "milk": "milk"}, ["drink", "milk"]),
    ],
)  # fmt: skip
def test_what_is_no_value_is_left_out(
    tool: str, request_text: str, given: dict[str, str], kept: list[str]
) -> None:
    assert [
        *without_strays(ToolCall("c", tool, given), request_text, SPECS[tool]).arguments
    ] == kept


@pytest.mark.parametrize(
    ("request_text", "given", "expected"),
    [
        ("three teas, one mocha and a tea with milk", [{"drink": "teas", "quantity": "one"}],
         [{"drink": "teas", "quantity": "three"}]),
        ("a mocha and two large teas", [{"drink": "mocha"}, {"drink": "teas", "size": "large"}],
         [{"drink": "mocha"}, {"drink": "teas", "size": "large", "quantity": "two"}]),
        ("a tea for two people", [{"drink": "tea"}], [{"drink": "tea"}]),
        ("at table two a tea, and a large tea", [{"drink": "tea"}], [{"drink": "tea"}]),
    ],
)  # fmt: skip
def test_each_of_several_has_its_own_number(
    request_text: str, given: list[dict[str, str]], expected: list[dict[str, str]]
) -> None:
    assert own(request_text, given) == expected


def own(request_text: str, given: list[dict[str, str]]) -> list[dict[str, str]]:
    properties = {name: {"type": "string"} for name in ("drink", "size", "milk", "quantity")}
    schema = {"required": ["drink"], "properties": properties}
    number = Reading(
        lambda said: said if said in ("one", "two", "three") else None, lambda _: "", counts=True
    )
    spec = ToolSpec("order_drink", "Order.", schema, readings={"quantity": number})
    calls = [ToolCall("c", "order_drink", one) for one in given]
    return [dict(call.arguments) for call in (counted(one, request_text, spec) for one in calls)]
