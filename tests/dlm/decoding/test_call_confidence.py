from __future__ import annotations

import math
from contextlib import closing

import pytest
import torch

from dlm.decoding.call_confidence import confidence, log_probabilities
from dlm.engine.engine import Engine
from dlm.language.chat_format import MarkedCalls
from dlm.language.messages import Answer
from tests.dlm.asking import SAID, TIMER_CALL, ask, request
from tests.dlm.tiny import taught, tokenizer

CALLS = MarkedCalls(call=8, key=9, value=10)
END = 2
NAME, PARAMETER, WORD = 20, 21, 22
HALF, SURE = math.log(0.5), 0.0
ONE_CALL = [8, NAME, 9, PARAMETER, 10, WORD, END]


@pytest.mark.parametrize(
    ("position", "expected"),
    [(0, 0.875), (1, 0.875), (2, 0.875), (3, 0.875), (4, 0.875), (5, 1.0), (6, 0.875)],
)
def test_a_doubt_in_one_decision_costs_an_eighth_and_values_cost_nothing(
    position: int, expected: float
) -> None:
    logs = [SURE] * len(ONE_CALL)
    logs[position] = HALF
    assert confidence(ONE_CALL, logs, CALLS, END) == pytest.approx(expected)


def test_of_several_calls_the_least_likely_counts_and_so_does_going_on() -> None:
    tokens = [8, NAME, 8, NAME, NAME, END]
    assert confidence(tokens, [SURE, HALF, SURE, HALF, HALF, SURE], CALLS, END) == 0.8125
    assert confidence(tokens, [SURE, SURE, HALF, SURE, SURE, HALF], CALLS, END) == 0.8125


def test_words_and_unknown_probabilities_have_none() -> None:
    assert confidence([WORD, END], [SURE, SURE], CALLS, END) is None
    unknown = log_probabilities([NAME, END], [NAME, END], (0, 1))
    assert confidence([8, NAME, END], [SURE, *unknown], CALLS, END) is None


def test_tokens_that_a_grammar_forces_are_no_decisions() -> None:
    found = log_probabilities(torch.zeros(3, 4), [1, 2, 3, 3], (0, 2))
    assert found == pytest.approx([-math.log(4), 0.0, -math.log(4), 0.0])


def test_an_engine_is_as_confident_from_a_draft_as_anew() -> None:
    with closing(Engine(taught(), tokenizer())) as engine:
        anew = ask(engine, request(SAID))
        assert anew.answer.calls == (TIMER_CALL,)
        assert anew.confidence is not None
        assert 0.5 < anew.confidence <= 1
        drafted = ask(engine, request(SAID, draft=Answer("", (TIMER_CALL,))))
        assert drafted.confidence == anew.confidence
        assert ask(engine, request(SAID, tools=())).confidence is None
