"""A block of an answer while it is denoised, for checkpoints whose drafts are not verified.

Without a grammar, positions may be decided in any order. Under a grammar they are decided from left
to right, as many in a step as the model is sure of, so that the decided tokens can always be
completed.

Shapes: L positions of the block, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dlm.decoding.decoder import Plan, Vocabulary
from dlm.decoding.draft_reuse import mask_doubted
from dlm.decoding.unmask import accept, propose
from dlm.grammar.matcher import Matcher


class Constraint:
    """A grammar, and the tokens that it has forced but that no block has had room for yet."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.forced: list[int] = []


class MaskedBlock:
    """Tokens of a block, the mask id where they are not decided.

    Args:
        tokens: L tokens: masks, or tokens of an earlier answer, which the first step masks where
            the model doubts them.
        first: Position of the first token in the answer.
        constraint: Grammar of the whole answer, shared by its blocks; None if there is none.
    """

    def __init__(
        self,
        tokens: Sequence[int],
        first: int,
        plan: Plan,
        vocabulary: Vocabulary,
        constraint: Constraint | None = None,
    ) -> None:
        self._tokens = torch.tensor(tokens, dtype=torch.int64)
        self._first = first
        self._plan = plan
        self._vocabulary = vocabulary
        self._constraint = constraint
        # Whether tokens of an earlier answer are still to be checked.
        self._unchecked = bool((self._tokens != vocabulary.mask).any())
        self._first_is_final = False
        if constraint is not None:
            self._place_forced(0)

    @property
    def tokens(self) -> list[int]:
        """All L tokens, the mask id where a position is not decided."""
        return self._tokens.tolist()

    @property
    def decided(self) -> list[int]:
        """The tokens before the first mask, cut after the first end mark."""
        out: list[int] = []
        for token in self.tokens:
            if token == self._vocabulary.mask:
                break
            out.append(token)
            if token == self._vocabulary.end:
                break
        return out

    @property
    def complete(self) -> bool:
        """Whether every position is decided, or every position up to an end mark."""
        if self._unchecked:
            return False
        decided = self.decided
        return len(decided) == len(self._tokens) or decided[-1:] == [self._vocabulary.end]

    def decide_first(self, logits: Tensor) -> None:
        """Decide the first position, unless it is decided already.

        The logits, (1, V), come from a forward that did not see the block.
        """
        self._first_is_final = True
        if self._unchecked:
            self._tokens[:1] = self._checked(self._tokens[:1], logits)
        if self._tokens[0] != self._vocabulary.mask:
            return
        if self._constraint is not None:
            self._follow_grammar(logits, self._constraint)
        else:
            self._tokens[:1] = propose(logits, self._plan.sampling, self._first).tokens

    def denoise(self, logits: Tensor) -> None:
        """Take one denoising step with logits, (L, V), row i predicting position i.

        Logits of banned tokens are -inf.
        """
        if self._constraint is not None:
            self._follow_grammar(logits, self._constraint)
            return
        mask = self._vocabulary.mask
        if self._unchecked:
            self._unchecked = False
            start = int(self._first_is_final)
            self._tokens[start:] = self._checked(self._tokens[start:], logits[start:])
        masked = self._tokens == mask
        proposal = propose(logits, self._plan.sampling, self._first)
        accepted = accept(proposal, masked, self._plan.refinement)
        self._tokens = torch.where(accepted, proposal.tokens, self._tokens)

    def _checked(self, tokens: Tensor, logits: Tensor) -> Tensor:
        floor, mask = self._plan.refinement.threshold, self._vocabulary.mask
        return torch.tensor(mask_doubted(tokens.tolist(), logits.cpu(), floor, mask))

    def _follow_grammar(self, logits: Tensor, constraint: Constraint) -> None:
        """Decide positions from the left while the model is sure, and the first one in any case."""
        plan, mask, end = self._plan, self._vocabulary.mask, self._vocabulary.end
        rows = logits.cpu()
        if plan.sampling is not None:
            rows = plan.sampling.perturb(rows, self._first)
        at = start = (self._tokens == mask).nonzero()[:, 0].tolist()[0]
        while at < len(rows):
            token = constraint.matcher.best(rows[at])
            confidence = float(logits[at].softmax(dim=-1)[token])
            if at > start and confidence < plan.refinement.threshold:
                return
            if token == end:
                self._tokens[at] = token
                return
            constraint.forced = [token, *constraint.matcher.advance(token)]
            at = self._place_forced(at)
            if end in self.tokens[start:at]:
                return

    def _place_forced(self, at: int) -> int:
        """Write forced tokens from a position on; returns the first position after them."""
        assert self._constraint is not None
        forced = self._constraint.forced
        placed = forced[: len(self._tokens) - at]
        self._tokens[at : at + len(placed)] = torch.tensor(placed, dtype=torch.int64)
        self._constraint.forced = forced[len(placed) :]
        return at + len(placed)
