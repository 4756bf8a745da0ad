"""Matrix products in 8 bits for CPUs: weights rounded once, each row of activations as it comes.

The sums are whole numbers, so a row's result depends on nothing else in the batch. It needs no
package beyond torch, whose product of int8 matrices uses what the processor has for it.

Shapes: N rows of D numbers in, O out.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn

from dlm.network.model import Transformer


class Int8Linear(nn.Module):
    """A linear layer whose weight (O, D) is rounded to 8 bits: a scale for each output and row."""

    weight: Tensor
    scale: Tensor

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        full = weight.detach().float()
        scale = full.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / largest_weight()
        self.register_buffer("weight", (full / scale[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) float32 to (..., O)."""
        rows = x.reshape(-1, self.in_features)
        # A row of zeros stays a row of zeros with any scale.
        steps = rows.abs().amax(dim=1, keepdim=True).clamp_(min=1e-30).div_(127)
        sums = torch._int_mm((rows / steps).round_().to(torch.int8), self.weight.t())
        out = torch.mul(sums, steps).mul_(self.scale)
        if self.bias is not None:
            out += self.bias
        return out.view(*x.shape[:-1], self.out_features)


@functools.cache
def largest_weight() -> int:
    """How large a rounded weight may be on this processor: 127, or 63 where sums would saturate.

    Without the VNNI instructions the product adds two of its terms in 16 bits, which the largest
    ones do not fit in. Whether they do is tried, not guessed.
    """
    row = torch.full((16, 64), 127, dtype=torch.int8)
    exact = torch._int_mm(row, row.t()).eq(64 * 127 * 127).all()
    return 127 if exact else 63


def round_weights(model: Transformer) -> None:
    """Round the matrices of a float32 model on the CPU, in place. It can then no longer train.

    Embeddings stay as they are, and so do the weights of a mixture's experts.
    """
    tied = model.config.tie_word_embeddings
    head = model.embed_tokens.weight if tied else model.lm_head.weight
    model.rounded_head = Int8Linear(head)
    if not tied:
        del model.lm_head
    _replace(model.layers)


def _replace(module: nn.Module) -> None:
    for name, part in list(module.named_children()):
        if isinstance(part, nn.Linear):
            setattr(module, name, Int8Linear(part.weight, part.bias))
        else:
            _replace(part)
