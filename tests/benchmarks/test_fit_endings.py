from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.fit_endings import (
    fit,
    judged,
    logistic,
    odds_by,
    of_messages,
    of_pauses,
    ranking,
)
from benchmarks.voice.pauses import Met, Traced
from voice.hearing.end_of_turn import PROFILES, WEIGHTS, Cues, Profile, inputs_of

MESSAGES = [([("what time", 0.001), ("what time is it", 0.9)], 1), ([("yes", 0.6)], 0)]


def heard(count: int) -> list[Traced]:
    begun, done = (
        Cues("what time", end_of_message=0.001),
        Cues("what time is it now", end_of_message=0.9),
    )
    pauses = (Met(700.0, 0.0, begun), Met(400.0, 0.0, Cues()), Met(None, 20.0, done))
    return [Traced(str(i), "command", pauses) for i in range(count)]


def test_a_logistic_regression_finds_what_made_its_data() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(4000, 2))
    chance = 1 / (1 + np.exp(-(0.5 + features @ np.array([1.5, -0.7]))))
    ends = (rng.random(4000) < chance).astype(float)
    at, each = logistic(features, ends, np.ones(4000))
    assert at == pytest.approx(0.5, abs=0.15)
    assert each == pytest.approx([1.5, -0.7], abs=0.15)


def test_ranking() -> None:
    ends = np.array([1.0, 1.0, 0.0, 0.0])
    assert ranking(np.array([3.0, 2.0, 1.0, 0.0]), ends) == 1
    assert ranking(np.array([0.0, 1.0, 2.0, 3.0]), ends) == 0
    assert ranking(np.zeros(4), ends) == 0.5


def test_a_pause_counts_with_and_without_the_models_probability() -> None:
    inputs, ends, weights = of_pauses(heard(3))
    assert inputs.shape == (3 * 2 * 2, len(WEIGHTS))
    assert ends.sum() == 3 * 2
    assert weights.sum() == pytest.approx(1)
    assert weights[0] == pytest.approx(2 * weights[1])


def test_an_end_weighs_as_much_as_all_beginnings_of_its_message() -> None:
    inputs, ends, weights = of_messages(MESSAGES)
    assert len(inputs) == 2 * 2
    assert weights[ends == 1].sum() == pytest.approx(weights[ends == 0].sum()) == 0.5


def test_the_weights_tell_ends_from_beginnings_and_are_the_same_twice() -> None:
    recordings, texts = heard(4), of_messages(MESSAGES)
    bias, weights = fit(of_pauses(recordings), texts)
    assert (weights == fit(of_pauses(recordings), texts)[1]).all()
    begun, done = (
        bias + weights @ inputs_of(text, end_of_message)
        for text, end_of_message in (("what time", 0.001), ("what time is it now", 0.9))
    )
    assert done > begun + 4
    odds = odds_by(recordings, {traced.name: (bias, weights) for traced in recordings})
    assert len(odds) == 4 * 2
    assert judged(recordings, PROFILES[Profile.PATIENT], odds).cut == 0
