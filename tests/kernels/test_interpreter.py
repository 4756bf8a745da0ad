from __future__ import annotations

import pytest
import torch

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels.interpreter import INTERPRETED


def test_kernels_are_interpreted_where_there_is_no_device() -> None:
    assert not torch.cuda.is_available() or not INTERPRETED
