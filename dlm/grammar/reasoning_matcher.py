"""Reasoning before an answer: a matcher that allows it first, within a budget.

To the decoder, reasoning is part of the answer's grammar, so drafting, verification, sampling and
batching need nothing special. This module decides where it ends: where the model closes it, once
the minimum length is reached; at the end of a sentence, once it is long enough or repeats a
sentence; and at the maximum length in any case.

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
from dlm.language.chat_format import ReasoningMarks


class ReasoningMatcher(Matcher):
    """Reasoning, its closing mark, and then the grammar of another matcher."""

    def __init__(self, answer: Matcher, marks: ReasoningMarks, budget: Reasoning) -> None:
        super().__init__(None, answer.end)
        self._answer = answer
        self._marks = marks
        self._budget = budget
        self._reasoning: list[int] = []
        self._over = False

    @property
    def needs_logits(self) -> bool:
        """See `Matcher.needs_logits`."""
        return self._answer.needs_logits

    @property
    def adjusts(self) -> bool:
        """See `Matcher.adjusts`."""
        return self._over and self._answer.adjusts

    @property
    def several_calls(self) -> bool:
        """See `Matcher.several_calls`."""
        return self._over and self._answer.several_calls

    def in_doubt(self, logits: Tensor) -> bool:
        """See `Matcher.in_doubt`."""
        return self._over and self._answer.in_doubt(logits)

    def set_gains(self, gains: Mapping[str, float]) -> None:
        """See `Matcher.set_gains`."""
        self._answer.set_gains(gains)

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
            # The closing mark is forced here: go on only if the draft has it as well.
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
        other = ReasoningMatcher(self._answer.copy(), self._marks, self._budget)
        other._reasoning, other._over = list(self._reasoning), self._over
        return other

    def follow(self, ids: Sequence[int]) -> None:
        """See `Matcher.follow`; only the answer can be given, not the reasoning.

        Raises:
            ValueError: The reasoning is not over, or a token may not come next.
        """
        if not self._over:
            raise ValueError("prefix: got one before reasoning")
        self._answer.follow(ids)

    def advance(self, token: int) -> list[int]:
        """See `Matcher.advance`."""
        if self._over:
            return self._answer.advance(token)
        if token in self._banned():
            raise ValueError(f"got token {token}, which reasoning does not hold here")
        self._over = token == self._marks.closing
        if self._over:
            self._answer.spend(len(self._reasoning) + 1)
            return []
        self._reasoning.append(token)
        count = len(self._reasoning)
        self._over = count >= self._budget.most
        if token in self._marks.stops:
            self._over |= count >= self._budget.enough or self._repeats_sentence()
        if not self._over:
            return []
        self._answer.spend(count + 1)
        return [self._marks.closing]

    def _banned(self) -> tuple[int, ...]:
        early = len(self._reasoning) < max(1, self._budget.least)
        return (*self._marks.outside, self._marks.closing) if early else self._marks.outside

    def _repeats_sentence(self) -> bool:
        """Whether the sentence that has just ended equals an earlier one."""
        ends = [i for i, token in enumerate(self._reasoning) if token in self._marks.stops]
        starts = [0, *(end + 1 for end in ends)]
        *earlier, last = (self._reasoning[a : b + 1] for a, b in zip(starts, ends, strict=False))
        return last in earlier


def split_reasoning(
    tokens: Sequence[int], marks: ReasoningMarks
) -> tuple[list[int], list[int] | None]:
    """Split the tokens after the opening mark into reasoning and answer, without the closing mark.

    The answer is None if the reasoning is not over.
    """
    tokens = list(tokens)
    if marks.closing not in tokens:
        return tokens, None
    cut = tokens.index(marks.closing)
    return tokens[:cut], tokens[cut + 1 :]
