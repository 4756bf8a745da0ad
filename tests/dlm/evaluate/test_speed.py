from dlm.effort import Effort
from dlm.engine import Finished, Request
from dlm.evaluate.cases import cases
from dlm.evaluate.speed import speed
from tests.dlm.evaluate.rows import RIGHT, ROW, finished


def test_every_effort_is_measured_behind_a_warm_prompt() -> None:
    asked: list[Effort] = []

    def ask(request: Request) -> Finished:
        asked.append(request.effort)
        return finished(RIGHT)

    told = speed(list(cases([ROW])), ask)
    assert set(told) == {"instant", "low", "medium", "high"}
    assert asked == [effort for effort in Effort for _ in range(4)]
    assert told["instant"]["tokens_per_forward_calls"] == 2.0
    assert {"ms_replies", "ms_24_tokens_replies"} <= set(told["high"])


def test_malformed_answers_cost_nothing_known() -> None:
    assert speed(list(cases([ROW])), lambda _: None)["low"] == {}
