"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch.nn import functional

from kernels import reference
from kernels.context import Context

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import attention
from kernels.attention import KEY_TILE

DTYPES = [torch.float16, torch.bfloat16, torch.float32]
Case = tuple[torch.Tensor, torch.Tensor, torch.Tensor, Context]


def case(
    requests: Sequence[tuple[int, int, int]],
    heads: tuple[int, int] = (4, 2),
    page: int = 8,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    block: int = 0,
) -> Case:
    """Requests (new rows, context, causal rows) over shuffled pages; what is unused is nan.

    Every second request's rows see to the end of their own block, where ``block`` is above 0.
    """
    generator = torch.Generator().manual_seed(sum(length for _, length, _ in requests))
    size = 16
    needed = [-(-length // page) for _, length, _ in requests]
    order = torch.randperm(sum(needed) + 3, generator=generator).tolist()
    table = torch.zeros(len(requests), max(needed), dtype=torch.int32)
    shape = (len(order), page, heads[1], size)
    keys = torch.full(shape, torch.nan)
    values = torch.full(shape, torch.nan)
    for request, (_, length, _) in enumerate(requests):
        for index in range(needed[request]):
            number = order.pop()
            table[request, index] = number
            used = min(page, length - index * page)
            keys[number, :used] = torch.randn(used, heads[1], size, generator=generator)
            values[number, :used] = torch.randn(used, heads[1], size, generator=generator)
    counts = torch.tensor([rows for rows, _, _ in requests])
    starts = functional.pad(counts.cumsum(0), (1, 0)).to(torch.int32)
    queries = torch.randn(int(counts.sum()), heads[0], size, generator=generator)
    context = Context(
        table.to(device),
        starts.to(device),
        torch.tensor([length for _, length, _ in requests], dtype=torch.int32, device=device),
        torch.tensor([causal for _, _, causal in requests], dtype=torch.int32, device=device),
        torch.tensor([i % 2 * block for i in range(len(requests))], dtype=torch.int32).to(device),
        int(counts.max()),
    )
    return *(x.to(device, dtype) for x in (queries, keys, values)), context  # type: ignore[return-value]


def run(given: Case, splits: int = 1) -> torch.Tensor:
    """Output poisoned first, so that a row that was not written shows."""
    out = torch.full_like(given[0], torch.nan)
    attention.attention_into(*given, splits, out)
    return out


def assert_parity(given: Case, splits: int = 1) -> None:
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[given[0].dtype]
    torch.testing.assert_close(
        run(given, splits), reference.attention(*given), rtol=tolerance, atol=tolerance
    )


def check_requests(device: torch.device) -> None:
    """Prefill, denoise, verify and a mixture in one launch, with a request that has no rows."""
    assert_parity(
        case(
            [(5, 5, 5), (16, 90, 0), (0, 9, 0), (0, 0, 0), (1, 1, 0), (7, 70, 7), (6, 20, 2)],
            device=device,
        )
    )


def check_splits(device: torch.device) -> None:
    """More splits than tiles of keys leave some with nothing to read."""
    for splits in (2, 4, 16):
        assert_parity(case([(3, 2 * KEY_TILE + 5, 1), (2, 4, 2)], device=device), splits)


def check_heads(device: torch.device) -> None:
    """Groups of one, of a number that is no power of 2, and of all heads."""
    for heads in [(2, 2), (6, 2), (5, 1)]:
        assert_parity(case([(4, 30, 2), (9, 11, 0)], heads=heads, device=device))


def check_blocks(device: torch.device) -> None:
    """Rows that begin and end inside of a block, beside rows without any."""
    assert_parity(
        case([(5, 5, 5), (16, 90, 0), (7, 70, 7), (6, 20, 2), (3, 9, 0), (1, 1, 1)],
             device=device, block=8)
    )  # fmt: skip


CHECKS = (check_requests, check_splits, check_heads, check_blocks)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype: torch.dtype, device: torch.device) -> None:
    assert_parity(case([(6, 40, 3), (2, 9, 0)], dtype=dtype, device=device))


def test_more_rows_than_a_tile(device: torch.device) -> None:
    assert_parity(case([(70, 75, 40)], heads=(2, 1), device=device))


def test_the_reference_is_the_plain_formula() -> None:
    queries, keys, values, context = case([(3, 7, 0)], heads=(2, 2), page=8)
    page = context.pages[0, 0]
    scores = torch.einsum("thn,shn->hts", queries, keys[page, :7]) / 4.0
    expected = torch.einsum("hts,shn->thn", scores.softmax(-1), values[page, :7])
    torch.testing.assert_close(reference.attention(queries, keys, values, context), expected)
