import json
from pathlib import Path

import pytest

from dlm.effort import Effort
from dlm.engine.engine import Engine
from dlm.evaluate.run import Plan, ask_engine, evaluate
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
