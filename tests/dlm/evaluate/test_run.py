import pytest

from dlm.engine import Engine
from dlm.evaluate.run import Plan, ask_engine, evaluate


@pytest.mark.parametrize("known", [True, False])
def test_what_needs_an_engine_falls_away_without(engine: Engine, known: bool) -> None:
    said: list[str] = []
    plan = Plan(names=("own", "asking"), scale=0.02)
    told = evaluate(plan, ask_engine(engine), engine if known else None, said.append)
    assert set(told.figures["sets"]) == {"own", "asking"}
    assert told.figures["sets"]["own"]["decision_cases"] == 8
    assert ("speed" in told.figures) is known
    assert said == ["own: 8 cases", "asking: 2 cases"]
    assert all(failure["set"] in plan.names for failure in told.failures)


def test_an_answer_that_cannot_be_had_is_none(engine: Engine) -> None:
    from dlm.live import Request

    assert ask_engine(engine)(Request((), tool_choice="no_such_tool")) is None
