"""Lays out several requests' forwards for one launch: padded to a size, in two tensors.

Shapes: N rows of all requests, B requests.
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

Batch = Sequence[tuple[PagedCache, Forward]]
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Packed:
    """Inputs of a launch, on the host, padded to a size.

    Attributes:
        long: (3, N) int64: ids, positions, and slots in the store, which are -1 for padding.
        short: (B·(columns + 4) + 1,) int32: starts, lengths, causal, blocks and pages of `Context`.
        size: N and B.
        most_rows: Number of rows of the request that has most.
    """

    long: Tensor
    short: Tensor
    size: Size
    most_rows: int

    @classmethod
    def of(cls, batch: Batch, columns: int) -> Packed:
        """Lay out a batch of requests that use at most ``columns`` pages each.

        Raises:
            ValueError: A cache is full.
        """
        counts = [len(asked.ids) for _, asked in batch]
        total, live = sum(counts), len(batch)
        # The padding rows form a request of their own, so that their numbers stay finite. They see
        # one position, because the page table may have too few columns for all of them.
        rows, requests = padded(total, LEAST_ROWS), padded(live + 1, 2)
        long = np.zeros((3, rows), dtype=np.int64)
        long[2, total:] = -1
        numbers = np.zeros((3, requests), dtype=np.int32)
        numbers[0, live] = 1
        pages = np.zeros((requests, columns), dtype=np.int32)
        starts = np.full(requests + 1, rows, dtype=np.int32)
        starts[: live + 1] = np.cumsum([0, *counts])
        for index, (cache, asked) in enumerate(batch):
            here = slice(starts[index], starts[index + 1])
            end = cache.length + len(asked.ids)
            long[:, here] = asked.ids, np.arange(cache.length, end), cache.reserve(len(asked.ids))
            numbers[:, index] = end, asked.causal, asked.block
            # A cache with room to grow may have more pages than the model's context.
            pages[index, : len(cache.pages)] = cache.pages[:columns]
        short = np.concatenate((starts, numbers.ravel(), pages.ravel()))
        most = max(*counts, rows - total)
        return cls(torch.from_numpy(long), torch.from_numpy(short), (rows, requests), most)


def context_of(short: Tensor, columns: int, most_rows: int) -> Context:
    """The context that `Packed.short` holds, on the device of ``short``."""
    requests = (len(short) - 1) // (columns + 4)
    ends = [requests + 1, requests, requests, requests, requests * columns]
    starts, lengths, causal, blocks, pages = torch.split(short, ends)
    return Context(pages.view(requests, columns), starts, lengths, causal, blocks, most_rows)


def padded(count: int, least: int) -> int:
    """The next power of 2, at least ``least``."""
    return max(least, 1 << (count - 1).bit_length())
