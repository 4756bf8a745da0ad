"""What the rows of several requests look at, as one attention launch needs it.

Shapes: B requests; P positions of a page.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Context:
    """Caches and new rows of B requests. A request's new rows are its context's last positions.

    Attributes:
        pages: (B, most pages of a request) int32: which page holds positions P·i to P·(i + 1).
        starts: (B + 1,) int32: where each request's rows begin among all rows; the last is their
            number.
        lengths: (B,) int32: positions of the context, the new rows included.
        causal: (B,) int32: so many of the new rows, from the left, look no further than themselves;
            the others see all of the context.
        blocks: (B,) int32: where above 0, a row sees to the end of its own block of that many
            positions and no further, and ``causal`` has no effect; blocks begin at multiples of it.
        most_rows: New rows of any request, at most. On the host, because it decides the launch.
    """

    pages: torch.Tensor
    starts: torch.Tensor
    lengths: torch.Tensor
    causal: torch.Tensor
    blocks: torch.Tensor
    most_rows: int
