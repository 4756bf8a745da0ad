"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from kernels import reference

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import rope

TOLERANCES = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}
SIZE = 16


def assert_parity(
    qkv: torch.Tensor,
    slots: torch.Tensor,
    heads: tuple[int, int],
    norms: tuple[torch.Tensor, torch.Tensor] | None,
) -> None:
    """Queries poisoned first, the cache too: slots that are not filed must stay as they are."""
    rows, device = len(qkv), qkv.device
    angles = torch.rand(rows, SIZE // 2, device=device) * 6
    results = []
    for run in (rope.rope_into, reference.rope):
        out = (
            torch.full((rows, heads[0], SIZE), torch.nan, dtype=qkv.dtype, device=device),
            torch.full((9, heads[1], SIZE), 7.0, dtype=qkv.dtype, device=device),
            torch.full((9, heads[1], SIZE), 7.0, dtype=qkv.dtype, device=device),
        )
        run(qkv, norms, 1e-6, (angles.cos(), angles.sin()), slots, out)
        results.append(out)
    tolerance = TOLERANCES[qkv.dtype]
    for got, expected in zip(*results, strict=True):
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance)


def check_parity(device: torch.device, dtype: torch.dtype = torch.float32) -> None:
    for heads in [(1, 1), (4, 2), (3, 1)]:
        width = (heads[0] + 2 * heads[1]) * SIZE
        generator = torch.Generator().manual_seed(width)
        qkv = torch.randn(5, width, generator=generator).to(device, dtype)
        norms = torch.randn(2, SIZE, generator=generator).to(device, dtype)
        slots = torch.tensor([8, 0, -1, 3, 4], device=device)
        assert_parity(qkv, slots, heads, None)
        assert_parity(qkv, slots, heads, (norms[0], norms[1]))


def check_the_norm_is_of_one_head(device: torch.device) -> None:
    """Heads of very different sizes, and one so small that eps counts."""
    qkv = torch.randn(2, 4 * SIZE, device=device)
    qkv *= torch.tensor([1e-3, 1.0, 1e3, 1.0], device=device).repeat_interleave(SIZE)
    ones = torch.ones(SIZE, device=device)
    assert_parity(qkv, torch.tensor([1, 2], device=device), (2, 1), (ones, 2 * ones))


CHECKS = (check_parity, check_the_norm_is_of_one_head)


def test_rows_may_be_strided(device: torch.device) -> None:
    wide = torch.full((6, 100), torch.nan, device=device)
    wide[::2, 10:74] = torch.randn(3, 64, device=device)
    assert_parity(wide[::2, 10:74], torch.tensor([0, 1, 2], device=device), (2, 1), None)
