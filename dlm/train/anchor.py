"""The weights that a run began with, and a share of them in the checkpoints that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Anchor:
    """Holds a model's first parameters.

    Between the weights before and after fine-tuning lie weights that have learned nearly all of the
    new and forgotten little of the old.

    Args:
        model: As it is before the first step; it goes on training.
        share: Of its first weights in what `applied` shows, in (0, 1].

    Source: robust fine-tuning, WiSE-FT (arXiv 2109.01903).
    """

    def __init__(self, model: nn.Module, share: float) -> None:
        self.share = share
        self._parameters = list(model.parameters())
        self._first = [p.detach().clone() for p in self._parameters]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the weights in between for a while."""
        kept = [p.detach().clone() for p in self._parameters]
        now = [p.detach() for p in self._parameters]
        torch._foreach_lerp_(now, self._first, self.share)
        try:
            yield
        finally:
            torch._foreach_copy_(now, kept)

    def state(self) -> list[Tensor]:
        """What `load` needs to go on."""
        return self._first

    def load(self, state: Sequence[Tensor] | None) -> None:
        """Take a run's first weights; where there are none, those given when this was made stay.

        Raises:
            ValueError: They are of another model.
        """
        if state is None:
            return
        if [s.shape for s in state] != [p.shape for p in self._parameters]:
            raise ValueError(f"first weights: expected {len(self._parameters)} of this model")
        for first, saved in zip(self._first, state, strict=True):
            first.copy_(saved)
