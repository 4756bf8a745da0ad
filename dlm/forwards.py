"""What requests want forwarded, and the one forward that serves many of them.

A request's decoding is a generator: it yields a `Forward`, is sent its logits, and returns when it
is through. Whoever runs it decides when, and together with what.

Shapes: T new positions of one request, N of all, D width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from dlm.cache import KVCache
from dlm.model import Rows, Transformer


@dataclass(frozen=True, slots=True)
class Forward:
    """New positions behind a request's committed ones. Nothing is committed by it.

    Attributes:
        ids: T tokens.
        causal: So many of them, from the left, see what stands before them and themselves; the
            others see all new tokens as well.
        first: Index of the first one whose logits are wanted.
        count: How many, from there on; 0 is all.
        block: Where above 0, a position sees to the end of its own block of that many and no
            further; blocks begin at multiples of it, position 0 being the sequence's first.
        prefill: Whether it reads the prompt, which others need not wait for.
    """

    ids: Sequence[int]
    causal: int
    first: int = 0
    count: int = 0
    block: int = 0
    prefill: bool = False

    @property
    def wanted(self) -> slice:
        """The positions whose logits are wanted."""
        return slice(self.first, self.first + self.count if self.count else None)


T = TypeVar("T")
Steps = Generator[Forward, Tensor, T]
"""Decoding: yields forwards, is sent logits (wanted, V) in float32, returns its result."""


def forward(model: Transformer, wishes: Sequence[tuple[KVCache, Forward]]) -> list[Tensor]:
    """Serve several requests with one forward.

    Args:
        model: On its device.
        wishes: At most one for each cache.

    Returns:
        For each wish its logits, (wanted, V) float32 on the model's device. They do not depend
        on what else is served.

    Raises:
        ValueError: A cache is full.
    """
    rows = [Rows(cache, len(wish.ids), wish.causal, wish.block) for cache, wish in wishes]
    ids = [token for _, wish in wishes for token in wish.ids]
    hidden = model.packed(torch.tensor(ids, device=model.embed_tokens.weight.device), rows)
    parts = torch.split(hidden, [row.length for row in rows])
    wanted = [part[wish.wanted] for part, (_, wish) in zip(parts, wishes, strict=True)]
    logits = model.logits(torch.cat(wanted)).float()
    return list(torch.split(logits, [len(part) for part in wanted]))


def drive(model: Transformer, cache: KVCache, steps: Steps[T]) -> T:
    """Run one decoding to its end, alone."""
    with torch.inference_mode():
        try:
            wish = next(steps)
            while True:
                wish = steps.send(forward(model, [(cache, wish)])[0])
        except StopIteration as over:
            return over.value  # type: ignore[no-any-return]
