"""Pure functions that choose which masked positions of a block a denoising step decides.

A rule takes a `Proposal`, the masked positions and the rule's number, and returns the positions to
decide. It accepts at least one position while any is masked, and only masked ones. To add a rule,
write such a function and name it in `RULES`, and in the test's `NUMBERS` with a few numbers;
`dlm.effort.Refinement` selects it by that name.

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
        tokens: (L,) int64, never the mask; the lowest id of equally likely tokens.
        confidence: (L,) float32, the model's probability for the token.
    """

    tokens: Tensor
    confidence: Tensor


def propose(logits: Tensor, sampling: Sampling | None = None, first: int = 0) -> Proposal:
    """Make a proposal from logits, (L, V) float32.

    The logits of banned tokens and of the mask are -inf. ``first`` is the answer's position that
    the first row predicts, which selects the noise.
    """
    tokens = likeliest(logits if sampling is None else sampling.perturb(logits, first))
    confidence = logits.softmax(dim=-1).gather(-1, tokens[:, None])[:, 0]
    return Proposal(tokens.cpu(), confidence.cpu())


def likeliest(logits: Tensor) -> Tensor:
    """The token with the highest logit in each row, (..., V) to (...); ties go to the lowest id."""
    if logits.is_cuda:
        return logits.argmax(dim=-1)
    # On a CPU, NumPy's argmax is ten times as fast as torch's: a twentieth of a draft's time.
    return torch.from_numpy(np.asarray(logits.numpy().argmax(axis=-1)))


def threshold(proposal: Proposal, masked: Tensor, floor: float) -> Tensor:
    """Accept every masked position at or above a confidence, and always the most confident one.

    Args:
        proposal: The proposal of this step.
        masked: (L,) bool, positions that are not decided yet.
        floor: Least confidence for a position to be accepted.

    Returns:
        (L,) bool, a subset of ``masked`` that is empty only if ``masked`` is. Of equally confident
        positions, the lowest counts as the most confident.

    Source:
        Fast-dLLM (arXiv 2505.22618).
    """
    scores = torch.where(masked, proposal.confidence, -torch.inf)
    accepted = scores >= floor
    accepted[scores.argmax()] = True
    return masked & accepted


UnmaskRule = Callable[[Proposal, Tensor, float], Tensor]

RULES: Mapping[str, UnmaskRule] = {"threshold": threshold}
"""The rules by name; `dlm.effort.Refinement.rule` is one of these names."""


def accept(proposal: Proposal, masked: Tensor, refinement: Refinement) -> Tensor:
    """The masked positions that a step decides by a refinement's rule, (L,) bool.

    Raises:
        ValueError: ``masked`` and the proposal differ in length.
    """
    if masked.shape != proposal.confidence.shape:
        raise ValueError(
            f"masked: got shape {tuple(masked.shape)}, "
            f"expected {tuple(proposal.confidence.shape)} as the proposal has"
        )
    number = refinement.threshold if refinement.number is None else refinement.number
    return RULES[refinement.rule](proposal, masked, number)
