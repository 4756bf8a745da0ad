from __future__ import annotations

import pytest
import torch

from benchmarks.dlm.step import SHAPES, model_of, rounded, step, timed

SMALL = (300, 32, 48, 2, 2, 1)


def test_shapes_are_as_large_as_they_are_called() -> None:
    for name, shape in SHAPES.items():
        with torch.device("meta"):
            size = sum(p.numel() for p in model_of(shape).parameters())
        assert size / 1e6 == pytest.approx(float(name.split("M")[0]), rel=0.15)


def test_a_step_gives_logits_and_commits_nothing() -> None:
    forward = step(model_of(SMALL), 8)
    first, second = forward(), forward()
    assert first.shape == (8, 300)
    assert torch.equal(first, second)


def test_eight_bits_are_nearly_the_same() -> None:
    model = model_of(SMALL)
    torch.manual_seed(1)
    exact = step(model, 8)()
    torch.manual_seed(1)
    rough = step(rounded(model), 8)()
    assert 0 < (rough - exact).norm() / exact.norm() < 0.1


def test_times_are_told() -> None:
    told = timed(model_of(SMALL), 1, 3)
    assert told["n"] == 3
    assert told["p50"] <= told["max"]
