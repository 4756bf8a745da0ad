"""A stretch of an answer that is being decided where nothing verifies it: a block, all at once.

Free, any position may be decided before those to its left. Under a grammar positions are decided
from left to right, as many in a step as the model is sure of, so that what stands can always be
completed.

Shapes: n positions of the stretch, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dlm.decoding.decoder import Plan, Vocabulary
from dlm.decoding.draft_reuse import doubted
from dlm.decoding.unmask import Drift, accept, edits, propose
from dlm.effort import Rule
from dlm.grammar.matcher import Matcher


class Constraint:
    """A grammar, and the tokens that it has forced and that are not placed yet."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.forced: list[int] = []


class MaskedBlock:
    """Tokens of a stretch, the mask where they are undecided.

    Args:
        tokens: n of them; those of an earlier answer, which are doubted in the first step, or
            masks.
        first: Position in the answer of the first of them.
        plan: How to decide.
        vocabulary: Of the checkpoint.
        constraint: Goes on from stretch to stretch; None where there is no grammar.
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
        self._steps = 0
        self._drift = Drift() if plan.refinement.rule is Rule.STABLE else None
        self._doubtful = bool((self._tokens != vocabulary.mask).any())
        self._edited = False
        self._begun = False
        if constraint is not None:
            self._place(0)

    @property
    def tokens(self) -> list[int]:
        """As they stand."""
        return self._tokens.tolist()

    @property
    def decided(self) -> list[int]:
        """Those before the first mask, cut after the first end mark."""
        out: list[int] = []
        for token in self.tokens:
            if token == self._vocabulary.mask:
                break
            out.append(token)
            if token == self._vocabulary.end:
                break
        return out

    @property
    def over(self) -> bool:
        """Whether there is nothing left to decide, or to correct, before the end."""
        if self._doubtful or self._edited:
            return False
        decided = self.decided
        return len(decided) == len(self._tokens) or decided[-1:] == [self._vocabulary.end]

    def begin(self, logits: Tensor) -> None:
        """Decide the first position alone, unless it is decided.

        Args:
            logits: (1, V) of a forward that knew nothing of the stretch.
        """
        self._begun = True
        if self._doubtful:
            kept = doubted(
                self.tokens[:1],
                logits.cpu(),
                self._plan.refinement.threshold,
                self._vocabulary.mask,
            )
            self._tokens[0] = kept[0]
        if self._tokens[0] != self._vocabulary.mask:
            return
        if self._constraint is not None:
            self._follow(logits, self._constraint)
        else:
            self._tokens[:1] = propose(logits, self._plan.sampling, self._first).tokens

    def take(self, logits: Tensor) -> None:
        """Take a step.

        Args:
            logits: (n, V), row i predicting position i; what never answers is -inf.
        """
        if self._constraint is not None:
            self._follow(logits, self._constraint)
            return
        refinement, mask = self._plan.refinement, self._vocabulary.mask
        if self._doubtful:
            self._doubtful = False
            known = self._tokens != mask
            known[0] &= not self._begun
            kept = doubted(self.tokens, logits.cpu(), refinement.threshold, mask)
            self._tokens = torch.where(known, torch.tensor(kept), self._tokens)
        masked = self._tokens == mask
        entropy = refinement.rule is Rule.ENTROPY
        proposal = propose(logits, self._plan.sampling, self._first, entropy, self._drift)
        left = max(1, refinement.steps - self._steps)
        chosen = accept(proposal, masked, refinement, left)
        # A correction may be taken back by the next; so many steps must be enough.
        patient = refinement.editing < 1 and self._steps < 2 * len(masked)
        editable = ~masked & patient
        editable[0] &= not self._begun
        wrong = edits(proposal, self._tokens, editable, refinement.editing)
        self._edited = bool(wrong.any())
        self._tokens = torch.where(chosen | wrong, proposal.tokens, self._tokens)
        self._steps += 1

    def _follow(self, logits: Tensor, constraint: Constraint) -> None:
        plan, mask = self._plan, self._vocabulary.mask
        rows = logits.cpu()
        if plan.sampling is not None:
            rows = plan.sampling.perturb(rows, self._first)
        undecided = (self._tokens == mask).nonzero()[:, 0].tolist()
        at = start = undecided[0]
        while at < len(rows):
            token = constraint.matcher.best(rows[at])
            sure = float(logits[at].softmax(dim=-1)[token])
            if at > start and sure < plan.refinement.threshold:
                return
            if token == self._vocabulary.end:
                self._tokens[at] = token
                return
            constraint.forced = [token, *constraint.matcher.advance(token)]
            at = self._place(at)
            if self._vocabulary.end in self.tokens[start:at]:
                return

    def _place(self, at: int) -> int:
        """Put what is forced from a position on; returns the first behind it."""
        assert self._constraint is not None
        forced = self._constraint.forced
        here = forced[: len(self._tokens) - at]
        self._tokens[at : at + len(here)] = torch.tensor(here, dtype=torch.int64)
        self._constraint.forced = forced[len(here) :]
        return at + len(here)
