"""Attention patterns of training, without the cost of a full mask.

The clean dialogue x_0 is causal, so half of its scores need not be computed; copies of blocks, x_t,
need a mask, but x_0 never looks at them. The model takes these patterns in place of a mask.

torch.compile leaves these functions alone: their patterns change with every batch, and the layers'
kernels must not be compiled again for each.

Shapes: B rows, T positions of x_0, A of x_t, H heads, N head size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

F = TypeVar("F", bound=Callable[..., Any])


def _eager(function: F) -> F:
    """Keep torch.compile out of a function, but not out of the functions it calls."""
    made: F = torch.compiler.disable(function, recursive=False)  # type: ignore[no-untyped-call]
    return made


@_eager
def causal(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Attention of every position to itself and those before it. (B, H, T, N) to the same."""
    if not _plainly(queries):
        return functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return _plain(queries, keys, values, causal_mask(queries.shape[2], queries.device))


def causal_mask(length: int, device: torch.device | str = "cpu") -> Tensor:
    """(T, T) bool, true where a position (row) sees another (column)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def masked(queries: Tensor, keys: Tensor, values: Tensor, sees: Tensor) -> Tensor:
    """Attention of queries (B, H, T, N) to S keys where ``sees`` (..., T, S) bool is true."""
    if _plainly(queries):
        return _plain(queries, keys, values, sees)
    return functional.scaled_dot_product_attention(queries, keys, values, attn_mask=sees)


def _plainly(queries: Tensor) -> bool:
    """Whether plain products are faster than torch's own attention, above all backwards.

    They are on a CPU in bfloat16: by a third, in rows of a few hundred positions like ours.
    """
    return queries.device.type == "cpu" and queries.dtype == torch.bfloat16


def _plain(queries: Tensor, keys: Tensor, values: Tensor, sees: Tensor) -> Tensor:
    """`masked` by plain matrix products."""
    hidden = torch.zeros(sees.shape, dtype=queries.dtype).masked_fill_(~sees, -torch.inf)
    scores = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(2, 3) + hidden
    mixed: Tensor = scores.softmax(dim=-1).to(values.dtype) @ values
    return mixed


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
        copies = masked(queries[:, :, self.length :], keys, values, self.copies_see)
        return torch.cat((own, copies), dim=2)


@dataclass(frozen=True, slots=True)
class Part:
    """One of several dialogues in a row, with its copies.

    Attributes:
        shared: Number of the part that it continues, and sees; None for none.
        sees: (own + copies, shared + own + copies) bool, the keys that each position looks at. Both
            dimensions may be padded; the results of padded queries are dropped.
    """

    shared: int | None
    sees: Tensor


@dataclass(frozen=True, slots=True)
class Parts:
    """Attention in one row of dialogues laid end to end, none of which sees another.

    Attributes:
        parts: The dialogues and shared beginnings, in their order in the row.
        lengths: The lengths of each part's own positions, then of each one's copies, then of the
            padding.
    """

    parts: tuple[Part, ...]
    lengths: tuple[int, ...]

    @_eager
    def __call__(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(1, H, T + A, N) to the same."""
        # One split: every separate slice would need a gradient as long as the row.
        asking, keyed, valued = (
            torch.split(x, list(self.lengths), dim=2) for x in (queries, keys, values)
        )
        clean, noisy = [], []
        for at, part in enumerate(self.parts):
            pair = at, len(self.parts) + at
            seen = pair if part.shared is None else (part.shared, *pair)
            asked, known = part.sees.shape
            found = masked(
                _filled([asking[one] for one in pair], asked),
                _filled([keyed[one] for one in seen], known),
                _filled([valued[one] for one in seen], known),
                part.sees,
            )
            own, copies = (self.lengths[one] for one in pair)
            clean.append(found[:, :, :own])
            noisy.append(found[:, :, own : own + copies])
        return torch.cat((*clean, *noisy, asking[-1]), dim=2)


def _filled(parts: list[Tensor], length: int) -> Tensor:
    """Parts (1, H, T, N) end to end, padded with zeros to a length."""
    rest = length - sum(part.shape[2] for part in parts)
    heads, size = parts[0].shape[1], parts[0].shape[3]
    return torch.cat((*parts, parts[0].new_zeros(1, heads, rest, size)), dim=2)
