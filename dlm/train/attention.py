"""Attention patterns of training, without the cost of a full mask.

The clean dialogue x_0 is causal, so half of its scores need not be computed; copies of blocks, x_t,
need a mask, but x_0 never looks at them. Both are given to the model in place of a mask.

torch.compile leaves these functions alone: their patterns change with every batch, and the layers'
kernels should not be made anew for each.

Shapes: B rows, T positions of x_0, A of x_t, H heads, N head size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

F = TypeVar("F", bound=Callable[..., Any])


def _eager(function: F) -> F:
    """Keep torch.compile out of a function, but not out of what that calls."""
    made: F = torch.compiler.disable(function, recursive=False)  # type: ignore[no-untyped-call]
    return made


@_eager
def causal(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Every position sees those before it and itself. (B, H, T, N) to the same."""
    return functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)


@dataclass(frozen=True, slots=True)
class Joint:
    """Attention over [x_0, x_t] in two parts.

    Attributes:
        length: T.
        copies_see: (B, 1, A, T + A) bool, the keys that each position of x_t may look at.
    """

    length: int
    copies_see: Tensor

    @_eager
    def __call__(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(B, H, T + A, N) to the same."""
        own = causal(*(x[:, :, : self.length] for x in (queries, keys, values)))
        copies = functional.scaled_dot_product_attention(
            queries[:, :, self.length :], keys, values, attn_mask=self.copies_see
        )
        return torch.cat((own, copies), dim=2)


@dataclass(frozen=True, slots=True)
class Flex:
    """The same attention by FlexAttention, which skips fully masked tiles; for CUDA.

    Attributes:
        blocks: A `BlockMask` over [x_0, x_t].
        compiled: Whether the kernel is compiled; else it is computed in full, as a reference.
    """

    blocks: Any
    compiled: bool = True

    @classmethod
    def joint(cls, length: int, blocks: Tensor, starts: Tensor, compiled: bool = True) -> Flex:
        """From the copies of a batch.

        Args:
            blocks: (B, A) int64, number of the copy within its row; -1 is padding.
            starts: (B, A) int64, position at which the copy's block starts.
        """
        from torch.nn.attention.flex_attention import create_block_mask

        rows, width = blocks.shape

        def sees(row: Tensor, _: Tensor, query: Tensor, key: Tensor) -> Tensor:
            copy, other = (query - length).clamp(min=0), (key - length).clamp(min=0)
            clean = torch.where(query < length, key <= query, key < starts[row, copy])
            same = (query >= length) & (blocks[row, copy] == blocks[row, other])
            return torch.where(key < length, clean, same)

        size = length + width
        made = create_block_mask(sees, rows, None, size, size, device=str(blocks.device))
        return cls(made, compiled)

    @_eager
    def __call__(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(B, H, T + A, N) to the same."""
        attend = _flex(self.compiled)
        return attend(queries, keys, values, block_mask=self.blocks)  # type: ignore[no-any-return]


@cache
def _flex(compiled: bool) -> Callable[..., Any]:
    from torch.nn.attention.flex_attention import flex_attention

    attend: Callable[..., Any] = flex_attention
    return torch.compile(attend, dynamic=True) if compiled else attend
