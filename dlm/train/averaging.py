"""Weights to write as a checkpoint in place of the last step's: averages that a run keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor, nn

from dlm.loading.products import DOWN


@contextmanager
def _lent(
    parameters: Sequence[Tensor], values: list[Tensor] | tuple[Tensor, ...]
) -> Iterator[None]:
    """Other values in parameters for a while."""
    own = [p.detach() for p in parameters]
    kept = [p.clone() for p in own]
    torch._foreach_copy_(own, values)
    try:
        yield
    finally:
        torch._foreach_copy_(own, kept)


class Average:
    """An exponential average of a model's weights, better than those of any one step.

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

    def applied(self) -> AbstractContextManager[None]:
        """Give the model its averaged weights for a while."""
        return _lent(self._parameters, self._averages)

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

    def applied(self) -> AbstractContextManager[None]:
        """Give the model the mixed weights for a while."""
        now = [p.detach() for p in self._parameters]
        return _lent(self._parameters, torch._foreach_lerp(now, self._first, self.share))

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
