"""Muon with its products in float32, for machines that are slow in bfloat16.

torch's own uses bfloat16 everywhere. On a processor without bfloat16 instructions, the matrices of
the shipped model then take minutes in every step; in float32 they take seconds.

Sources: Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"; Liu et al.
2025, "Muon is scalable for LLM training" (the size of a step).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Float32Muon(torch.optim.Muon):
    """torch's Muon with Nesterov momentum and ``match_rms_adamw``; the state has torch's format."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Update every weight that has a gradient; ``closure`` is not called."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(weight)
                momentum = state["momentum_buffer"]
                momentum.lerp_(weight.grad, 1 - group["momentum"])
                update = weight.grad.lerp(momentum, group["momentum"])
                update = orthogonal(update, group["ns_coefficients"], group["ns_steps"])
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update, alpha=-0.2 * group["lr"] * max(weight.shape) ** 0.5)


def orthogonal(update: Tensor, coefficients: tuple[float, float, float], steps: int) -> Tensor:
    """The matrix (M, N) with all singular values brought near 1, by Newton-Schulz iteration."""
    a, b, c = coefficients
    tall = len(update) > update.shape[1]
    wide = update.float().T if tall else update.float()
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide.T if tall else wide
