"""What ``reasoning_effort`` means, in one table.

It is a number of forwards, not randomness, and not words: no level writes out its reasoning, which
no checkpoint here was trained to. ``instant`` drafts a block once; each level above drafts again
what the draft was unsure of, and keeps only what it is surer of. Verified, every level gives the
same answer; where blocks are committed as they are drafted, more effort is fewer tokens decided at
once. Spoken turns run at instant or low.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Effort(StrEnum):
    """Levels, as in Mercury 2's API."""

    INSTANT = "instant"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Rule(StrEnum):
    """Which positions a denoising step decides; each is a function of `dlm.unmask`."""

    THRESHOLD = "threshold"
    LOW_CONFIDENCE = "low_confidence"
    FACTOR = "factor"
    ENTROPY = "entropy"
    HIERARCHICAL = "hierarchical"


@dataclass(frozen=True, slots=True)
class Refinement:
    """How a block is denoised.

    Attributes:
        steps: Draft forwards per block at most, before the block is verified; 0 decodes token by
            token. A block that is committed as it was drafted takes as many as it needs.
        threshold: The rule's number: a confidence for ``threshold`` and ``hierarchical``, in
            (0, 1); the factor for ``factor``; nats for ``entropy``; unused by ``low_confidence``.
        rule: Which positions a step decides.
        editing: Confidence in another token above which a decided one is overwritten, where blocks
            are committed as they are; 1 is never. For checkpoints that were trained to.
    """

    steps: int
    threshold: float
    rule: Rule = Rule.THRESHOLD
    editing: float = 1.0


REFINEMENT = {
    Effort.INSTANT: Refinement(steps=1, threshold=0.7),
    Effort.LOW: Refinement(steps=2, threshold=0.8),
    Effort.MEDIUM: Refinement(steps=4, threshold=0.9),
    Effort.HIGH: Refinement(steps=8, threshold=0.95),
}
