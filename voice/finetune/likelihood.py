"""Log-probabilities of chosen tokens, with a gradient for the decoder's states.

The vocabulary's embeddings are frozen while Whisper is fine-tuned, so they need no gradient. For
the gradient of the states only one (N, V) matrix is kept, in the type of the multiplication.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def log_probabilities(states: Tensor, embeddings: Tensor, chosen: Tensor) -> Tensor:
    """Log-probabilities (N, K) of the ``chosen`` tokens at N places.

    Args:
        states: (N, D), the decoder's states.
        embeddings: (V, D) of all tokens, in the type to multiply in; they get no gradient.
        chosen: (N, K) int64.
    """
    found: Tensor = _LogProbabilities.apply(states, embeddings, chosen)  # type: ignore[no-untyped-call]
    return found


class _LogProbabilities(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, embeddings: Tensor, chosen: Tensor) -> Tensor:
        logits = functional.linear(states.to(embeddings.dtype), embeddings)
        of_all = logits.log_softmax(-1)
        ctx.save_for_backward(of_all, embeddings, chosen)
        ctx.states_type = states.dtype
        return of_all.gather(1, chosen).float()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        of_all, embeddings, chosen = ctx.saved_tensors
        mass = -gradient.sum(1, keepdim=True).to(of_all.dtype)
        logits = of_all.exp().mul_(mass)
        logits.scatter_add_(1, chosen, gradient.to(of_all.dtype))
        return (logits @ embeddings).to(ctx.states_type), None, None
