from __future__ import annotations

from typing import Any

import pytest

from benchmarks.voice.everyday import SETS, read
from benchmarks.voice.everyday_checks import Verdict, judge
from voice.config import load_config
from voice.tools import Toolbox
from voice.types import ToolCall

READ_ONLY = frozenset(["list_alarms", "read_list"])
CANCEL = [[{"tool": "cancel_alarm", "args": {"when": ["seven", "7:00"]}}]]


def turn(outcomes: Any, **more: Any) -> dict[str, Any]:
    told = {"tell": [], "not_tell": [], "may_decline": False}
    return {"say": "", "outcomes": outcomes, **told, **more}


def calls(*made: tuple[str, dict[str, str]]) -> list[ToolCall]:
    return [ToolCall(f"call-{n}", name, arguments) for n, (name, arguments) in enumerate(made)]


@pytest.mark.parametrize(
    ("expected", "made", "reply", "verdict"),
    [
        (CANCEL, [("cancel_alarm", {"when": "Seven."})], "Done.", Verdict.RIGHT),
        (CANCEL, [("cancel_alarm", {"when": "the 7"})], "Done.", Verdict.RIGHT),
        (CANCEL, [("cancel_alarm", {"when": "eight"})], "Done.", Verdict.WRONG),
        (CANCEL, [("set_alarm", {"when": "seven"})], "Alarm set.", Verdict.OPPOSITE),
        (CANCEL, [], "Sorry, I can't do that.", Verdict.DECLINED),
        (CANCEL, [], "Your alarm is cancelled.", Verdict.WRONG),
        ([[]], [("list_alarms", {})], "You have no alarms.", Verdict.RIGHT),
        ([[]], [("set_alarm", {"when": "six"})], "Alarm set.", Verdict.WRONG),
    ],
)
def test_a_turn_is_judged_by_its_calls(
    expected: Any, made: list[tuple[str, dict[str, str]]], reply: str, verdict: Verdict
) -> None:
    assert judge(turn(expected), "plain", calls(*made), reply, READ_ONLY) is verdict


def test_what_was_told_not_to_be_done_is_the_opposite() -> None:
    made = calls(("set_alarm", {"when": "six"}))
    assert judge(turn([[]]), "negation", made, "Alarm set.", READ_ONLY) is Verdict.OPPOSITE


def test_a_device_switched_the_wrong_way_is_the_opposite() -> None:
    wanted = [[{"tool": "set_device", "args": {"state": ["off"]}}]]
    for state, verdict in (
        ("on", Verdict.OPPOSITE),
        ("off", Verdict.RIGHT),
        ("red", Verdict.WRONG),
    ):
        made = calls(("set_device", {"device": "light", "state": state}))
        assert judge(turn(wanted), "plain", made, "Done.", READ_ONLY) is verdict


def test_the_reply_has_to_tell_and_not_to_tell() -> None:
    asked = turn([[]], tell=[["5", "five"], ["milk"]], not_tell=["bread"])
    assert judge(asked, "plain", [], "Milk costs 5.20.", READ_ONLY) is Verdict.RIGHT
    assert judge(asked, "plain", [], "Milk costs 15.", READ_ONLY) is Verdict.WRONG
    assert judge(asked, "plain", [], "Five for milk and bread.", READ_ONLY) is Verdict.WRONG
    honest = turn([[]], tell=[["five"]], may_decline=True)
    assert judge(honest, "plain", [], "Sorry, I don’t know.", READ_ONLY) is Verdict.RIGHT


def test_calls_may_come_in_any_order() -> None:
    wanted = [[{"tool": "cancel_alarm", "args": {}}, {"tool": "set_alarm", "args": {}}]]
    made = calls(("set_alarm", {"when": "six"}), ("cancel_alarm", {}))
    assert judge(turn(wanted), "plain", made, "Done.", READ_ONLY) is Verdict.RIGHT
    missing = calls(("cancel_alarm", {}))
    assert judge(turn(wanted), "plain", missing, "Done.", READ_ONLY) is Verdict.WRONG


def test_the_sets_ask_for_tools_that_there_are() -> None:
    config = load_config()
    tools = {*Toolbox(config.tools, config.turn).names}
    ids: list[str] = []
    for name in SETS:
        for one in read(name):
            ids.append(one["id"])
            expected = (call for turn in one["turns"] for some in turn["outcomes"] for call in some)
            assert {call["tool"] for call in expected} <= tools, one["id"]
    assert len(ids) == len(set(ids))
