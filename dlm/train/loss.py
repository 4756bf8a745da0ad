"""Cross entropy through the LM head without ever holding all logits; and how sure a model is.

On a CPU the memory traffic of the (N, V) logits, their softmax and their gradient takes longer than
the matrix products. Here a few hundred rows at a time go through the head, and their gradient is
computed while they are still in cache; the backward pass only scales it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

CHUNK_ROWS = 512
"""Rows at a time on a CPU: few enough for the cache."""
CUDA_CHUNK_ROWS = 16_384
"""Rows at a time on a GPU: enough to keep it busy, few enough for its memory."""
SHARPENING = 0.5
"""Temperature at which the uncertainty of a right prediction is measured."""


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        head: Tensor,
        targets: Tensor,
        weights: Tensor,
        learned: int,
    ) -> Tensor:
        dtype = torch.bfloat16 if torch.is_autocast_enabled(hidden.device.type) else hidden.dtype
        head_low = head.to(dtype)
        grad_hidden = torch.empty(hidden.shape, dtype=dtype, device=hidden.device)
        grad_head = torch.zeros(head.shape, dtype=torch.float32, device=head.device)
        grad_learned = grad_head[:learned]
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        chunk = CUDA_CHUNK_ROWS if hidden.is_cuda else CHUNK_ROWS
        for start in range(0, len(hidden), chunk):
            rows = slice(start, start + chunk)
            part, wanted, weight = hidden[rows].to(dtype), targets[rows], weights[rows]
            logits = (part @ head_low.T).float()
            lse = logits.logsumexp(dim=-1)
            picked = logits.gather(1, wanted[:, None])[:, 0]
            total += ((lse - picked) * weight).sum()
            grad = logits.sub_(lse[:, None]).exp_()
            grad.scatter_add_(1, wanted[:, None], grad.new_full((len(grad), 1), -1.0))
            grad.mul_(weight[:, None])
            low = grad.to(dtype)
            grad_hidden[rows] = low @ head_low
            grad_learned += (low[:, :learned].T @ part).float()
        ctx.save_for_backward(grad_hidden, grad_head)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        grad_hidden, grad_head = ctx.saved_tensors
        return grad_hidden * grads[0], grad_head * grads[0], None, None, None


def linear_cross_entropy(
    hidden: Tensor,
    head: Tensor,
    targets: Tensor,
    weights: Tensor,
    learned: int | None = None,
) -> Tensor:
    """Weighted sum of cross entropies of ``hidden @ head.T`` against the targets.

    Args:
        hidden: (N, D) floating point.
        head: (V, D) floating point.
        targets: (N,) int64 in [0, V).
        weights: (N,) float32.
        learned: How many of the head's first rows learn; None for all. The others get no gradient,
            which saves up to a third of the work.

    Returns:
        () float32; 0 when N is 0. Under autocast the products are in bfloat16.
    """
    rows = len(head) if learned is None else learned
    return _LinearCrossEntropy.apply(hidden, head, targets, weights, rows)  # type: ignore[no-any-return, no-untyped-call]


def uncertainty(hidden: Tensor, targets: Tensor, head: Tensor) -> Tensor:
    """Mean entropy, at a low temperature, of the positions whose likeliest token is correct.

    Lowering it makes a model sure of its correct predictions, so that more of a block is accepted
    in one step; the cross entropy deals with the wrong ones.

    Args:
        hidden: (N, D) floating point.
        targets: (N,) int64 in [0, V).
        head: (V, D) floating point.

    Returns:
        () float32, in nats; 0 if no prediction is correct.

    Source:
        dParallel (arXiv 2509.26488): entropy at a temperature of 0.5.
    """
    logits = functional.linear(hidden, head.to(hidden.dtype)).float()
    right = (logits.argmax(dim=-1) == targets).float()
    log_shares = functional.log_softmax(logits / SHARPENING, dim=-1)
    entropy = -(log_shares.exp() * log_shares).sum(dim=-1)
    return (entropy * right).sum() / right.sum().clamp(min=1.0)
