from __future__ import annotations

import queue
from collections.abc import Sequence

import pytest
import torch

from dlm.kv_cache.cache import KVCache
from dlm.kv_cache.pages import PagedCache, PageStore
from dlm.kv_cache.prefix import PrefixPool
from tests.dlm.tiny import config


def filled(ids: Sequence[int], capacity: int = 50) -> KVCache:
    """A cache whose keys are the ids themselves."""
    cache = KVCache(config(), capacity)
    keys = torch.tensor(ids, dtype=torch.float32)[None, None, :, None].expand(1, 2, -1, 8)
    for layer in range(2):
        cache.write(layer, keys, keys)
    cache.commit(len(ids))
    return cache


def held(cache: KVCache) -> list[int]:
    nothing = torch.zeros(1, 2, 0, 8)
    return [int(key) for key in cache.write(1, nothing, nothing)[0][0, 0, :, 0]]


POSITION_BYTES = KVCache(config(), 1).nbytes


def pool(positions: int = 100, unit: int = 1) -> PrefixPool:
    """A pool with memory for so many positions."""
    return PrefixPool(
        lambda capacity: KVCache(config(), capacity), positions * POSITION_BYTES, unit
    )


def test_a_dialogue_that_goes_on_gets_its_cache_back() -> None:
    kept = pool()
    cache = filled([1, 2, 3], capacity=3)
    kept.give([1, 2, 3], cache)
    assert kept.take([1, 2, 3, 4, 5], 3) is cache
    assert len(kept) == 0


def test_room_that_is_not_used_is_given_back_before_anything_is_lost() -> None:
    kept = pool(positions=100)
    kept.give([1, 2, 3], filled([1, 2, 3], capacity=60))
    assert kept.nbytes == 60 * POSITION_BYTES
    kept.give([4, 5], filled([4, 5], capacity=70))
    assert kept.nbytes == 73 * POSITION_BYTES
    kept.give([6], filled([6], capacity=4000))
    assert kept.nbytes == 6 * POSITION_BYTES
    assert len(kept) == 3


def test_requests_under_way_lend_what_they_know() -> None:
    kept = pool()
    kept.give([1, 2], filled([1, 2]))
    lender = filled([1, 2, 3, 4])
    # The last of its ids are decided and not forwarded yet.
    cache = kept.take([1, 2, 3, 9, 9], 50, [([1, 2, 3, 4, 9, 9], lender), ([1], filled([1]))])
    assert held(cache) == [1, 2, 3]
    assert cache is not lender
    assert len(kept) == 1


@pytest.mark.parametrize(("length", "shared"), [(3, 0), (4, 4), (7, 4), (9, 8)])
def test_blocks_are_shared_whole(length: int, shared: int) -> None:
    kept = pool(unit=4)
    kept.give(range(length), filled(range(length)))
    assert kept.take(range(20), 50).length == shared


def test_a_cache_that_is_too_small_grows() -> None:
    kept = pool()
    kept.give([1, 2, 3], filled([1, 2, 3], capacity=4))
    cache = kept.take([1, 2, 3, 4], 60)
    assert cache.capacity >= 60
    assert held(cache) == [1, 2, 3]


def test_a_dialogue_is_not_copied_in_every_turn() -> None:
    kept = pool(positions=4000)
    said, copies, before = list(range(400)), 0, None
    for _ in range(20):
        said += range(20)
        cache = kept.take(said, len(said) + 40)
        copies += cache is not before
        before = cache
        new = torch.zeros(1, 2, len(said) - cache.length, 8)
        for layer in range(2):
            cache.write(layer, new, new)
        cache.commit(len(said) - cache.length)
        kept.give(said, cache)
    assert copies <= 5


def test_the_last_id_is_left_to_forward() -> None:
    kept = pool()
    kept.give([1, 2, 3], filled([1, 2, 3]))
    assert held(kept.take([1, 2, 3], 50)) == [1, 2]


def test_what_only_begins_alike_is_copied() -> None:
    kept = pool()
    kept.give([1, 2, 3, 4], filled([1, 2, 3, 4]))
    other = kept.take([1, 2, 9, 9], 50)
    assert held(other) == [1, 2]
    nine = torch.full((1, 2, 1, 8), 9.0)
    other.write(1, nine, nine)
    assert held(kept.take([1, 2, 3, 4, 5], 50)) == [1, 2, 3, 4]


def test_the_one_unused_for_longest_goes() -> None:
    kept = pool(positions=6)
    kept.give([1, 1, 1], filled([1, 1, 1]))
    kept.give([2, 2, 2], filled([2, 2, 2]))
    # A copy counts as use.
    kept.take([1, 1, 5], 50)
    kept.give([3, 3, 3], filled([3, 3, 3]))
    assert len(kept) == 2
    assert kept.take([2, 2, 2, 2], 50).length == 0
    assert kept.take([1, 1, 1, 1], 50).length == 3


@pytest.mark.parametrize("order", [([1, 2], [1, 2, 3]), ([1, 2, 3], [1, 2]), ([1, 2, 3],) * 2])
def test_of_two_that_begin_alike_throughout_the_longer_is_kept(order: Sequence[list[int]]) -> None:
    kept = pool()
    for ids in order:
        kept.give(ids, filled(ids))
    assert len(kept) == 1
    assert held(kept.take([1, 2, 3, 4], 50)) == [1, 2, 3]


def test_ids_and_cache_must_fit() -> None:
    with pytest.raises(ValueError, match="got 2 ids for 3 cached positions"):
        pool().give([1, 2], filled([1, 2, 3]))


class Paged:
    """A pool whose caches share ten pages of four positions."""

    def __init__(self, limit_bytes: int = 2**20) -> None:
        self.store = PageStore(torch.zeros(2, 2, 10, 4, 1, 3))
        self.pool = PrefixPool(lambda capacity: PagedCache(self.store, capacity), limit_bytes)

    def keep(self, ids: Sequence[int], capacity: int) -> None:
        cache = self.pool.take(ids, capacity)
        cache.reserve(len(ids) - cache.length)
        cache.commit(len(ids) - cache.length)
        self.pool.give(ids, cache)


def test_what_is_kept_gives_way_where_there_is_no_memory_for_what_is_wanted() -> None:
    paged = Paged()
    for first in (1, 2, 3):
        paged.keep([first] * 12, 12)
    assert (len(paged.pool), paged.store.free) == (3, 1)
    cache = paged.pool.take([3] * 12 + [4], 24)
    assert (cache.length, cache.capacity) == (12, 30)
    assert len(paged.pool) == 0
    with pytest.raises(queue.Full):
        paged.pool.take([1], 24)


def test_a_beginning_that_is_copied_may_give_way_to_the_copy() -> None:
    paged = Paged()
    paged.keep([1] * 20, 20)
    cache = paged.pool.take([1] * 19 + [2], 40)
    assert (cache.length, cache.capacity) == (0, 40)


def test_what_cannot_be_made_smaller_for_want_of_memory_is_not_kept() -> None:
    paged = Paged(limit_bytes=1)
    paged.keep([1] * 5, 40)
    assert (len(paged.pool), paged.store.free) == (0, 10)
