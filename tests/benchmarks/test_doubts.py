from __future__ import annotations

import pytest

from benchmarks.voice.doubts import judged
from dlm.engine.engine import Finished, Request, Usage
from dlm.evaluate.cases import Case, Kind
from dlm.language.messages import Answer, Call, Turn
from voice.types import ToolSpec

ADD = Call("add_to_list", {"item": "milk"})
TOOLS = {"add_to_list": ToolSpec("add_to_list", "Put an item on a list.", {})}


@pytest.mark.parametrize(
    ("calls", "confidence", "expected"),
    [
        ((ADD,), 0.9, [(True, False)]),
        ((ADD,), 0.5, [(True, True)]),
        ((Call("add_to_list", {"item": "add"}),), 0.5, [(False, True)]),
        ((), None, []),
    ],
)
def test_answers_with_calls_are_right_or_not_and_doubted_or_not(
    calls: tuple[Call, ...], confidence: float | None, expected: list[tuple[bool, bool]]
) -> None:
    def ask(request: Request) -> Finished:
        return Finished(Answer("", calls), "stop", Usage(1, 0, 1, 1), confidence)

    wanted = Turn("assistant", "", (ADD,))
    case = Case((Turn("user", "add milk"),), (), wanted, Kind.REQUEST)
    assert list(judged([case], ask, TOOLS)) == expected
