"""Low-rank adaptation: a model's matrices stay frozen, and products of two thin ones are added.

It needs fewer operations than full training (no gradients of the large matrices) and forgets less,
and what was learned is small enough to be kept beside the model that it belongs to.

Source: LoRA (arXiv 2106.09685).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrize

from dlm.language.tokenizer import Mark
from dlm.loading.products import DOWN, UP
from dlm.network.model import Transformer

_MARKS = "embed_tokens.parametrizations.weight"
_LEARNED = (DOWN.removeprefix("."), UP.removeprefix("."))


class LowRank(nn.Module):
    """A frozen matrix (O, I) plus the product of ``up`` (O, R) and ``down`` (R, I), which learn.

    Args:
        linear: The layer whose matrix and bias are taken; the product begins as zero.
        rank: R.
        dtype: Type of the frozen matrix.
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(self, linear: nn.Linear, rank: int, dtype: torch.dtype) -> None:
        super().__init__()
        # In the type that it is multiplied in, so that it is not converted in every step.
        self.register_buffer("weight", linear.weight.detach().to(dtype), persistent=False)
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach())
        width = linear.in_features
        self.down = nn.Parameter(torch.randn(rank, width) * width**-0.5)
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) to (..., O)."""
        rows = x.flatten(0, -2)
        out = functional.linear(rows, self.weight, self.bias)
        # In place, since memory is slow. Autocast does not cast in-place products, hence the `to`.
        out.addmm_(functional.linear(rows, self.down), self.up.t().to(out.dtype))
        return out.view(*x.shape[:-1], -1)

    @torch.no_grad()
    def merged(self) -> Tensor:
        """The sum of matrix and product, (O, I) float32."""
        return self.weight.float() + self.up @ self.down


class Marks(nn.Module):
    """Makes an embedding (V, D) of the marks' rows (M, D), which learn, and frozen other rows.

    Args:
        vectors: (V, D); the vocabulary begins with the marks.
    """

    vectors: Tensor

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)

    def forward(self, marks: Tensor) -> Tensor:
        """The whole embedding."""
        return torch.cat((marks, self.vectors[len(Mark) :]))

    def right_inverse(self, weight: Tensor) -> Tensor:
        """The rows of the marks."""
        return weight[: len(Mark)].clone()


def adapted(model: Transformer, rank: int, dtype: torch.dtype) -> Transformer:
    """Add a product of this rank to each matrix of the model's layers, in place.

    Only the products and the marks' rows of the embedding learn. The frozen matrices are kept in
    the given type.

    Raises:
        ValueError: The model has experts.
    """
    if model.config.experts is not None:
        raise ValueError("rank: expected 0 for a model with experts")
    model.requires_grad_(False)
    for part in list(model.layers.modules()):
        for name, inner in list(part.named_children()):
            if isinstance(inner, nn.Linear):
                setattr(part, name, LowRank(inner, rank, dtype))
    vectors = model.embed_tokens.weight.detach().clone()
    model.embed_tokens.requires_grad_(True)
    parametrize.register_parametrization(model.embed_tokens, "weight", Marks(vectors))
    return model


def learned_rows(model: Transformer) -> int | None:
    """How many of the embedding's first rows learn; None for all."""
    return len(Mark) if parametrize.is_parametrized(model.embed_tokens, "weight") else None


def fingerprint(model: Transformer) -> str:
    """SHA-256 of a model's parameters: a run does not save those that stay frozen."""
    made = hashlib.sha256()
    for tensor in model.state_dict().values():
        made.update(tensor.float().cpu().contiguous().numpy())
    return made.hexdigest()


def plain_state(model: Transformer) -> dict[str, Tensor]:
    """A model's state with the products merged into their matrices."""
    state = {
        name: tensor
        for name, tensor in model.state_dict().items()
        if not name.startswith(_MARKS) and not is_product(name)
    }
    merged = {
        f"{name}.weight": part.merged()
        for name, part in model.named_modules()
        if isinstance(part, LowRank)
    }
    return {"embed_tokens.weight": model.embed_tokens.weight.detach(), **merged, **state}


@torch.no_grad()
def products_of(model: Transformer, base: Mapping[str, Tensor], rank: int) -> dict[str, Tensor]:
    """How a model's matrices differ from a base's, as products in float16.

    Args:
        model: A model trained after `adapted`, or a mean of such models.
        base: The parameters that it began with, by name.
        rank: Rank of the products; for a mean of models, the sum of their ranks.

    Returns:
        ``NAME.up`` (O, R) and ``NAME.down`` (R, I) of each matrix of the layers.

    Raises:
        ValueError: A parameter differs by more than such a product and rounding to bfloat16.
    """
    out: dict[str, Tensor] = {}
    for name, parameter in model.state_dict().items():
        change = parameter - base[name]
        allowed = parameter.norm() * torch.finfo(torch.bfloat16).eps
        if name.startswith("layers.") and parameter.dim() == 2:
            up, down = factors(change, rank)
            out |= {name + UP: up, name + DOWN: down}
            change = change - up.float() @ down.float()
        elif name == "embed_tokens.weight":
            # Rows that differ from the base's are stored beside the products.
            continue
        if change.norm() > allowed:
            raise ValueError(f"{name}: differs from the base by more than a product of rank {rank}")
    return out


def factors(matrix: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """The product of ``up`` (O, R) and ``down`` (R, I) nearest to a matrix (O, I), in float16.

    The two factors have about the same magnitude, so that neither leaves the range of 16 bits.
    """
    if matrix.shape[0] < matrix.shape[1]:
        down, up = factors(matrix.t(), rank)
        return up.t().contiguous(), down.t().contiguous()
    exact = matrix.double()
    squares, directions = torch.linalg.eigh(exact.t() @ exact)
    roots = squares[-rank:].clamp(min=1e-24) ** 0.25
    down = (directions[:, -rank:] * roots).t()
    up = exact @ directions[:, -rank:] / roots
    return up.half().contiguous(), down.half().contiguous()


def is_product(name: str) -> bool:
    """Whether a parameter of this name is a part of a product."""
    return name.rpartition(".")[2] in _LEARNED
