"""The weights to write as a checkpoint: a mean of the last step's and the initial ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from dlm.loading.products import DOWN


class Anchor:
    """Keeps a run's initial weights, and mixes a share of them into what is written.

    Weights between those before and after fine-tuning have learned nearly all of the new data and
    forgotten little of the old.

    Args:
        model: The model before its first step; it goes on training.
        share: Share of the initial weights in those that `applied` gives the model, 0 to 1.

    Source: robust fine-tuning, WiSE-FT (arXiv 2109.01903).
    """

    def __init__(self, model: nn.Module, share: float) -> None:
        self.share = share
        # A product starts at zero, because ``up`` does, so scaling ``up`` alone scales the product.
        self._parameters = [p for n, p in model.named_parameters() if not n.endswith(DOWN)]
        self._first = [p.detach().clone() for p in self._parameters]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within this context the model has the mixed weights."""
        own = [p.detach() for p in self._parameters]
        kept = [p.clone() for p in own]
        torch._foreach_lerp_(own, self._first, self.share)
        try:
            yield
        finally:
            torch._foreach_copy_(own, kept)

    def state(self) -> list[Tensor]:
        """The initial weights, for `load`."""
        return self._first

    def load(self, state: Sequence[Tensor] | None) -> None:
        """Replace the initial weights; None keeps those given at construction.

        Raises:
            ValueError: They are another model's.
        """
        if state is None:
            return
        if [s.shape for s in state] != [p.shape for p in self._parameters]:
            raise ValueError(f"first weights: expected {len(self._parameters)} of this model")
        torch._foreach_copy_(self._first, list(state))
