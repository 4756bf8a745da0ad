"""Thoughts before answers: a matcher that lets one be written first, within a budget.

To whoever decodes, a thought is more of the answer's grammar, so that drafting, verification,
sampling and batches are what they are without it. Where it ends is decided here: by the model
behind the least, at the next end of a sentence once it is enough or says what was said before, and
at the most in any case.

Shapes: n tokens of a draft, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.effort import Reasoning
from dlm.grammar.matcher import Matcher
from dlm.language.chat_format import ThoughtMarks


class ReasoningMatcher(Matcher):
    """A thought, its closing mark, and then what another matcher says.

    Args:
        answer: At the beginning of the answer.
        marks: Of the dialect.
        budget: How long the thought is.
    """

    def __init__(self, answer: Matcher, marks: ThoughtMarks, budget: Reasoning) -> None:
        super().__init__(None, answer.end)
        self._answer = answer
        self._marks = marks
        self._budget = budget
        self._thought: list[int] = []
        self._over = False

    @property
    def choosing(self) -> bool:
        """See `Matcher.choosing`."""
        return self._answer.choosing

    @property
    def leans(self) -> bool:
        """See `Matcher.leans`."""
        return self._over and self._answer.leans

    @property
    def several(self) -> bool:
        """See `Matcher.several`."""
        return self._over and self._answer.several

    def undecided(self, logits: Tensor) -> bool:
        """See `Matcher.undecided`."""
        return self._over and self._answer.undecided(logits)

    def weigh(self, gains: Mapping[str, float]) -> None:
        """See `Matcher.weigh`."""
        self._answer.weigh(gains)

    def best(self, logits: Tensor) -> int:
        """See `Matcher.best`."""
        if self._over:
            return self._answer.best(logits)
        return int(logits.index_fill(0, torch.tensor(self._banned()), -torch.inf).argmax())

    def allowed(self, draft: Sequence[int]) -> NDArray[np.int32]:
        """See `Matcher.allowed`."""
        width = self._answer.allowed(()).shape[1]
        out = np.full((len(draft) + 1, width), -1, dtype=np.int32)
        here = self.copy()
        at = 0
        while not here._over:
            for token in here._banned():
                out[at, token // 32] &= ~np.int32(np.uint32(1 << token % 32).view(np.int32))
            if at == len(draft) or draft[at] in here._banned():
                return out
            forced = here.advance(draft[at])
            at += 1
            # Where the closing mark has to follow nothing is chosen.
            if forced and draft[at : at + 1] != forced:
                return out
            at += len(forced)
        out[at:] = here._answer.allowed(draft[at:])
        return out

    def forced(self) -> list[int]:
        """See `Matcher.forced`."""
        return self._answer.forced() if self._over else []

    def takes(self, token: int) -> bool:
        """See `Matcher.takes`."""
        return token not in self._banned() if not self._over else self._answer.takes(token)

    def copy(self) -> ReasoningMatcher:
        """See `Matcher.copy`."""
        twin = ReasoningMatcher(self._answer.copy(), self._marks, self._budget)
        twin._thought, twin._over = list(self._thought), self._over
        return twin

    def follow(self, ids: Sequence[int]) -> None:
        """See `Matcher.follow`; what is thought is for the model to say.

        Raises:
            ValueError: The thought is not over; or as `Matcher.follow`.
        """
        if not self._over:
            raise ValueError("prefix: got one before a thought")
        self._answer.follow(ids)

    def advance(self, token: int) -> list[int]:
        """See `Matcher.advance`."""
        if self._over:
            return self._answer.advance(token)
        if token in self._banned():
            raise ValueError(f"got token {token}, which no thought holds here")
        self._over = token == self._marks.closing
        if self._over:
            return []
        self._thought.append(token)
        count = len(self._thought)
        self._over = count >= self._budget.most
        if token in self._marks.stops:
            self._over |= count >= self._budget.enough or self._circles()
        return [self._marks.closing] if self._over else []

    def _banned(self) -> tuple[int, ...]:
        early = len(self._thought) < max(1, self._budget.least)
        return (*self._marks.outside, self._marks.closing) if early else self._marks.outside

    def _circles(self) -> bool:
        """Whether the sentence that has just ended stood there before."""
        ends = [i for i, token in enumerate(self._thought) if token in self._marks.stops]
        starts = [0, *(end + 1 for end in ends)]
        *earlier, last = (self._thought[a : b + 1] for a, b in zip(starts, ends, strict=False))
        return last in earlier


def parted(tokens: Sequence[int], marks: ThoughtMarks) -> tuple[list[int], list[int] | None]:
    """A thought and the answer behind it, of the tokens from the opening mark on.

    Returns:
        The thought, marks left out; the answer, None where the thought is not over.
    """
    tokens = list(tokens)
    if marks.closing not in tokens:
        return tokens, None
    cut = tokens.index(marks.closing)
    return tokens[:cut], tokens[cut + 1 :]
