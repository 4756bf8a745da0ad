"""Keys and values of all requests in one store of pages, so that one kernel launch serves many.

A copy of a cache shares the full pages of the original, and copies only the last, partly filled
one. Committed positions are never overwritten, so sharing is safe. A page is free again once no
cache holds it. The store belongs to the engine's thread.

Shapes: P positions of a page.
"""

from __future__ import annotations

import queue
import weakref
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dlm.kv_cache.cache import Cache


class PageStore:
    """Counts how many caches hold each page of a store.

    Args:
        tensor: (layers, 2, pages, P, key/value heads, numbers of a head).
    """

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self._free = list(range(tensor.shape[2]))
        self._holders = [0] * tensor.shape[2]

    @property
    def page_size(self) -> int:
        """P."""
        return self.tensor.shape[3]

    @property
    def page_bytes(self) -> int:
        """Memory of one page, over all layers."""
        return self.tensor.nbytes // self.tensor.shape[2]

    @property
    def free(self) -> int:
        """Number of pages that no cache holds."""
        return len(self._free)

    def take(self, count: int) -> list[int]:
        """Take and hold ``count`` free pages.

        Raises:
            queue.Full: Fewer pages are free.
        """
        if count > len(self._free):
            size = self.page_size
            raise queue.Full(f"cache: got {count * size} positions, {self.free * size} are free")
        taken = [self._free.pop() for _ in range(count)]
        self.hold(taken)
        return taken

    def hold(self, pages: Iterable[int]) -> None:
        """Hold pages, which other caches may hold as well."""
        for page in pages:
            self._holders[page] += 1

    def release(self, pages: Iterable[int]) -> None:
        """Stop holding pages; a page that no cache holds becomes free."""
        for page in pages:
            self._holders[page] -= 1
            if not self._holders[page]:
                self._free.append(page)


class PagedCache(Cache):
    """One request's keys and values, in pages of a store.

    Its pages are released when it is garbage-collected, like a tensor's memory. It may begin with
    pages that it shares with another cache.

    Attributes:
        pages: (ceil(capacity / P),) int32: entry i is the page of positions P·i to P·(i + 1) - 1.

    Raises:
        queue.Full: The store has too few free pages.
    """

    def __init__(self, store: PageStore, capacity: int, shared: Iterable[int] = ()) -> None:
        begun = [int(page) for page in shared]
        own = store.take(-(-capacity // store.page_size) - len(begun))
        store.hold(begun)
        super().__init__(capacity)
        self.pages: NDArray[np.int32] = np.array([*begun, *own], dtype=np.int32)
        self._store = store
        weakref.finalize(self, store.release, [*begun, *own])

    @property
    def nbytes(self) -> int:
        """Memory of its pages, shared ones included."""
        return len(self.pages) * self._store.page_bytes

    def reserve(self, positions: int) -> NDArray[np.int64]:
        """Slots in the store for new positions after the committed ones, (positions,).

        Raises:
            ValueError: They do not fit.
        """
        end = self._end(positions)
        at = np.arange(self.length, end)
        size = self._store.page_size
        return self.pages[at // size].astype(np.int64) * size + at % size

    def copy(self, length: int, capacity: int) -> PagedCache:
        """See `Cache.copy`; raises `queue.Full` if the store has too few free pages."""
        self._check_copy(length, capacity)
        whole, rest = divmod(length, self._store.page_size)
        other = PagedCache(self._store, capacity, self.pages[:whole])
        if rest:
            tensor = self._store.tensor
            tensor[:, :, other.pages[whole], :rest] = tensor[:, :, self.pages[whole], :rest]
        other.length = length
        return other

    def cut(self, length: int) -> PagedCache:
        """See `Cache.cut`; a copy, because other caches may hold pages to be overwritten."""
        return self.copy(length, self.capacity)
