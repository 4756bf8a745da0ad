from __future__ import annotations

import pytest
import torch

from dlm.kv_cache.cache import KVCache
from tests.dlm.tiny import config


def written(cache: KVCache, count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Write ``count`` positions into each layer; returns those of layer 1."""
    generator = torch.Generator().manual_seed(seed)
    for layer in range(2):
        keys, values = torch.randn(2, 1, 2, count, 8, generator=generator)
        cache.write(layer, keys, values)
    return keys, values


def test_what_is_committed_comes_before_what_is_written() -> None:
    cache = KVCache(config(), 10)
    first, _ = written(cache, 4, seed=1)
    cache.commit(3)
    keys, values = torch.randn(2, 1, 2, 2, 8)
    all_keys, all_values = cache.write(1, keys, values)
    assert all_keys.shape == all_values.shape == (1, 2, 5, 8)
    assert torch.equal(all_keys[:, :, :3], first[:, :, :3])
    assert torch.equal(all_keys[:, :, 3:], keys)
    assert torch.equal(all_values[:, :, 3:], values)


def test_too_many_positions_are_refused() -> None:
    cache = KVCache(config(), 4)
    with pytest.raises(ValueError, match="got 5 positions, expected at most 4"):
        written(cache, 5, seed=1)
    written(cache, 4, seed=1)
    with pytest.raises(ValueError, match="got 5 on top of 0"):
        cache.commit(5)
    with pytest.raises(ValueError, match="got -1"):
        cache.commit(-1)
    assert cache.length == 0


@pytest.mark.parametrize("capacity", [3, 30])
def test_a_copy_holds_the_beginning_and_is_apart(capacity: int) -> None:
    cache = KVCache(config(), 6)
    first, _ = written(cache, 6, seed=1)
    cache.commit(6)
    other = cache.copy(2, capacity)
    assert (other.length, other.capacity, cache.length) == (2, capacity, 6)
    keys = torch.zeros(1, 2, 1, 8)
    seen, _ = other.write(1, keys, keys)
    assert torch.equal(seen[:, :, :2], first[:, :, :2])
    kept, _ = cache.copy(6, 7).write(1, keys, keys)
    assert torch.equal(kept[:, :, :6], first)


@pytest.mark.parametrize(("length", "capacity"), [(7, 9), (5, 4), (-1, 9)])
def test_a_copy_of_what_is_not_there_is_refused(length: int, capacity: int) -> None:
    cache = KVCache(config(), 6)
    written(cache, 6, seed=1)
    cache.commit(6)
    with pytest.raises(ValueError, match=f"got {length} positions into {capacity}"):
        cache.copy(length, capacity)


def test_what_is_cut_off_is_written_over() -> None:
    cache = KVCache(config(), 6)
    first, _ = written(cache, 6, seed=1)
    cache.commit(6)
    with pytest.raises(ValueError, match="got 7 positions"):
        cache.cut(7)
    other = cache.cut(2)
    assert (other.length, other.capacity) == (2, 6)
    keys = torch.zeros(1, 2, 4, 8)
    seen, _ = other.write(1, keys, keys)
    assert torch.equal(seen, torch.cat((first[:, :, :2], keys), dim=2))


def test_more_than_is_written_may_be_asked_for() -> None:
    cache = KVCache(config(), 10)
    cache._store.fill_(torch.nan)
    first, _ = written(cache, 6, seed=1)
    cache.commit(2)
    keys, values = torch.randn(2, 1, 2, 3, 8)
    for wanted, seen in ((0, 5), (4, 5), (9, 9), (16, 16)):
        all_keys, all_values = cache.write(1, keys, values, wanted)
        assert all_keys.shape == all_values.shape == (1, 2, seen, 8)
        assert torch.equal(all_keys[:, :, :2], first[:, :, :2])
        assert torch.equal(all_keys[:, :, 2:5], keys)
        assert torch.equal(all_values[:, :, 2:5], values)
        # What was never written must be numbers: masked, they are multiplied by 0.
        assert bool(all_keys.isfinite().all() and all_values.isfinite().all())
