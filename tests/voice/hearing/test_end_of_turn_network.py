from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.hearing.end_of_turn_network import (
    INPUTS,
    RISING,
    inputs_of,
    load,
    log_odds,
    score,
    voice_evidence,
)
from voice.hearing.prosody import Prosody

OVER = Prosody(-5.0, -2.0, -22.0, -8.0, 120.0, 0.4)
HELD = Prosody(1.0, 0.5, -4.0, -1.0, 420.0, 1.0)


def odds(text: str, sure: float = 1.0, opinion: float | None = None) -> float:
    return float(score(inputs_of(text, sure, opinion), load()))


def test_the_shapes_are_what_they_are_said_to_be() -> None:
    weights = load()
    units = weights["bias"].shape
    assert weights["into"].shape == (INPUTS, *units)
    assert weights["out"].shape == units
    assert weights["past"].shape == (INPUTS,)
    assert weights["at"].shape == ()
    assert score(np.zeros((3, 2, INPUTS)), weights).shape == (3, 2)


def test_evidence_for_an_end_cannot_be_turned_round() -> None:
    weights = load()
    assert (weights["into"][:RISING] >= 0).all()
    assert (weights["past"][:RISING] >= 0).all()
    assert (weights["out"] >= 0).all()


@given(st.integers(0, RISING - 1), st.lists(st.floats(-3, 3), min_size=INPUTS, max_size=INPUTS))
def test_more_of_an_input_that_rises_never_makes_an_end_less_likely(
    which: int, inputs: list[float]
) -> None:
    more = np.array(inputs)
    more[which] += 0.5
    assert score(more, load()) >= score(np.array(inputs), load())


def test_the_inputs_in_order() -> None:
    found = inputs_of("what time is it now", 1.0, 0.5, None)
    assert found.tolist() == pytest.approx([1, 0, 0.75, 0, 0, 0, np.log(6) - 1.5])
    assert inputs_of("add milk and", 1.0)[:2].tolist() == [0, -1]


def test_what_is_not_known_says_nothing() -> None:
    unknown = inputs_of("a mocha", 1.0)
    assert unknown[2] == unknown[4] == 0
    assert unknown[5] == 1
    assert inputs_of("a mocha", 1.0, 0.5)[5] == 0


@pytest.mark.parametrize("opinion", [None, 0.3])
@pytest.mark.parametrize("prosody", [None, OVER, HELD])
def test_whole_requests_are_told_from_beginnings_whatever_is_missing(
    opinion: float | None, prosody: Prosody | None
) -> None:
    texts = ("what time is it", "a mocha", "a mocha and")
    found = [float(score(inputs_of(t, 1.0, opinion, prosody), load())) for t in texts]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[2] + 2


def test_without_an_opinion_it_is_less_sure_than_with_a_clear_one() -> None:
    for text in ("what time is it", "a mocha", "get me a mocha with oat"):
        assert odds(text, opinion=0.0001) < odds(text) < odds(text, opinion=0.8)


def test_doubtful_words_count_for_less() -> None:
    found = [odds("is the first the report list", sure, 0.4) for sure in (0.99, 0.8, 0.6, 0.45)]
    assert found[0] == found[1]
    assert all(sure >= doubtful for sure, doubtful in pairwise(found))
    assert found[3] < found[0]


def test_a_voice_that_falls_speaks_for_an_end_and_one_that_is_held_against_it() -> None:
    assert voice_evidence(OVER) > voice_evidence(None) == 0 > voice_evidence(HELD)
    far = replace(OVER, level_db=-40.0, pitch_st=-12.0, held_ms=0.0)
    assert inputs_of("a mocha", 1.0, None, far)[4] <= 2


def test_log_odds_are_finite() -> None:
    assert log_odds(0.5) == 0
    assert log_odds(0) == pytest.approx(-log_odds(1))
    assert log_odds(0) < -20
