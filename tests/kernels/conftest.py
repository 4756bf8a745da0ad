"""Fixtures shared by the kernels' tests."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture
def device() -> torch.device:
    """CUDA where there is one; else the CPU, on which Triton's interpreter runs the kernels."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
