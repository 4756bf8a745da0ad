"""What ``reasoning_effort`` means: how often a drafted block is refined before it is decided.

It is a number of forwards, not randomness. ``instant`` drafts a block once; each level above drafts
again what the draft was unsure of. Spoken turns run at instant or low.
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


@dataclass(frozen=True, slots=True)
class Refinement:
    """How a block is denoised.

    Attributes:
        steps: Draft forwards per block at most, before the block is verified or committed.
        threshold: Confidence at and above which a drafted token is kept; in (0, 1).
    """

    steps: int
    threshold: float


REFINEMENT = {
    Effort.INSTANT: Refinement(steps=1, threshold=0.7),
    Effort.LOW: Refinement(steps=2, threshold=0.8),
    Effort.MEDIUM: Refinement(steps=4, threshold=0.9),
    Effort.HIGH: Refinement(steps=8, threshold=0.95),
}
