from __future__ import annotations

import queue

import numpy as np
import pytest
import torch

from dlm.kv_cache.pages import PagedCache, PageStore

SIZE = 4


def store(pages: int = 10) -> PageStore:
    return PageStore(torch.zeros(2, 2, pages, SIZE, 1, 3))


def write(held: PageStore, cache: PagedCache, count: int) -> None:
    """File and commit so many positions: each holds its own number."""
    slots = torch.from_numpy(cache.reserve(count))
    numbers = torch.arange(cache.length, cache.length + count, dtype=torch.float32)
    held.tensor.view(2, 2, -1, 1, 3)[:, :, slots] = numbers[:, None, None]
    cache.commit(count)


def read(held: PageStore, cache: PagedCache) -> list[float]:
    at = np.arange(cache.length)
    slots = torch.from_numpy(cache.pages[at // SIZE].astype(np.int64) * SIZE + at % SIZE)
    flat = held.tensor.view(4, -1, 3)[:, slots]
    assert (flat == flat[:1, :, :1]).all()
    out: list[float] = flat[0, :, 0].tolist()
    return out


def test_positions_are_kept_in_the_order_they_came() -> None:
    held = store()
    one, other = PagedCache(held, 10), PagedCache(held, 5)
    for cache in (one, other, one):
        write(held, cache, 5)
    assert read(held, one) == list(range(10))
    assert read(held, other) == list(range(5))
    assert (one.capacity, one.nbytes) == (10, 3 * held.page_bytes)
    assert held.page_bytes == 2 * 2 * SIZE * 3 * 4


def test_a_copy_shares_whole_pages_and_goes_on_by_itself() -> None:
    held = store()
    cache = PagedCache(held, 12)
    write(held, cache, 10)
    copy = cache.copy(10, 15)
    assert held.free == 10 - 3 - 2
    assert copy.pages[:2].tolist() == cache.pages[:2].tolist()
    write(held, copy, 5)
    write(held, cache, 2)
    assert read(held, copy) == list(range(15))
    assert read(held, cache) == list(range(12))
    shorter = cache.copy(6, 6)
    assert (shorter.length, held.free) == (6, 10 - 3 - 2 - 1)
    assert read(held, shorter) == list(range(6))


def test_pages_are_free_again_when_nobody_holds_them() -> None:
    held = store()
    cache = PagedCache(held, 12)
    write(held, cache, 9)
    copy = cache.copy(9, 9)
    del cache
    assert held.free == 10 - 3
    assert read(held, copy) == list(range(9))
    del copy
    assert held.free == 10


def test_what_is_cut_off_stays_with_who_shares_it() -> None:
    held = store()
    cache = PagedCache(held, 12)
    write(held, cache, 10)
    other = cache.copy(10, 12)
    cut = cache.cut(3)
    write(held, cut, 6)
    assert (cut.capacity, read(held, cut)[:3]) == (12, [0, 1, 2])
    assert read(held, other) == list(range(10))


def test_too_little_room_is_told_and_changes_nothing() -> None:
    held = store(3)
    cache = PagedCache(held, 8)
    write(held, cache, 8)
    with pytest.raises(queue.Full, match="got 8 positions, 4 are free"):
        PagedCache(held, 8)
    with pytest.raises(queue.Full):
        cache.copy(5, 16)
    assert held.free == 1
    with pytest.raises(ValueError, match="got 9 positions, expected at most 8"):
        cache.reserve(1)
