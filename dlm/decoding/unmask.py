"""Which masked positions of a block a denoising step decides: pure functions.

A rule takes a `Proposal`, the masked positions and the rule's number, and returns the positions to
decide. It accepts at least one position while any is masked, and none that is not masked. To add a
rule write such a function and name it in `RULES`, and in the test's `NUMBERS` with some of its
numbers; `dlm.effort.Refinement` selects it by that name.

Shapes: L positions of a block, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dlm.effort import Refinement

if TYPE_CHECKING:
    from dlm.decoding.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Proposal:
    """The token that the model would put at each position of a block, on the CPU.

    Attributes:
        tokens: (L,) int64, never the mask; of equally likely tokens the lowest id.
        confidence: (L,) float32, the model's probability for the token.
    """

    tokens: Tensor
    confidence: Tensor


def propose(logits: Tensor, sampling: Sampling | None = None, first: int = 0) -> Proposal:
    """Read a proposal off logits, (L, V) float32.

    All banned tokens are -inf, and the mask. ``first`` is the position in the answer of the first
    row, which the noise belongs to.
    """
    tokens = likeliest(logits if sampling is None else sampling.perturb(logits, first))
    confidence = logits.softmax(dim=-1).gather(-1, tokens[:, None])[:, 0]
    return Proposal(tokens.cpu(), confidence.cpu())


def likeliest(logits: Tensor) -> Tensor:
    """The token of the highest logit in each row, (..., V) to (...); ties go to the lowest id."""
    if logits.is_cuda:
        return logits.argmax(dim=-1)
    # NumPy's is ten times as fast as torch's on a CPU: a twentieth of a draft.
    return torch.from_numpy(np.asarray(logits.numpy().argmax(axis=-1)))


def threshold(proposal: Proposal, masked: Tensor, floor: float) -> Tensor:
    """Accept every masked position at or above a confidence, and always the most confident one.

    Args:
        proposal: Of this step.
        masked: (L,) bool, positions that are not decided yet.
        floor: Confidence from which on a position is accepted.

    Returns:
        (L,) bool, a subset of ``masked``; not empty unless ``masked`` is. Of equally confident
        positions the lowest counts as the most confident.

    Source:
        Fast-dLLM (arXiv 2505.22618).
    """
    scores = torch.where(masked, proposal.confidence, -torch.inf)
    accepted = scores >= floor
    accepted[scores.argmax()] = True
    return masked & accepted


UnmaskRule = Callable[[Proposal, Tensor, float], Tensor]

RULES: Mapping[str, UnmaskRule] = {"threshold": threshold}
"""Every rule by the name that `dlm.effort.Refinement.rule` selects it by."""


def accept(proposal: Proposal, masked: Tensor, refinement: Refinement) -> Tensor:
    """The masked positions that a step decides by the rule of a refinement, (L,) bool.

    Raises:
        ValueError: ``masked`` has another length than the proposal.
    """
    if masked.shape != proposal.confidence.shape:
        raise ValueError(
            f"masked: got shape {tuple(masked.shape)}, "
            f"expected {tuple(proposal.confidence.shape)} as the proposal has"
        )
    number = refinement.threshold if refinement.number is None else refinement.number
    return RULES[refinement.rule](proposal, masked, number)
