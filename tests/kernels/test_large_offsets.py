"""Rows 2**30 numbers apart: offsets beyond 2**31, in memory that is hardly ever touched."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch

from kernels import ops, reference
from kernels.context import Context

pytest.importorskip("triton", reason="Triton ships for Linux alone")

APART = 2**30
ROWS = 3


@pytest.fixture(scope="module")
def memory() -> torch.Tensor:
    """Zeros that the system provides only where something is written."""
    zeros = torch.from_numpy(np.zeros((ROWS - 1) * APART + 2**12, dtype=np.float16))
    return zeros.to("cuda" if torch.cuda.is_available() else "cpu")


def rows_of(memory: torch.Tensor, width: int, at: int = 0) -> torch.Tensor:
    """(3, width) of random numbers, far apart."""
    rows = memory.as_strided((ROWS, width), (APART, 1), at)
    generator = torch.Generator().manual_seed(width)
    rows.copy_(torch.randn(ROWS, width, generator=generator))
    return rows


def assert_same(got: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(got, expected, rtol=2e-3, atol=2e-3)


def test_silu_mul(memory: torch.Tensor) -> None:
    gate_up = rows_of(memory, 40)
    with ops.interpreted():
        assert_same(ops.silu_mul(gate_up), reference.silu_mul(gate_up))


def test_add_norm(memory: torch.Tensor) -> None:
    x, weight = rows_of(memory, 30), torch.ones(30, device=memory.device)
    with ops.interpreted():
        assert_same(ops.add_norm(x, None, weight, 1e-6), reference.add_norm(x, None, weight, 1e-6))


def test_unmask(memory: torch.Tensor) -> None:
    hidden, weight = rows_of(memory, 24), rows_of(memory, 24, at=100)
    rows = torch.arange(ROWS, device=memory.device)
    with ops.interpreted():
        got = ops.unmask(hidden, weight, rows)
    for one, expected in zip(got, reference.unmask(hidden, weight, rows, None, None), strict=True):
        assert_same(one, expected)


def test_rope(memory: torch.Tensor) -> None:
    """A far row of the projection, and far slots of the cache."""
    qkv = rows_of(memory, 48, at=200)
    count = len(memory) - 1024
    keys, values = (memory[at : at + count].view(-1, 1, 16) for at in (0, 1024))
    slots = torch.tensor([len(keys) - 9, 40, -1], device=memory.device)
    angles = torch.full((2, ROWS, 8), 0.5, device=memory.device)
    found = []
    for interpreted in (ops.interpreted, nullcontext):
        keys[slots[:2]] = values[slots[:2]] = 7.0
        with interpreted():
            queries = ops.rope(qkv, None, 1e-6, (angles[0], angles[1]), slots, (keys, values))
        found.append((queries, keys[slots[:2]].clone(), values[slots[:2]].clone()))
    for got, expected in zip(*found, strict=True):
        assert_same(got, expected)


def test_attention(memory: torch.Tensor) -> None:
    """Pages at both ends of a cache."""
    device, page = memory.device, 64
    cache = memory[: len(memory) // 1024 * 1024].view(-1, page, 1, 16)
    pages = torch.tensor([[len(cache) - 1, 1]], dtype=torch.int32, device=device)
    generator = torch.Generator().manual_seed(0)
    for number in pages[0].tolist():
        cache[number].copy_(torch.randn(page, 1, 16, generator=generator))
    one = torch.ones(1, dtype=torch.int32, device=device)
    starts = torch.tensor([0, 2], dtype=torch.int32, device=device)
    context = Context(pages, starts, one * 100, one, one * 0, 2)
    queries = torch.randn(2, 2, 16, generator=generator).to(device, cache.dtype)
    with ops.interpreted():
        got = ops.attention(queries, cache, cache, context)
    assert_same(got, reference.attention(queries, cache, cache, context))
