from __future__ import annotations

from typing import Any

import pytest

from benchmarks.voice.written import FOLDER, OUTCOMES, SETS, answer_to, figures, outcome
from voice.finetune.lessons import conversations
from voice.session.typed import TypedTurn
from voice.types import ToolCall

TIMER = {"name": "set_timer", "args": {"duration": "ten minutes", "name": "rolls"}}
LATTE = {"name": "order_drink", "args": {"drink": "latte", "milk": "oat", "quantity": "one"}}
READ_ONLY = frozenset({"list_timers"})


def calls(*made: tuple[str, dict[str, str]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(str(n), name, values) for n, (name, values) in enumerate(made))


@pytest.mark.parametrize(
    ("written", "made", "expected"),
    [
        ([TIMER], [("set_timer", {"duration": "Ten minutes", "name": "roll"})], "right"),
        ([TIMER], [("set_timer", {"duration": "ten minutes", "name": "the rolls"})], "right"),
        ([LATTE], [("order_drink", {"drink": "a latte", "milk": "oat milk"})], "right"),
        ([LATTE], [("order_drink", {"drink": "latte", "milk": "oat", "quantity": "two"})], "wrong"),
        ([TIMER], [("set_timer", {"duration": "ten minutes"})], "wrong"),
        ([TIMER], [("list_timers", {})], "undone"),
        ([TIMER], [], "undone"),
        ([], [("list_timers", {})], "right"),
        ([], [("set_timer", {"duration": "ten minutes"})], "wrong"),
        ([], [], "right"),
    ],
)
def test_a_message_is_judged_by_its_calls(written: Any, made: Any, expected: str) -> None:
    assert outcome({"say": "", "calls": written}, calls(*made), READ_ONLY) == expected


ROLLS = ("set_timer", {"duration": "ten minutes", "name": "rolls"})


@pytest.mark.parametrize(
    ("made", "proposed", "answer"),
    [
        ([], [], ""),
        ([], [ROLLS], "yes"),
        ([], [("set_timer", {"duration": "ten minutes"})], "no"),
        ([], [ROLLS, ("cancel_timer", {})], "no"),
        # "Anything else?" after what was asked for is no matter of this message.
        ([ROLLS], [("confirm_order", {})], ""),
    ],
)
def test_a_question_is_answered_as_the_calls_are_written(
    made: Any, proposed: Any, answer: str
) -> None:
    turn = {"say": "", "calls": [TIMER]}
    done = TypedTurn(calls(*made), (), "", False, calls(*proposed))
    assert answer_to(turn, done) == answer


def test_what_comes_of_a_question_is_told_apart() -> None:
    turn = {"say": "", "calls": [TIMER]}
    assert outcome(turn, calls(ROLLS), READ_ONLY, asked=True) == "asked"
    assert outcome(turn, (), READ_ONLY, asked=True) == "undone"


def test_shares_are_told_by_agent_and_over_all() -> None:
    messages = [{"agent": "a", "outcome": one} for one in OUTCOMES]
    told = figures([*messages, {"agent": "b", "outcome": "right"}])
    assert (told["a"]["right"]["rate"], told["all"]["right"]["count"]) == (0.25, 2)
    assert told["b"]["wrong"] == {"count": 0, "of": 1, "rate": 0.0}


@pytest.mark.parametrize("name", SETS)
def test_the_sets_are_of_both_agents_and_say_each_call(name: str) -> None:
    talks = [*conversations([FOLDER / f"{name}.jsonl.xz"])]
    assert {talk["agent"] for talk in talks} == {"assistant", "coffee"}
    for talk in talks:
        for turn in talk["turns"]:
            assert all(call.keys() == {"name", "args"} for call in turn["calls"])
