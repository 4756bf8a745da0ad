"""Which masked positions of a block to decide, given the model's logits: pure functions.

Shapes: L positions of a block, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kernels import ops


def threshold(logits: Tensor, masked: Tensor, floor: float) -> tuple[Tensor, Tensor]:
    """Confidence threshold: accept every masked position at or above it, and the best one always.

    Args:
        logits: (L, V) of the block; the mask token must already be banned with -inf.
        masked: (L,) bool, positions not decided yet.
        floor: In [0, 1].

    Returns:
        tokens: (L,) int64, the likeliest token of each position.
        accepted: (L,) bool, a subset of ``masked``; not empty unless ``masked`` is.

    Raises:
        ValueError: Shapes do not fit.

    Source:
        Fast-dLLM (arXiv 2505.22618).
    """
    if logits.dim() != 2 or masked.shape != logits.shape[:1]:
        raise ValueError(
            f"got logits {tuple(logits.shape)} and masked {tuple(masked.shape)}, "
            "expected (L, V) and (L,)"
        )
    tokens, confidence = ops.confidence(logits)
    scores = torch.where(masked, confidence, -1.0)
    accepted = scores >= floor
    if bool(masked.any()):
        accepted[scores.argmax()] = True
    return tokens, accepted & masked
