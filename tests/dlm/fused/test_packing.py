from __future__ import annotations

import numpy as np
import pytest
import torch

from dlm.decoding.forwards import Forward
from dlm.fused.packing import Packed, context_of, padded
from dlm.kv_cache.pages import PagedCache, PageStore

COLUMNS = 5


def batch() -> list[tuple[PagedCache, Forward]]:
    store = PageStore(torch.zeros(1, 2, 20, 4, 1, 2))
    begun, fresh = PagedCache(store, 12), PagedCache(store, 6)
    begun.reserve(7)
    begun.commit(7)
    return [(begun, Forward([30, 31, 32], 1)), (fresh, Forward([40, 41], 0, block=4))]


def test_requests_lie_behind_each_other_and_padding_is_one_of_them() -> None:
    asked = batch()
    packed = Packed.of(asked, COLUMNS)
    assert packed.size == (16, 4)
    assert packed.most_rows == 11
    ids, positions, slots = packed.long.tolist()
    assert ids == [30, 31, 32, 40, 41, *[0] * 11]
    assert positions[:5] == [7, 8, 9, 0, 1]
    assert slots[5:] == [-1] * 11
    expected = np.concatenate((asked[0][0].reserve(3), asked[1][0].reserve(2)))
    assert slots[:5] == expected.tolist()
    context = context_of(packed.short, COLUMNS, packed.most_rows)
    assert context.starts.tolist() == [0, 3, 5, 16, 16]
    assert context.lengths.tolist() == [10, 2, 1, 0]
    assert context.causal.tolist() == [1, 0, 0, 0]
    assert context.blocks.tolist() == [0, 4, 0, 0]
    assert context.pages[0].tolist() == [*asked[0][0].pages.tolist(), 0, 0]
    assert context.pages[1, :2].tolist() == asked[1][0].pages.tolist()


def test_a_cache_may_have_more_pages_than_a_context() -> None:
    cache = PagedCache(PageStore(torch.zeros(1, 2, 20, 4, 1, 2)), 4 * COLUMNS + 5)
    packed = Packed.of([(cache, Forward([30], 1))], COLUMNS)
    context = context_of(packed.short, COLUMNS, packed.most_rows)
    assert context.pages[0].tolist() == cache.pages[:COLUMNS].tolist()


def test_a_full_cache_is_refused() -> None:
    (begun, _), *_ = batch()
    with pytest.raises(ValueError, match="cache: got 13 positions, expected at most 12"):
        Packed.of([(begun, Forward([30] * 6, 6))], COLUMNS)


def test_sizes_are_few() -> None:
    assert [padded(n, 16) for n in (0, 1, 16, 17, 100)] == [16, 16, 16, 32, 128]
