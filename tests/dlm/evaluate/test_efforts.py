from __future__ import annotations

from dlm.effort import Effort
from dlm.engine.engine import Finished, Request
from dlm.evaluate.cases import CALLS, cases
from dlm.evaluate.efforts import efforts
from tests.dlm.evaluate.rows import RIGHT, ROW, finished


def test_calls_are_scored_at_every_effort() -> None:
    asked = [case for case in cases([ROW]) if case.kind in CALLS]
    seen: list[Effort] = []

    def ask(request: Request) -> Finished | None:
        seen.append(request.effort)
        return None if request.effort is Effort.LOW else finished(RIGHT)

    told = efforts(asked, ask)
    assert list(told) == ["instant", "low", "medium", "high"]
    assert seen == [effort for effort in Effort for _ in asked]
    assert told["high"]["tool"] == 1.0
    assert told["low"] == {"call": 0.0, "tool": 0.0, "tokens": 0.0}
    assert told["high"]["tokens"] == finished(RIGHT).usage.answer_tokens
