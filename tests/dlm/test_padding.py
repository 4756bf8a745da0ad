from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from dlm.padding import GRAIN, padded


@pytest.mark.parametrize(("rows", "after"), [(1, 16), (15, 16), (16, 16), (17, 32), (48, 48)])
def test_rows_are_filled_up_with_zeros(rows: int, after: int) -> None:
    x = torch.randn(rows, 3)
    out = padded(x)
    assert out.shape == (after, 3)
    assert torch.equal(out[:rows], x) and not out[rows:].any()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("inner", "outer"), [(256, 1024), (768, 256), (48, 32), (1000, 96)])
def test_a_row_gets_the_same_bits_in_any_company(inner: int, outer: int, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        generator = torch.Generator().manual_seed(1)
        weight = torch.randn(outer, inner, generator=generator)
        row = torch.randn(1, inner, generator=generator)
        alone = functional.linear(padded(row), weight)[0]
        for count in (2, 7, 16, 33, 5 * GRAIN, 300):
            for place in (0, count // 2, count - 1):
                rows = torch.randn(count, inner, generator=generator)
                rows[place] = row
                assert torch.equal(functional.linear(padded(rows), weight)[place], alone)
    finally:
        torch.set_num_threads(before)
