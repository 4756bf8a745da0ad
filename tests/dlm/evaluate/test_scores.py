from __future__ import annotations

import math

import pytest

from dlm.evaluate.cases import cases
from dlm.evaluate.scores import Scores, compare, plain, score
from dlm.language.messages import Answer, Call
from tests.dlm.evaluate.rows import RIGHT, ROW, case_of, finished


def test_a_right_answer_hits_every_score() -> None:
    answers = iter([RIGHT, Answer("The timer is set for 10 minutes.", ())])
    scores = score(cases([ROW]), lambda _: finished(next(answers)))
    for name in ("well_formed", "decision", "tool", "call", "call_request", "slots", "reply"):
        assert scores.share(name) == 1.0, name
    assert scores.figures()["tokens_per_forward_calls"] == 2.0
    assert not scores.failures


@pytest.mark.parametrize(
    ("call", "reply", "hits"),
    [
        (Answer("Hello.", ()), "10 minutes.", {"decision": 0.5, "tool": 0.0, "call": 0.0}),
        (Answer("", (Call("other", {}),)), "10 minutes.", {"tool": 0.0}),
        (
            Answer("", (Call("set_timer", {"duration": "a day"}),)),
            "10.",
            {"tool": 1.0, "call": 0.0, "slots": 1 / 3},
        ),
        (RIGHT, "It is 30 minutes.", {"reply": 0.0}),
        (RIGHT, "It is 10 minutes, or 30.", {"reply": 0.0}),
        (RIGHT, "It is set, and Paris calls, for 10 minutes.", {"reply": 0.0}),
        (RIGHT, "", {"reply": 0.0}),
    ],
)
def test_a_wrong_answer_misses_its_score(call: Answer, reply: str, hits: dict[str, float]) -> None:
    answers = iter([call, Answer(reply, ())])
    scores = score(cases([ROW]), lambda _: finished(next(answers)))
    assert {name: scores.share(name) for name in hits} == pytest.approx(hits)
    assert scores.failures


def test_an_argument_that_is_null_is_one_that_is_not_given() -> None:
    """The engine answers null where a strict tool's parameter was not said; the data may not."""
    got = Answer("", (Call("set_timer", {"duration": "ten minutes", "label": None}),))
    scores = score(list(cases([ROW]))[:1], lambda _: finished(got))
    assert (scores.share("call"), scores.share("slots")) == (1.0, 1.0)


def test_a_malformed_answer_counts_against_all() -> None:
    scores = score(cases([ROW]), lambda _: None)
    for name in ("well_formed", "call", "reply", "decision"):
        assert scores.share(name) == 0.0
    assert scores.failures[0]["got"] is None


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It's 12 degrees in Paris.", True),
        ("It's high 14 there.", True),
        ("It's 13 degrees.", False),
        ("It's rainy.", False),
        ("Well, Rome has 12 degrees; Rome it is.", False),
    ],
)
def test_a_reply_may_choose_among_the_numbers_of_a_result(text: str, right: bool) -> None:
    case = case_of("Rain, 12 degrees, high 14.", "Today in Paris: rain, 12 degrees, high 14.")
    assert compare(Scores(), case, finished(Answer(text, ()))) is right


def test_what_the_user_said_need_not_be_said_again() -> None:
    case = case_of("7 times 6 is 42.", "7 times 6 is 42.", said="what is 7 times 6")
    assert compare(Scores(), case, finished(Answer("That's 42.", ())))
    assert not compare(Scores(), case, finished(Answer("7 times 6.", ())))


@pytest.mark.parametrize(
    ("said", "text", "right"),
    [
        ("what's on the list", "Eggs and tea.", True),
        ("how many things are on the list", "Eggs and tea.", False),
        ("how many things are on the list", "2: eggs and tea.", True),
        ("what's on the list", "3: eggs and tea.", False),
    ],
)
def test_what_is_named_need_not_be_counted(said: str, text: str, right: bool) -> None:
    case = case_of("2 on it: eggs, tea.", "The list has 2 items: eggs and tea.", said=said)
    assert compare(Scores(), case, finished(Answer(text, ()))) is right


@pytest.mark.parametrize(("kind", "text", "right"), [
    ("ask", "How long?", True), ("ask", "Okay.", False), ("decline", "No.", True),
    ("decline", "", False), ("", "Hello.", True),
])  # fmt: skip
def test_answers_without_calls(kind: str, text: str, right: bool) -> None:
    case = case_of("Something.", kind=kind)
    assert compare(Scores(), case, finished(Answer(text, ()))) is right
    assert not compare(Scores(), case, finished(RIGHT))


def test_arguments_are_compared_without_what_tools_ignore() -> None:
    assert plain("The Kitchen,") == plain("kitchen") != plain("chicken")
    whole = Answer("", (Call("set_device", {"device": "kitchen light"}),))
    cut = {"device": "light", "room": "the kitchen"}
    row = {**ROW, "messages": [
        {"role": "user", "content": "light"},
        {"role": "assistant", "content": None,
         "tool_calls": [{"name": "set_device", "arguments": cut}]},
    ]}  # fmt: skip
    assert compare(Scores(), next(cases([row])), finished(whole))
    twice = {"device": "kitchen light", "room": "kitchen"}
    assert compare(Scores(), next(cases([row])), finished(Answer("", (Call("set_device", twice),))))


def test_a_score_without_cases_is_not_a_number() -> None:
    assert math.isnan(score([], lambda _: None).share("call"))


def test_what_an_endpoint_does_not_tell_is_left_out() -> None:
    scores = Scores()
    scores.spend({"calls": (0, 1200), "replies": (10, 25)})
    assert scores.paces() == {"replies": 2.5}


def test_a_failure_tells_what_was_said_without_the_instructions() -> None:
    for row in (ROW, ROW | {"system": ""}):
        scores = score(list(cases([row]))[:1], lambda _: None)
        said = ["assistant: Hello.", "user: Set a timer for ten minutes."]
        assert scores.failures[0]["said"] == said
