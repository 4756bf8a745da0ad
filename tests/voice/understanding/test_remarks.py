"""What is told beside a request is no request, and a request behind it is one."""

from __future__ import annotations

import pytest

from voice.config import ToolsConfig, TurnConfig
from voice.tools import Toolbox
from voice.tools.scope import SessionScope
from voice.types import ToolCall
from voice.understanding.remarks import asked_for, only_tells, supposes

TOOLBOX = Toolbox(ToolsConfig(database=":memory:"), TurnConfig())
SPECS = {spec.name: spec for spec in TOOLBOX.specs(TOOLBOX.names, SessionScope("s"))}


def call(tool: str, **arguments: str) -> ToolCall:
    return ToolCall("c", tool, arguments)


ALARM = call("set_alarm", when="seven")
LIGHT = call("set_device", device="kitchen light", state="off")
PASTA = call("cancel_timer", name="pasta")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("he's 8", True), ("oh, she is nearly eleven months old", True), ("I'm seventy two", True),
        ("my son is four", True), ("about three weeks I'd say", True),
        ("for a few days now, since it rained", True), ("three weeks", False),
        ("it's 8", False), ("he's at eight", False), ("two days from now", False),
    ],
)  # fmt: skip
def test_how_old_somebody_is_and_for_how_long_is_told(message: str, told: bool) -> None:
    assert only_tells(message) is told


@pytest.mark.parametrize(
    ("clause", "supposed"),
    [
        ("can I change it later if something comes up", True), ("may I pay later", True),
        ("could we cancel in case he is ill", True), ("if I have to work", True),
        ("am I able to move it afterwards", True), ("can we do it later", False),
        ("can we move it to a later time", False), ("if possible on monday", False),
        ("tuesday, if you can", False), ("a bit later", False),
    ],
)  # fmt: skip
def test_what_may_come_about_is_no_wish_yet(clause: str, supposed: bool) -> None:
    assert supposes(clause) is supposed


@pytest.mark.parametrize(
    "message",
    [
        "I'm leaving in ten minutes, turn off the kitchen light",
        "my train is at eight, so wake me at six",
        "we're going to bed now. Please lock the front door",
        "it's so dark in here, is the lamp on",
    ],
)
def test_a_request_behind_a_remark_is_one(message: str) -> None:
    assert not only_tells(message)


@pytest.mark.parametrize(
    "message",
    [
        "I'm leaving in ten minutes, finally",
        "my train was late, it took three hours",
        "it's Saturday tomorrow, my day off",
        "no wait its saturday tomorrow isnt it",
    ],
)
def test_remarks_alone_ask_for_nothing(message: str) -> None:
    assert only_tells(message)


@pytest.mark.parametrize(
    ("request_text", "asked", "told"),
    [
        ("an alarm for seven because work begins at eight", ALARM, call("set_alarm", when="eight")),
        ("Alarm for seven. I start at eight.", ALARM, call("set_alarm", when="eight")),
        ("my shift is at nine, set one for seven", ALARM, call("set_alarm", when="nine")),
        (
            "I'm off in ten minutes, kitchen light off",
            LIGHT,
            call("set_timer", duration="ten minutes"),
        ),
        (
            "I'm dying for a latte, large one please",
            call("order_drink", drink="latte", size="large"),
            call("order_drink", drink="latte"),
        ),
        ("stop the pasta. ordering pizza lol", PASTA, call("remove_from_list", item="pizza")),
        (
            "stop the pasta, we had soup, with bread",
            PASTA,
            call("add_to_list", item="bread"),
        ),
    ],
)
def test_what_is_told_becomes_no_call(request_text: str, asked: ToolCall, told: ToolCall) -> None:
    assert asked_for(request_text, (asked, told), SPECS) == (asked,)
    assert asked_for(request_text, (told, asked), SPECS) == (asked,)


@pytest.mark.parametrize(
    ("request_text", "calls"),
    [
        # Nothing else was asked for.
        ("I start at seven", (ALARM,)),
        ("an alarm for seven, and eight", (ALARM, call("set_alarm", when="eight"))),
        (
            "alarm for seven and one at eight because I oversleep",
            (ALARM, call("set_alarm", when="eight")),
        ),
        # A list takes what is told to be missing.
        (
            "we're out of milk, and add eggs",
            (call("add_to_list", item="milk"), call("add_to_list", item="eggs")),
        ),
        (
            "I'd like the lamp off, and stop the pasta",
            (call("set_device", device="lamp", state="off"), PASTA),
        ),
        (
            "she'd like the lamp off, then stop the pasta",
            (call("set_device", device="lamp", state="off"), PASTA),
        ),
        # An order is told.
        (
            "a latte, and her mum's having a black tea",
            (call("order_drink", drink="latte"), call("order_drink", drink="black tea")),
        ),
        (
            "thanks, it's for Murray, goodnight",
            (call("confirm_order", name="Murray"), call("end_conversation")),
        ),
        # Without values of its own.
        ("stop the pasta, what is it", (PASTA, call("get_time"))),
        ("I need eggs. Stop the pasta", (call("add_to_list", item="eggs"), PASTA)),
    ],
)
def test_what_is_asked_for_stays(request_text: str, calls: tuple[ToolCall, ...]) -> None:
    assert asked_for(request_text, calls, SPECS) == calls
