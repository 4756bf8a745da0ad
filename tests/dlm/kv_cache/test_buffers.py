from __future__ import annotations

import mmap
import random

import pytest
import torch

from dlm.decoding.forwards import Eager
from dlm.kv_cache.buffers import Buffers, rounded
from dlm.kv_cache.cache import KVCache
from dlm.kv_cache.prefix import PrefixPool
from tests.dlm.tiny import config, model

PAGE = mmap.PAGESIZE


@pytest.mark.parametrize("size", [1, PAGE, PAGE + 1, 9 * PAGE, 1_000_000, 7_654_321])
def test_a_buffer_is_of_whole_pages_and_a_quarter_larger_at_most(size: int) -> None:
    assert size <= rounded(size) <= max(size * 5 // 4, size + PAGE)
    assert rounded(size) % PAGE == 0
    assert rounded(rounded(size)) == rounded(size)


def test_the_engine_s_caches_share_their_memory() -> None:
    net = Eager(model())
    sizes = []
    for capacity in (500, 480, 510):
        cache = net.cache(capacity)
        longer = cache.copy(0, 2 * capacity)
        sizes.append((cache.nbytes, longer.nbytes))
        del cache, longer
    assert net.buffers is not None
    assert len(set(sizes)) == 1
    assert net.buffers.made == 2


def test_what_a_buffer_held_before_is_never_seen() -> None:
    buffers = Buffers()
    first = KVCache(config(), 64, buffers=buffers)
    first.write(0, *torch.full((2, 1, 2, 64, 8), torch.nan))
    del first
    cache = KVCache(config(), 64, buffers=buffers)
    keys, values = cache.write(0, *torch.ones(2, 1, 2, 3, 8), wanted=16)
    assert buffers.made == 1
    assert keys.shape[2] == 16
    assert bool(torch.isfinite(keys).all()) and bool(torch.isfinite(values).all())


def test_neither_a_smaller_nor_a_far_larger_buffer_is_taken() -> None:
    buffers = Buffers()
    buffers.give(buffers.take(8 * PAGE))
    assert len(buffers.take(16 * PAGE)) == 16 * PAGE
    assert len(buffers.take(PAGE)) == PAGE
    assert len(buffers.take(7 * PAGE)) == 8 * PAGE
    assert buffers.made == 3


def test_what_is_to_spare_is_limited() -> None:
    buffers = Buffers(4 * PAGE)
    for taken in [buffers.take(2 * PAGE) for _ in range(5)]:
        buffers.give(taken)
    assert buffers.spare_bytes == 10 * PAGE
    buffers.take(2 * PAGE)
    assert buffers.spare_bytes == 4 * PAGE


def test_memory_is_flat_over_dialogues_that_come_and_go() -> None:
    chance = random.Random(0)
    limit = 4_000 * KVCache(config(), 1).nbytes
    buffers = Buffers(limit)
    pool = PrefixPool(lambda size: KVCache(config(), size, buffers=buffers), limit)
    taken = 0
    for _ in range(30):
        ids = [chance.randrange(9) for _ in range(chance.randrange(300, 900))]
        for _ in range(10):
            ids += [chance.randrange(9) for _ in range(chance.randrange(10, 30))]
            caches = [pool.take([*ids, 1, 2], len(ids) + 60)]
            caches.append(pool.take(ids, len(ids) + 60, [([*ids, 1], caches[0])]))
            taken += 2
            while caches:
                caches[-1].length = len(ids)
                pool.give(ids, caches.pop())
            assert pool.nbytes + buffers.spare_bytes <= 3 * limit
    assert buffers.made < taken / 4
