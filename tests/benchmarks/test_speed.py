"""Where there is no GPU the kernels' benchmark checks its cases on their references."""

from __future__ import annotations

import math

import pytest
import torch

from kernels import ops

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from benchmarks.kernels import speed


def test_every_case_agrees_with_its_reference() -> None:
    names = []
    for case in speed.cases(2, speed.SMALL, "cpu", torch.float32):
        # Without this a reference would be compared with itself.
        with ops.interpreted():
            assert speed.disagreement(case) < 1e-4
        assert case.moved > 0
        assert case.computed > 0
        names.append(case.name)
    assert set(names) == {"norm", "add_norm", "silu_mul", "unmask", "rope", "attention"}


def test_a_disagreement_is_noticed() -> None:
    wrong = speed.Case("wrong", lambda: torch.ones(4), lambda: torch.full((4,), 2.0), 1, 1)
    assert math.isclose(speed.disagreement(wrong), 0.5)
