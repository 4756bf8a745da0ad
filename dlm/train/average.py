"""An exponential average of a model's weights, which is better than the weights of any one step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """Follows a model's parameters.

    Args:
        model: Whose parameters are averaged; it goes on training.
        decay: Weight of the past per step, in (0, 1). The first steps count more, so that the
            random beginning is soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.updates = 0
        self._parameters = list(model.parameters())
        self._averages = [p.detach().clone() for p in self._parameters]

    @torch.no_grad()
    def update(self) -> None:
        """Take in the parameters as they are after a step."""
        self.updates += 1
        decay = min(self.decay, self.updates / (9 + self.updates))
        torch._foreach_lerp_(self._averages, [p.detach() for p in self._parameters], 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model its averaged weights for a while."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for parameter, average in zip(self._parameters, self._averages, strict=True):
            kept = parameter.detach().clone()
            parameter.copy_(average)
            average.copy_(kept)

    def state(self) -> dict[str, int | list[Tensor]]:
        """What `load` needs to go on."""
        return {"updates": self.updates, "averages": self._averages}

    @torch.no_grad()
    def load(self, state: dict[str, int | list[Tensor]] | None) -> None:
        """Go on from a state; from the model's present weights where there is none.

        Raises:
            ValueError: The state is of another model.
        """
        given = [p.detach() for p in self._parameters] if state is None else state["averages"]
        if not isinstance(given, list) or len(given) != len(self._averages):
            raise ValueError(f"averages: expected {len(self._averages)} tensors")
        for average, saved in zip(self._averages, given, strict=True):
            average.copy_(saved)
        self.updates = 0 if state is None else int(str(state["updates"]))
