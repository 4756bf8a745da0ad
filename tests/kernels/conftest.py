"""Fixtures shared by the kernels' tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch


@pytest.fixture
def device() -> torch.device:
    """CUDA where there is one; else the CPU, on which Triton's interpreter runs the kernels."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Numbers drawn from torch's own generators are the same in every run."""
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that nobody wrote is nan, or a number too large for anything: outputs and sums."""
    for name in ("empty", "empty_like"):
        monkeypatch.setattr(torch, name, _poisoned(getattr(torch, name)))


def _poisoned(made: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def fresh(*given: Any, **options: Any) -> torch.Tensor:
        tensor = made(*given, **options)
        if tensor.is_floating_point():
            return tensor.fill_(torch.nan)
        return tensor.fill_(True if tensor.dtype == torch.bool else torch.iinfo(tensor.dtype).max)

    return fresh
