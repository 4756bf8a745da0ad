from dlm.effort import Effort
from dlm.engine.engine import Finished, Request
from dlm.evaluate.cases import cases
from dlm.evaluate.speed import speed
from tests.dlm.evaluate.rows import RIGHT, ROW, finished


def test_every_effort_is_measured_behind_a_prompt_that_is_known() -> None:
    asked: list[Request] = []

    def ask(request: Request) -> Finished:
        asked.append(request)
        return finished(RIGHT)

    told = speed(list(cases([ROW])), ask)
    assert set(told) == {"instant", "low", "medium", "high"}
    assert [request.effort for request in asked[1::2]] == [e for e in Effort for _ in range(2)]
    assert not any(request.prefix for request in asked[1::2])
    assert told["instant"]["tokens_per_forward_calls"] == 2.0
    assert {"ms_replies", "ms_24_tokens_replies"} <= set(told["high"])


def test_no_case_is_helped_by_its_own_answer() -> None:
    """What an engine learns of how answers begin comes from answers that nobody began for it."""
    asked: list[Request] = []

    def ask(request: Request) -> Finished:
        asked.append(request)
        return finished(RIGHT)

    speed(list(cases([ROW])), ask)
    before = asked[::2]
    assert [request.turns for request in before] == [request.turns for request in asked[1::2]]
    assert all(request.prefix and request.max_tokens == 1 for request in before)


def test_malformed_answers_cost_nothing_known() -> None:
    assert speed(list(cases([ROW])), lambda _: None)["low"] == {}
