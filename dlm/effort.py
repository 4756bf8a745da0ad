"""What each level of ``reasoning_effort`` means.

It sets the number of denoising steps: ``instant`` drafts a block in one step; each higher level
takes more steps over the unsure positions, with a higher threshold. With verification, this does
not change answers; where blocks are committed unverified, more effort decides fewer tokens per
step.

``medium`` and ``high`` also reason in words before the answer if the checkpoint was trained to
(``reasons`` in its config.json). ``instant`` and ``low`` never do; spoken turns use these.
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
        steps: Most draft forwards per block before it is verified; 0 decodes token by token. A
            block that is committed as it was drafted takes as many as it needs.
        threshold: Least confidence, in (0, 1), for a position to be decided. A token of an earlier
            answer below it is masked.
        rule: Name in `dlm.decoding.unmask.RULES` of the rule that chooses which masked positions a
            step decides.
        number: The rule's number; None takes the threshold.
    """

    steps: int
    threshold: float
    rule: str = "threshold"
    number: float | None = None


REFINEMENT = {
    Effort.INSTANT: Refinement(steps=1, threshold=0.7),
    Effort.LOW: Refinement(steps=2, threshold=0.8),
    Effort.MEDIUM: Refinement(steps=4, threshold=0.9),
    Effort.HIGH: Refinement(steps=8, threshold=0.95),
}


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The length of the reasoning before an answer, in tokens.

    Attributes:
        least: The reasoning does not end before this length.
        enough: From this length on, it ends with its sentence.
        most: It ends at this length in any case; at least 1.
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
