"""Every kernel's checks against its reference, in every number format."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from tests.kernels import test_attention, test_mlp, test_norm, test_rope, test_unmask

CHECKS = [
    pytest.param(check, id=f"{module.__name__.rpartition('_')[2]}-{check.__name__}")
    for module in (test_attention, test_mlp, test_norm, test_rope, test_unmask)
    for check in module.CHECKS
]


@pytest.mark.parametrize("check", CHECKS)
def test_agrees_with_the_reference(
    check: Callable[[torch.device], None], device: torch.device
) -> None:
    check(device)


@pytest.mark.parametrize("module", [test_mlp, test_norm, test_rope])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_every_dtype(module: object, dtype: torch.dtype, device: torch.device) -> None:
    module.check_parity(device, dtype)  # type: ignore[attr-defined]
