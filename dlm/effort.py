"""What ``reasoning_effort`` means, in one table.

It is a number of forwards, not randomness: ``instant`` drafts a block once; each level above drafts
again what the draft was unsure of, and keeps only what it is surer of. Verified, this changes no
answer; where blocks are committed as they are drafted, more effort is fewer tokens decided at once.

``medium`` and ``high`` also think in words before they answer, where the checkpoint was taught to
(``reasons`` in its config.json). ``instant`` and ``low`` never do; spoken turns run at these.
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
        steps: Draft forwards per block at most, before the block is verified; 0 decodes token by
            token. A block that is committed as it was drafted takes as many as it needs.
        threshold: The rule's number; of the rule ``threshold`` a confidence, in (0, 1).
        rule: Which masked positions a step decides, by its name in `dlm.decoding.unmask.RULES`.
    """

    steps: int
    threshold: float
    rule: str = "threshold"


REFINEMENT = {
    Effort.INSTANT: Refinement(steps=1, threshold=0.7),
    Effort.LOW: Refinement(steps=2, threshold=0.8),
    Effort.MEDIUM: Refinement(steps=4, threshold=0.9),
    Effort.HIGH: Refinement(steps=8, threshold=0.95),
}


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How long a thought before an answer is, in tokens.

    Attributes:
        least: Before so many it does not end.
        enough: From so many on it ends with its sentence.
        most: Here it ends in any case; at least 1.
    """

    least: int
    enough: int
    most: int


REASONING: dict[Effort, Reasoning | None] = {
    Effort.INSTANT: None,
    Effort.LOW: None,
    Effort.MEDIUM: Reasoning(least=4, enough=16, most=32),
    Effort.HIGH: Reasoning(least=24, enough=64, most=96),
}
