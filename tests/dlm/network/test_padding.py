from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from dlm.network.padding import GRAIN, STRETCH, padded, whole_keys


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


@pytest.mark.parametrize("head_dim", [8, 64, 128])
def test_a_query_gets_the_same_bits_however_far_the_keys_go_on(head_dim: int) -> None:
    generator = torch.Generator().manual_seed(2)
    queries, keys, values = torch.randn(3, 1, 2, 3 * STRETCH, head_dim, generator=generator)

    def attended(at: int, end: int) -> torch.Tensor:
        """The query at a position, when so many keys are there."""
        seen = whole_keys(end, head_dim)
        assert end <= seen <= end + STRETCH
        mask = torch.zeros(1, 1, GRAIN, seen)
        mask[..., at + 1 :] = -torch.inf
        asking = queries[:, :, at : at + 1].expand(-1, -1, GRAIN, -1).contiguous()
        seen_keys = keys[:, :, :seen], values[:, :, :seen]
        return functional.scaled_dot_product_attention(asking, *seen_keys, mask)[:, :, 0]

    for at in (0, 15, 100, 190, 200, 380, 390, 511, 600, 720, 1000):
        alone = attended(at, at + 1)
        for further in (2, 16, 37, 128, 200):
            assert torch.equal(attended(at, at + further), alone), (at, further)
