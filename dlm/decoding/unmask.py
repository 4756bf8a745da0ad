"""Which masked positions of a block to decide, given what the model proposes: pure functions.

Every rule accepts at least one position while any is masked, and none that is not masked. Ties go
to the lowest position; a proposed token is the lowest id of the likeliest ones, and never the mask.

Shapes: L positions of a block, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dlm.effort import Refinement, Rule
from kernels import ops

if TYPE_CHECKING:
    from dlm.decoding.sampling import Sampling

STILL_STEPS = 2
STILL_NATS = 0.01


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the model would put at each position of a block, all on the CPU.

    Attributes:
        tokens: (L,) int64.
        confidence: (L,) float32, the model's probability for the token.
        entropy: (L,) float32, of the model's distribution, in nats; None where no rule wants it.
        drift: (L,) float32, how far the distribution moved of late, see `Drift`; None likewise.
    """

    tokens: Tensor
    confidence: Tensor
    entropy: Tensor | None = None
    drift: Tensor | None = None


class Drift:
    """How far each position's distribution moves from step to step of one block."""

    def __init__(self) -> None:
        self._before: Tensor | None = None
        self._moved: list[Tensor] = []

    def take(self, logits: Tensor) -> Tensor:
        """Take in a step.

        Args:
            logits: (L, V) float32; a banned token is -inf in all steps.

        Returns:
            (L,) float32 on the CPU: the largest divergence KL(p_t || p_(t-1)), in nats, of the last
            `STILL_STEPS` steps; infinite as long as there were not so many.
        """
        now = logits.log_softmax(dim=-1)
        if self._before is not None:
            terms = now.exp() * (now - self._before)
            # What is banned in both has no share in the sum, while 0 times nan would be nan.
            self._moved.append(terms.masked_fill(now == -torch.inf, 0.0).sum(dim=-1).cpu())
        self._before = now
        if len(self._moved) < STILL_STEPS:
            return torch.full((len(logits),), torch.inf)
        return torch.stack(self._moved[-STILL_STEPS:]).amax(dim=0)


def propose(
    logits: Tensor,
    sampling: Sampling | None = None,
    first: int = 0,
    entropy: bool = False,
    drift: Drift | None = None,
) -> Proposal:
    """Read a proposal off logits.

    Args:
        logits: (L, V) float32; the mask token, and whatever else must not be proposed, is -inf.
        sampling: Draws the tokens; None takes the likeliest.
        first: Position in the answer of the first row, which the noise belongs to.
        entropy: Whether the rule wants it.
        drift: Of the block's earlier steps, where the rule wants it.
    """
    moved = None if drift is None else drift.take(logits)
    if sampling is None and logits.is_cuda and not entropy:
        tokens, confidence = ops.confidence(logits)
        return Proposal(tokens.cpu(), confidence.cpu(), drift=moved)
    tokens = likeliest(logits if sampling is None else sampling.perturb(logits, first))
    shares = logits.softmax(dim=-1)
    confidence = shares.gather(-1, tokens[:, None])[:, 0]
    spread = torch.special.entr(shares).sum(dim=-1).cpu() if entropy else None
    return Proposal(tokens.cpu(), confidence.cpu(), spread, moved)


def likeliest(logits: Tensor) -> Tensor:
    """The token of the highest logit in each row, (..., V) to (...); ties go to the lowest id."""
    if logits.is_cuda:
        return logits.argmax(dim=-1)
    # NumPy's is ten times as fast as torch's on a CPU: a twentieth of a draft.
    return torch.from_numpy(np.asarray(logits.numpy().argmax(axis=-1)))


def accept(proposal: Proposal, masked: Tensor, refinement: Refinement, left: int) -> Tensor:
    """Apply the rule of a refinement.

    Args:
        proposal: Of this step.
        masked: (L,) bool, positions not decided yet.
        refinement: Rule and its number.
        left: Steps that remain, this one included; at least 1.

    Returns:
        (L,) bool, a subset of ``masked``; not empty unless ``masked`` is.
    """
    number = refinement.threshold
    match refinement.rule:
        case Rule.THRESHOLD:
            return threshold(proposal, masked, number)
        case Rule.LOW_CONFIDENCE:
            return low_confidence(proposal, masked, -(-int(masked.sum()) // left))
        case Rule.FACTOR:
            return factor(proposal, masked, number)
        case Rule.ENTROPY:
            return entropy_bounded(proposal, masked, number)
        case Rule.HIERARCHICAL:
            return hierarchical(proposal, masked, number)
        case Rule.STABLE:
            return stable(proposal, masked, number)


def low_confidence(proposal: Proposal, masked: Tensor, count: int) -> Tensor:
    """Accept the ``count`` most confident masked positions, at least one; see `accept`.

    Source:
        LLaDA (arXiv 2502.09992): the least confident ones are masked again.
    """
    return _leading(_scores(proposal, masked), masked, max(1, count))


def threshold(proposal: Proposal, masked: Tensor, floor: float) -> Tensor:
    """Accept every masked position at or above a confidence, and the best one always.

    Source:
        Fast-dLLM (arXiv 2505.22618).
    """
    scores = _scores(proposal, masked)
    return _leading(scores, masked, 1) | (masked & (scores >= floor))


def factor(proposal: Proposal, masked: Tensor, looseness: float) -> Tensor:
    """Accept the n best for the largest n whose every member fits: c_(i) ≥ 1 - f / (i + 1).

    The more are accepted together, the surer each must be. The best one is accepted always.

    Source:
        Fast-dLLM (arXiv 2505.22618), factor-based decoding.
    """
    scores = _scores(proposal, masked)
    ordered = scores.sort(descending=True, stable=True).values
    count = torch.arange(1, len(scores) + 1)
    fits = ordered >= 1 - looseness / (count + 1)
    return _leading(scores, masked, max(1, int(fits.cumprod(0).sum())))


def entropy_bounded(proposal: Proposal, masked: Tensor, bound: float) -> Tensor:
    """Accept the least uncertain positions while their entropies, but the last, sum to ≤ bound.

    The sum bounds what is lost by deciding them independently of each other.

    Raises:
        ValueError: The proposal has no entropies.

    Source:
        EB-sampler (arXiv 2505.24857).
    """
    if proposal.entropy is None:
        raise ValueError("entropy: got None, expected one for each position")
    scores = torch.where(masked, -proposal.entropy, -torch.inf)
    ordered = -scores.sort(descending=True, stable=True).values
    before = ordered.cumsum(0) - ordered
    # Behind the masked ones stand infinities, whose difference is nan: compares as false.
    fits = before <= bound
    return _leading(scores, masked, max(1, int(fits.cumprod(0).sum())))


def hierarchical(
    proposal: Proposal, masked: Tensor, floor: float, run_floor: float = 0.4
) -> Tensor:
    """Accept, beside what `threshold` does, the best of each run of masked ones from a floor on.

    Decided positions in the middle of a run split it, and its halves depend less on each other.

    Source:
        dInfer (arXiv 2510.08666), hierarchical decoding.
    """
    scores = _scores(proposal, masked)
    accepted = threshold(proposal, masked, floor)
    start = 0
    for end in range(1, len(scores) + 1):
        if end == len(scores) or bool(masked[end] != masked[start]):
            if bool(masked[start]):
                best = start + int(scores[start:end].argmax())
                accepted[best] |= bool(scores[best] >= run_floor)
            start = end
    return accepted


def stable(proposal: Proposal, masked: Tensor, floor: float, bound: float = STILL_NATS) -> Tensor:
    """Accept masked positions at or above a confidence that have come to rest, the best one always.

    Raises:
        ValueError: The proposal has no drift.

    Source:
        KLASS (arXiv 2511.05664).
    """
    if proposal.drift is None:
        raise ValueError("drift: got None, expected one for each position")
    scores = _scores(proposal, masked)
    still = (scores >= floor) & (proposal.drift < bound)
    return _leading(scores, masked, 1) | (masked & still)


def edits(proposal: Proposal, tokens: Tensor, editable: Tensor, floor: float) -> Tensor:
    """Decided positions to be overwritten: the model is sure of another token.

    Only for checkpoints that were trained to correct their own tokens.

    Args:
        proposal: Of a forward that saw the tokens.
        tokens: (L,) int64, as they stand.
        editable: (L,) bool, decided ones that may change.
        floor: Confidence in another token above which it is taken.

    Returns:
        (L,) bool, a subset of ``editable``; may be empty.

    Source:
        LLaDA2.1 (arXiv 2602.08676), token-to-token editing.
    """
    return editable & (proposal.tokens != tokens) & (proposal.confidence > floor)


def _scores(proposal: Proposal, masked: Tensor) -> Tensor:
    if masked.dim() != 1 or masked.shape != proposal.confidence.shape:
        raise ValueError(
            f"got confidence {tuple(proposal.confidence.shape)} and masked "
            f"{tuple(masked.shape)}, expected (L,) and (L,)"
        )
    return torch.where(masked, proposal.confidence, -torch.inf)


def _leading(scores: Tensor, masked: Tensor, count: int) -> Tensor:
    """The ``count`` masked positions of the highest scores."""
    order = scores.sort(descending=True, stable=True).indices
    chosen = torch.zeros_like(masked)
    chosen[order[:count]] = True
    return chosen & masked
