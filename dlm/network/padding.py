"""Pads rows and keys to sizes for which a CPU always adds in the same order.

A matrix product of few rows adds in another order: with MKL, a row among one to seven gets other
bits than the same row among 16, whereas from 16 rows on neither their number, nor a row's place
among them, nor the number of threads matters (inner sizes 32 to 8,960, one to four threads). So
rows that must not depend on the rest of a batch are padded to a multiple of 16. A block of 16 needs
no padding.

Attention also adds over keys, in another order for some numbers of keys. A query whose bits must
not depend on the number of keys after it attends to a number of keys that was tested; surplus keys
are masked.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor
from torch.nn import functional

GRAIN = 16

STRETCH = 512
"""Number of keys that torch's attention processes at a time on a CPU."""


def padded(rows: Tensor) -> Tensor:
    """Rows, (n, D), padded with zeros to a multiple of `GRAIN` on a CPU; unchanged elsewhere."""
    missing = 0 if rows.is_cuda else -len(rows) % GRAIN
    return functional.pad(rows, (0, 0, 0, missing)) if missing else rows


def whole_keys(end: int, head_dim: int) -> int:
    """The least tested number of keys, from ``end`` on, that gives the same bits as more keys.

    This holds for queries of ``head_dim`` numbers in float32 on a CPU; further keys must be finite
    and masked.
    """
    full, rest = divmod(end, STRETCH)
    more = next(count for count in _harmless(head_dim) if count >= rest)
    return full * STRETCH + more


@functools.cache
def _harmless(head_dim: int) -> tuple[int, ...]:
    """Numbers of keys, ascending, that give a query the same bits as `STRETCH` keys.

    How a matrix product splits its sums depends on the processor, so the numbers are tried out.
    """
    generator = torch.Generator().manual_seed(0)
    queries, keys, values = torch.randn(3, 1, 1, STRETCH, head_dim, generator=generator)
    queries = queries[:, :, :GRAIN]
    found = [0]
    with torch.inference_mode():
        for count in range(GRAIN, STRETCH, GRAIN):
            mask = torch.zeros(1, 1, GRAIN, STRETCH)
            mask[..., count:] = -torch.inf
            near = _attend(queries, keys[:, :, :count], values[:, :, :count], mask[..., :count])
            if torch.equal(near, _attend(queries, keys, values, mask)):
                found.append(count)
    return (*found, STRETCH)


_attend = functional.scaled_dot_product_attention
