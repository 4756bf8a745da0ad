"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from kernels import reference

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import mlp
from kernels.mlp import TILE


def assert_parity(gate_up: torch.Tensor) -> None:
    """Output poisoned first, so that a number that was not written shows."""
    shape = (gate_up.shape[0], gate_up.shape[1] // 2)
    out = torch.full(shape, torch.nan, dtype=gate_up.dtype, device=gate_up.device)
    mlp.silu_mul_into(gate_up, out)
    tolerance = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[gate_up.dtype]
    torch.testing.assert_close(out, reference.silu_mul(gate_up), rtol=tolerance, atol=tolerance)


def check_parity(device: torch.device, dtype: torch.dtype = torch.float32) -> None:
    for rows, width in [(1, 1), (3, 63), (2, TILE), (2, TILE + 5)]:
        generator = torch.Generator().manual_seed(width)
        assert_parity(torch.randn(rows, 2 * width, generator=generator).to(device, dtype))


def check_extremes(device: torch.device) -> None:
    gates = torch.tensor([-200.0, -89.0, -1.0, 0.0, 1.0, 89.0, 200.0], device=device)
    assert_parity(torch.cat((gates, torch.full_like(gates, 3.0)))[None])


CHECKS = (check_parity, check_extremes)


def test_rows_may_be_strided(device: torch.device) -> None:
    wide = torch.full((6, 200), torch.nan, device=device)
    wide[::2, 10:136] = torch.randn(3, 126, device=device)
    assert_parity(wide[::2, 10:136])
