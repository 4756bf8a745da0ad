"""Prompts whose keys and values are kept: a dialogue's next turn pays for its new words alone."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlm.kv_cache.cache import Cache

Ids = Sequence[int] | NDArray[np.int64]
"""Tokens. As an array they need no conversion, which takes milliseconds where they are many."""

DEFAULT_BYTES = 256 * 2**20

GROWTH = 4
"""The cache of a dialogue that goes on gets one part in so many more than the turn needs."""


@dataclass(slots=True, eq=False)
class _Entry:
    ids: NDArray[np.int64]
    cache: Cache


class PrefixPool:
    """Least-recently-used caches of finished requests; the engine's thread owns it.

    Args:
        make: Builds an empty cache of a capacity.
        limit_bytes: See `limit_bytes`.
        unit: Prefixes are shared in multiples of so many positions: 1, or the block within which
            positions see each other.

    Attributes:
        limit_bytes: Memory of the caches kept; the one unused for longest goes first.
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
        """Memory of the caches kept; any thread may ask."""
        return sum(entry.cache.nbytes for entry in tuple(self._entries))

    def take(
        self,
        ids: Sequence[int],
        capacity: int,
        live: Iterable[tuple[Ids, Cache]] = (),
    ) -> Cache:
        """A cache with room for ``capacity`` that holds the longest known prefix of ``ids``.

        At least the last id is left to forward, since its logits are wanted. A kept cache that this
        prompt continues is handed over; one that it only shares a beginning with is copied, as its
        own dialogue may go on.

        Args:
            ids: Of the prompt.
            capacity: Positions wanted.
            live: Ids and caches of requests that are under way, which are copied from as well.

        Raises:
            queue.Full: There is no memory for it, with nothing kept any more.
        """
        under_way = tuple(live)
        while True:
            try:
                return self._taken(ids, capacity, under_way)
            except queue.Full:
                # What is kept for later gives way to what is wanted now.
                if not self._entries:
                    raise
                self._entries.pop(0)

    def _taken(self, ids: Sequence[int], capacity: int, live: Iterable[tuple[Ids, Cache]]) -> Cache:
        wanted = np.asarray(ids[:-1], dtype=np.int64)
        best, shared = None, 0
        for entry in self._entries:
            length = self._shared(entry.ids, wanted)
            if length > shared:
                best, shared = entry, length
        lender = None
        for others, cache in live:
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
            # Else every turn would copy all that was said before it.
            cache = best.cache.copy(shared, capacity + capacity // GROWTH)
        else:
            cache = best.cache.copy(shared, capacity)
        self._entries.remove(best)
        if not whole:
            self._entries.append(best)
        return cache

    def give(self, ids: Ids, cache: Cache) -> None:
        """Keep a cache that holds exactly the keys and values of ``ids``.

        Of two that begin alike throughout, the longer serves for both. Unused room is kept for a
        dialogue's next turn as long as there is memory.

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
                    # There is no memory for a smaller copy beside it.
                    self._entries.remove(entry)
        while self.nbytes > self.limit_bytes:
            self._entries.pop(0)

    def _shared(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
        return common_prefix(left, right) // self._unit * self._unit


def common_prefix(left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """How many ids two sequences begin with alike."""
    size = min(len(left), len(right))
    different = np.flatnonzero(left[:size] != right[:size])
    return int(different[0]) if len(different) else size
