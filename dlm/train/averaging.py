"""Weights to write as a checkpoint in place of the last step's: a mean with the first ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from dlm.loading.products import DOWN


class Anchor:
    """Keeps the weights that a run began with, as a share of what it writes.

    Weights between those before and after fine-tuning have learned nearly all of the new data and
    forgotten little of the old.

    Args:
        model: As it is before the first step; it goes on training.
        share: Of the first weights in those that `applied` gives the model, 0 to 1.

    Source: robust fine-tuning, WiSE-FT (arXiv 2109.01903).
    """

    def __init__(self, model: nn.Module, share: float) -> None:
        self.share = share
        # What a product adds begins as zero: a share of ``up`` alone is that share of the sum.
        self._parameters = [p for n, p in model.named_parameters() if not n.endswith(DOWN)]
        self._first = [p.detach().clone() for p in self._parameters]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the mixed weights for a while."""
        own = [p.detach() for p in self._parameters]
        kept = [p.clone() for p in own]
        torch._foreach_lerp_(own, self._first, self.share)
        try:
            yield
        finally:
            torch._foreach_copy_(own, kept)

    def state(self) -> list[Tensor]:
        """What `load` needs to go on."""
        return self._first

    def load(self, state: Sequence[Tensor] | None) -> None:
        """Replace the first weights; None keeps those given at construction.

        Raises:
            ValueError: They are of another model.
        """
        if state is None:
            return
        if [s.shape for s in state] != [p.shape for p in self._parameters]:
            raise ValueError(f"first weights: expected {len(self._parameters)} of this model")
        torch._foreach_copy_(self._first, list(state))
