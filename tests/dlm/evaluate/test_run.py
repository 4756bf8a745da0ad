"""All measurements of a checkpoint, and the table of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlm.effort import Effort
from dlm.engine.engine import Engine, Finished, Request
from dlm.evaluate.cases import CALLS, cases
from dlm.evaluate.efforts import accuracy, speed
from dlm.evaluate.report import table
from dlm.evaluate.run import Plan, ask_engine, evaluate
from tests.dlm.evaluate.rows import RIGHT, ROW, finished
from tests.dlm.tiny import model, tokenizer


@pytest.mark.parametrize("known", [True, False])
def test_what_needs_an_engine_falls_away_without(engine: Engine, known: bool) -> None:
    said: list[str] = []
    plan = Plan(names=("own", "asking"), scale=0.02)
    told = evaluate(plan, ask_engine(engine), engine if known else None, said.append)
    assert set(told.figures["sets"]) == {"own", "asking"}
    assert told.figures["sets"]["own"]["decision_cases"] == 8
    assert ("speed" in told.figures) is known
    # Of the one set that such things are measured on.
    own = told.figures["sets"]["own"]
    paces = {f"tokens_per_forward_{k}": v for k, v in told.figures["tokens_per_forward"].items()}
    assert paces and paces.items() <= own.items()
    assert said == ["own: 8 cases", "asking: 2 cases"]
    assert all(failure["set"] in plan.names for failure in told.failures)


def test_efforts_are_compared_where_they_differ() -> None:
    for reasons in (False, True):
        engine = Engine(model(3, reasons=reasons), tokenizer())
        try:
            plan = Plan(names=("own",), scale=0.005)
            told = evaluate(plan, lambda _: None, engine, lambda _: None)
            assert ("efforts" in told.figures) is reasons
        finally:
            engine.close()


def test_dialogues_of_ones_own_are_a_set(engine: Engine, tmp_path: Path) -> None:
    data = tmp_path / "mine.jsonl"
    function = {"name": "ring", "parameters": {"type": "object", "properties": {}}}
    call = {"id": "c", "type": "function", "function": {"name": "ring", "arguments": "{}"}}
    row = {
        "messages": [
            {"role": "user", "content": "ring the bell"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "It rings."},
            {"role": "assistant", "content": "It rings."},
        ],
        "tools": [{"type": "function", "function": function}],
    }
    data.write_text(json.dumps(row) + "\n", encoding="utf-8")
    told = evaluate(Plan(names=(), data=data), ask_engine(engine), engine, lambda _: None)
    scores = told.figures["sets"]["data"]
    assert scores["decision_cases"] == 2 and scores["reply_cases"] == 1
    assert told.figures["replies"]["cases"] == 1 and "words" in told.figures["replies"]
    assert set(told.figures["speed"]) == {str(effort) for effort in Effort}


def test_an_answer_that_cannot_be_had_is_none(engine: Engine) -> None:
    from dlm.engine.request import Request

    assert ask_engine(engine)(Request((), tool_choice="no_such_tool")) is None


def test_calls_are_scored_at_every_effort() -> None:
    asked = [case for case in cases([ROW]) if case.kind in CALLS]
    seen: list[Effort] = []

    def ask(request: Request) -> Finished | None:
        seen.append(request.effort)
        return None if request.effort is Effort.LOW else finished(RIGHT)

    told = accuracy(asked, ask)
    assert list(told) == ["instant", "low", "medium", "high"]
    assert seen == [effort for effort in Effort for _ in asked]
    assert told["high"]["tool"] == 1.0
    assert told["low"] == {"call": 0.0, "tool": 0.0, "tokens": 0.0}
    assert told["high"]["tokens"] == finished(RIGHT).usage.answer_tokens


def test_speed_is_measured_after_a_cached_prompt_of_unknown_answer() -> None:
    asked: list[Request] = []

    def ask(request: Request) -> Finished:
        asked.append(request)
        return finished(RIGHT)

    figures = speed(list(cases([ROW])), ask)
    before, measured = asked[::2], asked[1::2]
    assert [request.turns for request in before] == [request.turns for request in measured]
    assert all(request.prefix and request.max_tokens == 1 for request in before)
    assert not any(request.prefix for request in measured)
    assert [request.effort for request in measured] == [e for e in Effort for _ in range(2)]
    assert figures["instant"]["tokens_per_forward_calls"] == 2.0
    assert {"ms_replies", "ms_24_tokens_replies"} <= set(figures["high"])


FIGURES = {
    "checkpoint": "small",
    "sets": {"own": {"call": 0.5, "tool": 1.0, "decision_cases": 4}, "talk": {"talk": 0.25}},
    "speed": {"instant": {"ms_calls": 12.0}},
    "seconds": 3.0,
}


def test_a_table_has_a_row_for_each_set_and_the_rest_below() -> None:
    lines = table(FIGURES).splitlines()
    assert lines[0].split()[:3] == ["set", "cases", "call"]
    assert lines[1].split() == ["own", "4", "50.0%", "100.0%"]
    assert "speed: instant (ms_calls 12.0)" in lines
    assert "seconds: 3.0" in lines
