"""Several requests' forwards laid out for one launch: padded to a size, in two transfers.

Shapes: N rows of all requests, B requests, C pages of a request at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dlm.decoding.forwards import Forward
from dlm.kv_cache.pages import PagedCache
from kernels.context import Context

LEAST_ROWS = 16

Wishes = Sequence[tuple[PagedCache, Forward]]
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Packed:
    """What a launch reads, on the host, padded to a size.

    Attributes:
        long: (3, N) int64: ids, positions, and places in the store, -1 for padding.
        short: (B·(columns + 4) + 1,) int32: starts, lengths, causal, blocks and pages of `Context`.
        size: N and B.
        most_rows: Of any request.
    """

    long: Tensor
    short: Tensor
    size: Size
    most_rows: int

    @classmethod
    def of(cls, wishes: Wishes, columns: int) -> Packed:
        """Lay out some forwards; requests of at most so many pages.

        Raises:
            ValueError: A cache is full.
        """
        counts = [len(wish.ids) for _, wish in wishes]
        total, live = sum(counts), len(wishes)
        # Rows of padding are a request of their own, so that their numbers stay finite.
        rows, requests = padded(total, LEAST_ROWS), padded(live + 1, 2)
        long = np.zeros((3, rows), dtype=np.int64)
        long[2, total:] = -1
        numbers = np.zeros((3, requests), dtype=np.int32)
        numbers[0, live] = rows - total
        pages = np.zeros((requests, columns), dtype=np.int32)
        starts = np.full(requests + 1, rows, dtype=np.int32)
        starts[: live + 1] = np.cumsum([0, *counts])
        for index, (cache, wish) in enumerate(wishes):
            here = slice(starts[index], starts[index + 1])
            end = cache.length + len(wish.ids)
            long[:, here] = wish.ids, np.arange(cache.length, end), cache.reserve(len(wish.ids))
            numbers[:, index] = end, wish.causal, wish.block
            pages[index, : len(cache.pages)] = cache.pages
        short = np.concatenate((starts, numbers.ravel(), pages.ravel()))
        most = max(*counts, rows - total)
        return cls(torch.from_numpy(long), torch.from_numpy(short), (rows, requests), most)


def context_of(short: Tensor, columns: int, most_rows: int) -> Context:
    """The context that `Packed.short` holds, wherever it lies by now."""
    requests = (len(short) - 1) // (columns + 4)
    ends = [requests + 1, requests, requests, requests, requests * columns]
    starts, lengths, causal, blocks, pages = torch.split(short, ends)
    return Context(pages.view(requests, columns), starts, lengths, causal, blocks, most_rows)


def padded(count: int, least: int) -> int:
    """The next power of 2."""
    return max(least, 1 << (count - 1).bit_length())
