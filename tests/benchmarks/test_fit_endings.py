from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.fit_endings import logistic, ranking


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
