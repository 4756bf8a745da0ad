"""Cross entropy through the LM head without ever holding all logits.

On a CPU the (N, V) logits, their softmax and their gradient cost more time in memory traffic than
the matrix products do. Here a few hundred rows at a time go through the head, and their gradient
is made while they are still in cache; the backward pass only scales it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

CHUNK_ROWS = 512


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, head: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        dtype = torch.bfloat16 if torch.is_autocast_enabled(hidden.device.type) else hidden.dtype
        head_low = head.to(dtype)
        grad_hidden = torch.empty(hidden.shape, dtype=dtype, device=hidden.device)
        grad_head = torch.zeros(head.shape, dtype=torch.float32, device=head.device)
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        for start in range(0, len(hidden), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            part, wanted, weight = hidden[rows].to(dtype), targets[rows], weights[rows]
            logits = (part @ head_low.T).float()
            lse = logits.logsumexp(dim=-1)
            picked = logits.gather(1, wanted[:, None])[:, 0]
            total += ((lse - picked) * weight).sum()
            grad = logits.sub_(lse[:, None]).exp_()
            grad.scatter_add_(1, wanted[:, None], torch.full_like(picked, -1.0)[:, None])
            grad.mul_(weight[:, None])
            low = grad.to(dtype)
            grad_hidden[rows] = low @ head_low
            grad_head += (low.T @ part).float()
        ctx.save_for_backward(grad_hidden, grad_head)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_hidden, grad_head = ctx.saved_tensors
        return grad_hidden * grads[0], grad_head * grads[0], None, None


def linear_cross_entropy(hidden: Tensor, head: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Weighted sum of cross entropies of ``hidden @ head.T`` against the targets.

    Args:
        hidden: (N, D) floating point.
        head: (V, D) floating point.
        targets: (N,) int64 in [0, V).
        weights: (N,) float32.

    Returns:
        () float32; 0 when N is 0. Under autocast the products are in bfloat16.
    """
    return _LinearCrossEntropy.apply(hidden, head, targets, weights)  # type: ignore[no-any-return, no-untyped-call]
