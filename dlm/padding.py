"""Rows in numbers that a CPU multiplies alike.

A matrix product of few rows adds in another order: with MKL a row among one to seven gets other
bits than the same row among 16, while from 16 rows on neither their number, nor a row's place among
them, nor the number of threads matters (inner sizes 32 to 8,960, one to four threads). So rows that
must not depend on their company are padded to a multiple of 16. A block of 16 needs none.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

GRAIN = 16


def padded(rows: Tensor) -> Tensor:
    """(n, D) with rows of zeros up to a multiple of `GRAIN`, on a CPU; elsewhere as it is."""
    missing = 0 if rows.is_cuda else -len(rows) % GRAIN
    return functional.pad(rows, (0, 0, 0, missing)) if missing else rows
