"""The operations that callers use: arguments checked, then Triton on CUDA and torch elsewhere.

Triton is imported when a CUDA tensor first arrives, so that everything runs where it is not
installed.
"""

from __future__ import annotations

import torch

from kernels import reference

_FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def confidence(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Most likely token at each position and the model's probability for it.

    Args:
        logits: (N, V) float16, bfloat16 or float32, V ≥ 1, last dim contiguous; -inf bans a token.

    Returns:
        tokens: (N,) int64; ties go to the lowest id. A nan logit is never the most likely.
        confidence: (N,) float32 in (0, 1]; nan where a whole row is -inf, or holds nan or +inf.

    Raises:
        ValueError: logits is not 2-D, has no columns or another dtype, or its last dim is not
            contiguous.
    """
    _check_logits(logits)
    if not logits.is_cuda or not logits.shape[0]:
        return reference.confidence(logits)
    from kernels.confidence import confidence_into

    tokens = torch.empty(logits.shape[0], dtype=torch.int64, device=logits.device)
    probabilities = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
    confidence_into(logits, tokens, probabilities)
    return tokens, probabilities


def _check_logits(logits: torch.Tensor) -> None:
    if logits.ndim != 2 or not logits.shape[1]:
        raise ValueError(f"logits: got shape {tuple(logits.shape)}; expected (N, V) with V >= 1")
    if logits.dtype not in _FLOATS:
        raise ValueError(f"logits: got {logits.dtype}; expected float16, bfloat16 or float32")
    # A single column is contiguous whatever its stride says.
    if logits.shape[1] > 1 and logits.stride(1) != 1:
        raise ValueError(f"logits: got strides {logits.stride()}; expected the last one to be 1")
