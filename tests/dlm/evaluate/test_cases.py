from typing import Any

import pytest

from dlm.evaluate.cases import Kind, cases
from tests.dlm.evaluate.rows import ROW, row_of


def call(*names: str) -> dict[str, Any]:
    made = [{"name": name, "arguments": {}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": made}


USER = {"role": "user", "content": "something"}
RESULT = {"role": "tool", "name": "set_timer", "content": "Done."}


def test_the_model_sees_what_comes_before_and_only_the_users_words_as_spans() -> None:
    first, second = cases([ROW])
    assert [turn.role for turn in first.turns] == ["system", "assistant", "user"]
    assert [turn.role for turn in second.turns] == [
        "system",
        "assistant",
        "user",
        "assistant",
        "tool",
    ]
    assert first.request().copy_sources == ("Set a timer for ten minutes.",)
    assert first.request(spans=False).copy_sources is None
    assert [first.kind, second.kind] == [Kind.REQUEST, Kind.REPLY]


@pytest.mark.parametrize(
    ("messages", "kinds"),
    [
        ([USER, call("set_timer", "set_timer")], [Kind.PARALLEL]),
        (
            [USER, call("set_timer"), RESULT, USER, call("set_timer")],
            [Kind.REQUEST, Kind.FOLLOW_UP],
        ),
        (
            [USER, {"role": "assistant", "content": "How long?", "kind": "ask"}, USER, call("a")],
            [Kind.ASK, Kind.ANSWERED],
        ),
        ([USER, {"role": "assistant", "content": "I can't.", "kind": "decline"}], [Kind.DECLINE]),
        ([USER, {"role": "assistant", "content": "Hello."}], [Kind.TALK]),
    ],
)
def test_kinds_are_told_apart(messages: list[dict[str, Any]], kinds: list[Kind]) -> None:
    assert [case.kind for case in cases([row_of(*messages)])] == kinds
