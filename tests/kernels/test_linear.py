"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from kernels import ops, reference

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import linear
from kernels.linear import OUT_TILE, WIDTH_TILE, parts_of

DTYPES = [torch.float16, torch.bfloat16, torch.float32]
# How far sums of the same terms in float32 may lie apart when added in another order: a part of the
# terms' sizes, since what they leave may be small.
ORDER = 1e-6


def assert_parity(
    x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, parts: int = 1
) -> None:
    """Output poisoned first, so that a number that was not written shows."""
    out = torch.full((len(x), len(weight)), torch.nan, dtype=x.dtype, device=x.device)
    linear.linear_into(x, weight, scale, parts, out)
    expected = reference.linear(x, weight, scale).float()
    sizes = reference.linear(x.float().abs(), weight.float().abs(), scale)
    error = (out.float() - expected).abs()
    allowed = torch.finfo(x.dtype).eps * expected.abs() + ORDER * sizes
    assert (error <= allowed).all(), (error / allowed).max()


def check_parity(device: torch.device, dtype: torch.dtype = torch.float32) -> None:
    for rows, width, outs in [(1, 1, 1), (3, 63, 20), (17, WIDTH_TILE + 2, OUT_TILE + 3)]:
        generator = torch.Generator().manual_seed(width)
        x = torch.randn(rows, width, generator=generator).to(device, dtype)
        weight, scale = reference.quantize(
            torch.randn(outs, width, generator=generator), torch.int8
        )
        assert_parity(x, weight.to(device), scale.to(device))


def check_parts(device: torch.device) -> None:
    """Whole parts, a short one, and one with nothing in it."""
    x = torch.randn(2, 2 * WIDTH_TILE + 9, device=device)
    weight, scale = reference.quantize(torch.randn(5, x.shape[1], device=device), torch.int8)
    for parts in (2, 3, 5):
        assert_parity(x, weight, scale, parts)


def check_float8(device: torch.device) -> None:
    generator = torch.Generator().manual_seed(1)
    for outs, width in [(30, 70), (OUT_TILE + 1, WIDTH_TILE + 1)]:
        weight, scale = reference.quantize(
            torch.randn(outs, width, generator=generator), torch.float8_e4m3fn
        )
        x = torch.randn(4, width, generator=generator)
        for parts in (1, 2):
            assert_parity(x.to(device), weight.to(device), scale.to(device), parts)


CHECKS = (check_parity, check_parts, check_float8)


@pytest.mark.parametrize("check", CHECKS)
def test_agrees_with_the_reference(check, device: torch.device) -> None:  # type: ignore[no-untyped-def]
    check(device)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype: torch.dtype, device: torch.device) -> None:
    check_parity(device, dtype)


def test_parts_are_those_of_the_matrix() -> None:
    """As many as keep a large GPU busy, never more than there are tiles to share out."""
    assert parts_of(24_576, 4096) == 1
    assert parts_of(4096, 12_288) == 4
    assert parts_of(256, 256) == 2
    assert parts_of(1, 1) == 1


# The interpreter multiplies tiles of other sizes in another order.
@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn], ids=str)
def test_a_row_does_not_depend_on_the_others(dtype: torch.dtype, device: torch.device) -> None:
    generator = torch.Generator().manual_seed(2)
    weight, scale = reference.quantize(torch.randn(70, 300, generator=generator), dtype)
    weight, scale = weight.to(device), scale.to(device)
    x = torch.randn(32, 300, generator=generator).to(device, torch.bfloat16)
    together = ops.linear(x, weight, scale)
    for rows in (1, 5, 16, 31):
        assert torch.equal(ops.linear(x[:rows], weight, scale), together[:rows])


def test_inputs_may_be_strided(device: torch.device) -> None:
    wide = torch.full((6, 90), torch.nan, device=device)
    wide[::2, 10:73] = torch.randn(3, 63, device=device)
    weight = torch.zeros(10, 80, dtype=torch.int8, device=device)
    weight[:, 5:68] = torch.randint(-127, 128, (10, 63), device=device)
    assert_parity(wide[::2, 10:73], weight[:, 5:68], torch.rand(10, device=device))
