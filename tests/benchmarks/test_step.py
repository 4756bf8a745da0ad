from __future__ import annotations

import torch

from benchmarks.dlm.step import model_of, rounded, step

SMALL = (300, 32, 48, 2, 2, 1)


def test_eight_bits_are_nearly_the_same() -> None:
    model = model_of(SMALL)
    torch.manual_seed(1)
    exact = step(model, 8)()
    torch.manual_seed(1)
    rough = step(rounded(model), 8)()
    assert 0 < (rough - exact).norm() / exact.norm() < 0.1
