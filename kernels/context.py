"""What the rows of several requests attend to, in the form that an attention launch takes.

Shapes: B requests; P positions of a page.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Context:
    """The caches and new rows of B requests; new rows are the last positions of a context.

    Attributes:
        pages: (B, most pages of a request) int32: entry i is the page of positions P·i to
            P·(i + 1) - 1.
        starts: (B + 1,) int32: where each request's rows begin among all rows; the last entry is
            the number of rows.
        lengths: (B,) int32: number of positions in the context, new rows included.
        causal: (B,) int32: number of new rows, from the left, that see no further than themselves;
            the others see the whole context.
        blocks: (B,) int32: above 0, the size of blocks: a row sees up to the end of its own block,
            and ``causal`` has no effect. Blocks begin at multiples of their size.
        most_rows: Most new rows of any request. On the host, because the launch depends on it.
    """

    pages: torch.Tensor
    starts: torch.Tensor
    lengths: torch.Tensor
    causal: torch.Tensor
    blocks: torch.Tensor
    most_rows: int
