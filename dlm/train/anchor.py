"""The model that a run began with: a share of what it writes, a teacher of what is replayed."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)


class Anchor(Generic[Model]):
    """Holds a model as it was at first.

    Between the weights before and after fine-tuning lie weights that have learned nearly all of the
    new and forgotten little of the old.

    Args:
        model: As it is before the first step; it goes on training.
        share: Of its first weights in what `applied` shows, 0 to 1.

    Attributes:
        first: The model as it was; does not learn.

    Source: robust fine-tuning, WiSE-FT (arXiv 2109.01903).
    """

    def __init__(self, model: Model, share: float) -> None:
        self.share = share
        self.first = copy.deepcopy(model).requires_grad_(False)
        self._parameters = list(model.parameters())

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the weights in between for a while."""
        kept = [p.detach().clone() for p in self._parameters]
        now = [p.detach() for p in self._parameters]
        torch._foreach_lerp_(now, self.state(), self.share)
        try:
            yield
        finally:
            torch._foreach_copy_(now, kept)

    def state(self) -> list[Tensor]:
        """What `load` needs to go on."""
        return list(self.first.parameters())

    def load(self, state: Sequence[Tensor] | None) -> None:
        """Take a run's first weights; where there are none, those given when this was made stay.

        Raises:
            ValueError: They are of another model.
        """
        if state is None:
            return
        if [s.shape for s in state] != [p.shape for p in self._parameters]:
            raise ValueError(f"first weights: expected {len(self._parameters)} of this model")
        for first, saved in zip(self.state(), state, strict=True):
            first.copy_(saved)
