from __future__ import annotations

from typing import Any

import pytest

from benchmarks.voice.written import FOLDER, OUTCOMES, SETS, figures, outcome
from voice.finetune.lessons import conversations
from voice.session.typed import TypedTurn
from voice.types import ToolCall

TIMER = {"name": "set_timer", "args": {"duration": "ten minutes", "name": "rolls"}}
READ_ONLY = frozenset({"list_timers"})


def done(*calls: tuple[str, dict[str, str]]) -> TypedTurn:
    made = (ToolCall(str(n), name, values) for n, (name, values) in enumerate(calls))
    return TypedTurn(tuple(made), (), "", False)


@pytest.mark.parametrize(
    ("written", "made", "expected"),
    [
        ([TIMER], [("set_timer", {"duration": "Ten minutes", "name": "roll"})], "right"),
        ([TIMER], [("set_timer", {"duration": "ten minutes"})], "wrong"),
        ([TIMER], [("list_timers", {})], "undone"),
        ([TIMER], [], "undone"),
        ([], [("list_timers", {})], "right"),
        ([], [("set_timer", {"duration": "ten minutes"})], "wrong"),
        ([], [], "right"),
    ],
)
def test_a_message_is_judged_by_its_calls(written: Any, made: Any, expected: str) -> None:
    assert outcome({"say": "", "calls": written}, done(*made), READ_ONLY) == expected


def test_shares_are_told_by_agent_and_over_all() -> None:
    messages = [{"agent": "a", "outcome": one} for one in OUTCOMES]
    told = figures([*messages, {"agent": "b", "outcome": "right"}])
    assert (told["a"]["right"]["rate"], told["all"]["right"]["count"]) == (0.3333, 2)
    assert told["b"]["wrong"] == {"count": 0, "of": 1, "rate": 0.0}


@pytest.mark.parametrize("name", SETS)
def test_the_sets_are_of_both_agents_and_say_each_call(name: str) -> None:
    talks = [*conversations([FOLDER / f"{name}.jsonl.xz"])]
    assert {talk["agent"] for talk in talks} == {"assistant", "coffee"}
    for talk in talks:
        for turn in talk["turns"]:
            assert all(call.keys() == {"name", "args"} for call in turn["calls"])
