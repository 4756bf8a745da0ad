from __future__ import annotations

import math

import pytest

from dlm.engine import Finished, Request, Usage
from dlm.evaluate.scores import score
from dlm.template import Answer, Call

ROW = {
    "system": "Be brief.",
    "tools": [
        {
            "name": "set_timer",
            "description": "Start a timer.",
            "parameters": {"type": "object", "properties": {"duration": {"type": "string"}}},
        }
    ],
    "messages": [
        {"role": "user", "content": "Set a timer for ten minutes."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"name": "set_timer", "arguments": {"duration": "ten minutes"}}],
        },
        {"role": "tool", "name": "set_timer", "content": "Timer set for 10 minutes."},
        {"role": "assistant", "content": "Ten minutes: 10 minutes it is."},
    ],
}
RIGHT = Answer("", (Call("set_timer", {"duration": "Ten minutes."}),))


def _finished(answer: Answer) -> Finished:
    return Finished(answer, "stop", Usage(50, 0, 8, 4))


def test_a_right_answer_hits_every_score() -> None:
    answers = iter([RIGHT, Answer("The timer is set for 10 minutes.", ())])
    scores = score([ROW], lambda _: _finished(next(answers)))
    for name in ("well_formed", "decision", "tool", "call", "reply"):
        assert scores.share(name) == 1.0, name
    assert scores.figures()["tokens_per_forward_calls"] == 2.0


@pytest.mark.parametrize(
    ("call", "reply", "hits"),
    [
        (Answer("Hello.", ()), "10 minutes.", {"decision": 0.5, "tool": 0.0, "call": 0.0}),
        (Answer("", (Call("other", {}),)), "10 minutes.", {"tool": 0.0}),
        (
            Answer("", (Call("set_timer", {"duration": "a day"}),)),
            "10.",
            {"tool": 1.0, "call": 0.0},
        ),
        (RIGHT, "It is 30 minutes.", {"reply": 0.0}),
        (RIGHT, "It is 10 minutes, or 30.", {"reply": 0.0}),
        (RIGHT, "", {"reply": 0.0}),
    ],
)
def test_a_wrong_answer_misses_its_score(call: Answer, reply: str, hits: dict[str, float]) -> None:
    answers = iter([call, Answer(reply, ())])
    scores = score([ROW], lambda _: _finished(next(answers)))
    assert {name: scores.share(name) for name in hits} == hits


def test_a_malformed_answer_counts_against_all() -> None:
    scores = score([ROW], lambda _: None)
    assert scores.share("well_formed") == 0.0
    assert scores.share("call") == 0.0
    assert scores.share("reply") == 0.0


def test_the_model_sees_what_comes_before_and_only_the_users_words_as_spans() -> None:
    asked: list[Request] = []

    def ask(request: Request) -> Finished:
        asked.append(request)
        return _finished(RIGHT)

    score([ROW], ask)
    assert [turn.role for turn in asked[0].turns] == ["system", "user"]
    assert [turn.role for turn in asked[1].turns] == ["system", "user", "assistant", "tool"]
    assert asked[0].said == ("Set a timer for ten minutes.",)
    score([ROW], ask, spans=False)
    assert asked[-1].said is None


def test_a_score_without_cases_is_not_a_number() -> None:
    assert math.isnan(score([], lambda _: None).share("call"))
