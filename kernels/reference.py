"""What each kernel computes, in plain torch: the truth that the kernels are tested against.

Arguments are checked by `kernels.ops`, not here.
"""

from __future__ import annotations

import torch


def confidence(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Most likely token at each position and the model's probability for it; see `kernels.ops`."""
    scores = logits.float()
    # argmax takes nan for the largest value; it must lose, so that the token is always a real id.
    tokens = scores.masked_fill(scores.isnan(), -torch.inf).argmax(dim=-1)
    best = scores.gather(-1, tokens.unsqueeze(-1))
    return tokens, 1.0 / (scores - best).exp().sum(dim=-1)
