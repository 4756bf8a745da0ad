"""Keeps keys and values of prompts, so that a dialogue's next turn forwards only its new words."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.kv_cache.cache import Cache

Ids = Sequence[int] | NDArray[np.int64]
"""Token ids. An array saves a conversion that takes milliseconds for long prompts."""

DEFAULT_BYTES = 256 * 2**20

GROWTH = 4
"""A cache that grows with its dialogue gets one part in `GROWTH` of extra room."""


@dataclass(slots=True, eq=False)
class _Entry:
    ids: NDArray[np.int64]
    cache: Cache


class PrefixPool:
    """Caches of finished requests, kept for prompts that begin alike.

    The engine's thread owns the pool.

    Args:
        make: Builds an empty cache of a given capacity.
        limit_bytes: See the attribute.
        unit: Prefixes are shared in multiples of this many positions: 1, or the block size if all
            positions of a block see each other.

    Attributes:
        limit_bytes: Most memory of the kept caches; the least recently used is dropped first.
    """

    def __init__(
        self,
        make: Callable[[int], Cache],
        limit_bytes: int = DEFAULT_BYTES,
        unit: int = 1,
    ) -> None:
        self._make = make
        self.limit_bytes = limit_bytes
        self._unit = unit
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        """Memory of the kept caches; any thread may read it."""
        return sum(entry.cache.nbytes for entry in tuple(self._entries))

    def take(
        self,
        ids: Sequence[int],
        capacity: int,
        running: Iterable[tuple[Ids, Cache]] = (),
    ) -> Cache:
        """A cache with room for ``capacity`` that holds the longest known prefix of ``ids``.

        At least the last id is left to be forwarded, because its logits are needed. A kept cache
        that this prompt continues is handed over; one that only shares a beginning with it is
        copied, because its own dialogue may go on. Caches of ``running`` requests are copied from
        as well.

        Raises:
            queue.Full: There is no memory for it, even after dropping all kept caches.
        """
        unfinished = tuple(running)
        while True:
            try:
                return self._take(ids, capacity, unfinished)
            except queue.Full:
                # Drop kept caches in favour of the one that is needed now.
                if not self._entries:
                    raise
                self._entries.pop(0)

    def _take(
        self, ids: Sequence[int], capacity: int, running: Iterable[tuple[Ids, Cache]]
    ) -> Cache:
        wanted = np.asarray(ids[:-1], dtype=np.int64)
        best, shared = None, 0
        for entry in self._entries:
            length = self._shared(entry.ids, wanted)
            if length > shared:
                best, shared = entry, length
        lender = None
        for others, cache in running:
            length = self._shared(np.asarray(others[: cache.length], dtype=np.int64), wanted)
            if length > shared:
                lender, shared = cache, length
        if lender is not None:
            return lender.copy(shared, capacity)
        if best is None:
            return self._make(capacity)
        whole = shared == len(best.ids)
        if whole and best.cache.capacity >= capacity:
            cache = best.cache
        elif whole:
            # With extra room; otherwise every turn would copy the whole dialogue again.
            cache = best.cache.copy(shared, capacity + capacity // GROWTH)
        else:
            cache = best.cache.copy(shared, capacity)
        self._entries.remove(best)
        if not whole:
            self._entries.append(best)
        return cache

    def give(self, ids: Ids, cache: Cache) -> None:
        """Keep a cache that holds exactly the keys and values of ``ids``.

        If one cache is a prefix of another, only the longer is kept. Unused room is kept for the
        dialogue's next turn as long as the limit allows.

        Raises:
            ValueError: The lengths do not fit.
        """
        if cache.length != len(ids):
            raise ValueError(f"got {len(ids)} ids for {cache.length} cached positions")
        new = _Entry(np.asarray(ids, dtype=np.int64), cache)
        for entry in list(self._entries):
            shared = common_prefix(entry.ids, new.ids)
            if shared == len(entry.ids):
                self._entries.remove(entry)
            elif shared == len(new.ids):
                self._entries.remove(entry)
                new = entry
        if new.cache.length:
            self._entries.append(new)
        self._keep_within_limit()

    def _keep_within_limit(self) -> None:
        for entry in tuple(self._entries):
            if entry.cache.capacity > entry.cache.length:
                if self.nbytes <= self.limit_bytes:
                    return
                try:
                    entry.cache = entry.cache.copy(entry.cache.length, entry.cache.length)
                except queue.Full:
                    # There is no memory for a smaller copy next to it.
                    self._entries.remove(entry)
        while self.nbytes > self.limit_bytes:
            self._entries.pop(0)

    def _shared(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
        return common_prefix(left, right) // self._unit * self._unit


def common_prefix(left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """Length of the longest common prefix of two sequences."""
    size = min(len(left), len(right))
    different = np.flatnonzero(left[:size] != right[:size])
    return int(different[0]) if len(different) else size
