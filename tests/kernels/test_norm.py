"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from kernels import reference

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import norm

TOLERANCES = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1e-2}


def assert_parity(x: torch.Tensor, residual: torch.Tensor | None, weight: torch.Tensor) -> None:
    """Output poisoned first, so that a row that was not written shows."""
    tolerance = TOLERANCES[x.dtype]
    kept = None if residual is None else residual.clone()
    out = torch.full(x.shape, torch.nan, dtype=x.dtype, device=x.device)
    norm.add_norm_into(x, residual, weight, 1e-5, out)
    expected = reference.add_norm(x, kept, weight, 1e-5)
    torch.testing.assert_close(out, expected, rtol=tolerance, atol=tolerance)
    if residual is not None and kept is not None:
        torch.testing.assert_close(residual, kept, rtol=tolerance, atol=0)


def check_parity(device: torch.device, dtype: torch.dtype = torch.float32) -> None:
    for rows, width in [(1, 1), (3, 63), (2, 256), (5, 500)]:
        generator = torch.Generator().manual_seed(width)
        x = torch.randn(rows, width, generator=generator).to(device, dtype)
        residual = torch.randn(rows, width, generator=generator).to(device, dtype)
        weight = torch.randn(width, generator=generator).to(device, dtype)
        assert_parity(x, residual, weight)
        assert_parity(x, None, weight)


def check_small_rows(device: torch.device) -> None:
    """Where eps counts as much as the numbers do."""
    weight = torch.ones(40, device=device)
    assert_parity(torch.full((2, 40), 3e-3, device=device), None, weight)
    assert_parity(torch.zeros(2, 40, device=device), torch.zeros(2, 40, device=device), weight)


CHECKS = (check_parity, check_small_rows)


def test_rows_may_be_strided(device: torch.device) -> None:
    wide = torch.full((6, 90), torch.nan, device=device)
    wide[::2, 10:73] = torch.randn(3, 63, device=device)
    assert_parity(
        wide[::2, 10:73], torch.randn(3, 63, device=device), torch.ones(63, device=device)
    )


def test_the_reference_is_what_torch_computes() -> None:
    x, weight = torch.randn(3, 20), torch.randn(20)
    expected = torch.nn.functional.rms_norm(x, (20,), weight, 1e-5)
    torch.testing.assert_close(reference.add_norm(x, None, weight, 1e-5), expected)
