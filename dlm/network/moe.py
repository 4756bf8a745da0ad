"""A mixture of experts instead of an MLP, as in LLaDA2.

A router scores every expert with a sigmoid. For the choice alone, a learned bias is added to the
scores: first the groups with the best two experts are chosen, then the best experts within these.
The outputs of the chosen experts are weighted by their unbiased scores, and those of shared experts
are added.

Shapes: N rows, E experts, D width, I width of an expert, P experts per row.

Source: group-limited routing without auxiliary loss as in DeepSeek-V3 (arXiv 2412.19437).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from dlm.network.padding import padded


@dataclass(frozen=True, slots=True)
class Experts:
    """The shape of a mixture.

    Attributes:
        count: E.
        per_token: P.
        width: I.
        shared: Number of shared experts, run as one of that many times the width; may be 0.
        groups: Number of equal groups that the experts form.
        groups_per_token: Number of groups that a row may choose from.
        scale: Multiplies the weights of the chosen experts; with several experts, the weights sum
            to 1 before.
        dense_layers: Number of layers, from the first, that have an ordinary MLP.
    """

    count: int
    per_token: int
    width: int
    shared: int = 0
    groups: int = 1
    groups_per_token: int = 1
    scale: float = 1.0
    dense_layers: int = 0

    def __post_init__(self) -> None:
        """Reject mixtures whose numbers do not fit together.

        Raises:
            ValueError: They do not; the text names the number.
        """
        if self.groups < 1 or self.count % self.groups:
            raise ValueError(f"experts: got {self.count}, expected a multiple of {self.groups}")
        if not 1 <= self.groups_per_token <= self.groups:
            raise ValueError(
                f"groups per token: got {self.groups_per_token}, expected 1 to {self.groups}"
            )
        most = self.groups_per_token * (self.count // self.groups)
        if not 1 <= self.per_token <= most:
            raise ValueError(f"experts per token: got {self.per_token}, expected 1 to {most}")


class Router(nn.Module):
    """Chooses the experts of each row, and their weights; in float32."""

    def __init__(self, size: int, experts: Experts) -> None:
        super().__init__()
        self.experts = experts
        self.weight = nn.Parameter(torch.empty(experts.count, size))
        self.bias = nn.Parameter(torch.zeros(experts.count))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(N, D) to expert ids (N, P) int64 and their weights (N, P) float32."""
        experts = self.experts
        scores = functional.linear(x.float(), self.weight.float()).sigmoid()
        biased = scores + self.bias.float()
        grouped = biased.view(len(biased), experts.groups, -1)
        best = grouped.topk(min(2, grouped.shape[2]), dim=2).values.sum(dim=2)
        groups = best.topk(experts.groups_per_token, dim=1).indices
        allowed = torch.zeros_like(best, dtype=torch.bool).scatter_(1, groups, True)
        chosen = grouped.masked_fill(~allowed[:, :, None], -torch.inf).flatten(1)
        ids = chosen.topk(experts.per_token, dim=1).indices
        weights = scores.gather(1, ids)
        if experts.per_token > 1:
            weights = weights / (weights.sum(dim=1, keepdim=True) + 1e-20)
        return ids, weights * experts.scale


class MixtureOfExperts(nn.Module):
    """Routed and shared experts."""

    def __init__(self, size: int, experts: Experts) -> None:
        super().__init__()
        self.router = Router(size, experts)
        self.gate_up_proj = nn.Parameter(torch.empty(experts.count, 2 * experts.width, size))
        self.down_proj = nn.Parameter(torch.empty(experts.count, size, experts.width))
        self.has_shared = experts.shared > 0
        if self.has_shared:
            width = experts.shared * experts.width
            self.shared_gate_up_proj = nn.Linear(size, 2 * width, bias=False)
            self.shared_down_proj = nn.Linear(width, size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) to (..., D); on a CPU, a row's result does not depend on the other rows."""
        rows = x.reshape(-1, x.shape[-1])
        ids, weights = self.router(rows)
        outputs = torch.zeros(*ids.shape, rows.shape[-1], dtype=x.dtype, device=x.device)
        for expert in ids.unique().tolist():
            where = (ids == expert).nonzero(as_tuple=True)
            inputs = padded(rows[where[0]])
            output = _swiglu(inputs, self.gate_up_proj[expert], self.down_proj[expert])
            outputs[where] = output[: len(where[0])]
        out: Tensor = (outputs * weights[:, :, None]).sum(dim=1).to(x.dtype)
        if self.has_shared:
            shared = self.shared_gate_up_proj.weight, self.shared_down_proj.weight
            out = out + _swiglu(rows, *shared)
        return out.view_as(x)


def _swiglu(x: Tensor, gate_up: Tensor, down: Tensor) -> Tensor:
    gate, up = functional.linear(x, gate_up).chunk(2, dim=-1)
    return functional.linear(functional.silu(gate) * up, down)
