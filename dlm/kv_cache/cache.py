"""Keys and values of committed positions, in one preallocated buffer per request.

A forward writes its new positions after the committed ones; until they are committed
(`Cache.commit`), the next forward overwrites them. So a block can be denoised any number of times,
and its keys and values are kept once, from the forward that saw its final tokens.
"""

from __future__ import annotations

import math
import weakref
from abc import ABC, abstractmethod
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from dlm.kv_cache.buffers import Buffers


class Cache(ABC):
    """One request's keys and values, as the runner of its forwards stores them.

    Attributes:
        capacity: Positions that fit.
        length: Positions committed.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory held, in use or not."""

    @abstractmethod
    def copy(self, length: int, capacity: int) -> Cache:
        """A new cache of a given capacity with the first ``length`` committed positions.

        Raises:
            ValueError: Fewer positions are committed, or they do not fit.
        """

    @abstractmethod
    def cut(self, length: int) -> Cache:
        """The cache with only its first ``length`` committed positions: itself, or a new one.

        Raises:
            ValueError: Fewer positions are committed.
            queue.Full: There is no memory for a new cache now.
        """

    def commit(self, positions: int) -> None:
        """Commit the first ``positions`` of the positions written last.

        Raises:
            ValueError: So many cannot have been written.
        """
        if not 0 <= positions <= self.capacity - self.length:
            raise ValueError(
                f"commit: got {positions} on top of {self.length}, capacity {self.capacity}"
            )
        self.length += positions

    def _end(self, positions: int) -> int:
        """The end of new positions after the committed ones; a ValueError if they do not fit."""
        end = self.length + positions
        if end > self.capacity:
            raise ValueError(f"cache: got {end} positions, expected at most {self.capacity}")
        return end

    def _check_copy(self, length: int, capacity: int) -> None:
        if not 0 <= length <= min(self.length, capacity):
            raise ValueError(
                f"copy: got {length} positions into {capacity}, of {self.length} committed"
            )


class CacheShape(Protocol):
    """The dimensions of a model that a cache needs, as `dlm.network.config.ModelConfig` has."""

    @property
    def num_hidden_layers(self) -> int:
        """Layers, each with keys and values of its own."""
        ...

    @property
    def num_key_value_heads(self) -> int:
        """H: heads of a layer's keys and values."""
        ...

    @property
    def head_dim(self) -> int:
        """D: size of a head."""
        ...


class KVCache(Cache):
    """One request's cache in one buffer of a dtype on a device.

    On a CPU, the buffer may come from reused ``buffers``; it is given back once the cache is no
    longer referred to.
    """

    def __init__(
        self,
        shape: CacheShape,
        capacity: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        buffers: Buffers | None = None,
    ) -> None:
        super().__init__(capacity)
        self._shape = shape
        self._buffers = buffers
        sizes = (
            shape.num_hidden_layers,
            2,
            capacity,
            shape.num_key_value_heads,
            shape.head_dim,
        )
        self._nbytes = math.prod(sizes) * dtype.itemsize
        if buffers is None:
            self._store = torch.empty(sizes, dtype=dtype, device=device)
        else:
            buffer = buffers.take(self._nbytes)
            self._nbytes = len(buffer)
            flat = torch.frombuffer(buffer, dtype=dtype, count=math.prod(sizes))
            self._store = flat.view(sizes)
            weakref.finalize(self, buffers.give, buffer)
        # All memory up to this position has been written, if only with zeros.
        self._filled = 0

    @property
    def nbytes(self) -> int:
        """Memory of the buffer, in use or not."""
        return self._nbytes

    def cut(self, length: int) -> KVCache:
        """See `Cache.cut`."""
        self._check_copy(length, self.capacity)
        self.length = length
        return self

    def write(
        self, layer: int, keys: Tensor, values: Tensor, wanted: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Write new keys and values, each (1, K, T, N), after the committed ones; return all.

        Returns:
            Keys and values, each (1, K, S, N), where S is the larger of length + T and ``wanted``.
            Positions after the new ones hold arbitrary finite numbers. Views of the buffer if it is
            long enough.

        Raises:
            ValueError: They do not fit.
        """
        end = self._end(keys.shape[2])
        self._fill(wanted)
        store = self._store[layer].transpose(1, 2)
        store[0, :, self.length : end] = keys[0]
        store[1, :, self.length : end] = values[0]
        seen = max(end, wanted)
        missing = (0, 0, 0, max(0, seen - self.capacity))
        both = store[:, :, :seen] if not missing[-1] else functional.pad(store, missing)
        return both[0:1], both[1:2]

    def open(self, positions: int) -> Tensor:
        """The memory of all layers, for new positions to be written after the committed ones.

        Returns:
            (layers, 2, capacity, K, N): each layer's keys, then its values.

        Raises:
            ValueError: They do not fit.
        """
        self._end(positions)
        return self._store

    def _fill(self, end: int) -> None:
        """Write zeros up to ``end`` where nothing was written yet.

        Masked values are still multiplied by 0, so they must be finite. The first layer of a
        forward does this for all layers.
        """
        if end > self._filled:
            self._store[:, :, max(self._filled, self.length) : end] = 0
            self._filled = end

    def copy(self, length: int, capacity: int) -> KVCache:
        """See `Cache.copy`."""
        self._check_copy(length, capacity)
        other = KVCache(self._shape, capacity, self._store.dtype, self._store.device, self._buffers)
        other._store[:, :, :length] = self._store[:, :, :length]
        other.length = length
        return other
