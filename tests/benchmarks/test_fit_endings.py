from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.fit_endings import fit, judged, logistic, odds_by, of_messages, of_pauses
from benchmarks.voice.pauses import Met, Traced
from voice.hearing.end_of_turn import PROFILES, Cues, Profile, inputs_of

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
