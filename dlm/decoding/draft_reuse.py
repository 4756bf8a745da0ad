"""Uses an earlier answer as the draft of a new one.

With verification, the earlier answer only proposes what to check, so the result is the same as
decoding afresh. Without, its tokens are put into the blocks, and masked where the model doubts them
under the new prompt.

Shapes: n tokens of the earlier answer, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dlm.decoding.verify import Verdict

REACH = 48
"""Most tokens proposed at a time."""

WINDOW = 12
"""Tokens of the earlier answer that are searched for the new token where the answers diverge."""

NEAR = 3
"""Most tokens that the guesses tried first may skip."""


class DraftReuse:
    """Aligns a growing answer with an earlier one, and proposes how it goes on.

    As long as the two agree, the rest of the earlier answer is proposed. Where they diverge, there
    are a few guesses: words were left out, so the new token stands a little further on; it replaced
    the old token; or it was inserted before it. The first guess is proposed, and the next known
    token rules out the guesses that do not fit it. When no guess is left, nothing is proposed until
    two tokens in a row are found again.

    Args:
        tokens: Tokens of the earlier answer, end mark included; empty if there is none.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = list(tokens)
        self._guesses = [0]
        self._parted = False
        self._past = 0
        self._proposed = False

    def propose(self, room: int) -> list[int]:
        """The tokens to verify next, at most `REACH` and ``room``; empty without a guess."""
        at = self._guesses[0] if self._guesses else len(self._tokens)
        out = self._tokens[at : at + min(REACH, room)]
        self._proposed = bool(out)
        return out

    def learn(self, verdict: Verdict) -> int:
        """Learn from the verdict on the last draft, whether it was proposed here or not.

        Returns:
            The number of tokens of the earlier answer that it keeps.
        """
        if not self._proposed:
            self._realign([*verdict.accepted, *verdict.added][-2:])
            return 0
        kept, added = len(verdict.accepted), verdict.added
        at = self._guesses[0] + kept
        agreed = 0
        while agreed < len(added) and self._tokens[at : at + 1] == [added[agreed]]:
            at += 1
            agreed += 1
        self._past = max(self._past, at)
        rest = added[agreed:]
        if not rest:
            self._guesses, self._parted = [at], False
        elif kept + agreed or not self._parted:
            self._guesses, self._parted = self._alternatives(at, rest), True
        else:
            size = len(rest)
            others = self._guesses[1:]
            self._guesses = [g + size for g in others if self._tokens[g : g + size] == rest]
        return kept + agreed

    def _alternatives(self, at: int, added: list[int]) -> list[int]:
        """Positions where the earlier answer may go on after tokens that it lacks at ``at``."""
        window = enumerate(self._tokens[at : at + WINDOW], at + 1)
        later = [index for index, token in window if token == added[-1]]
        near = [index for index in later if index <= at + NEAR]
        # Without duplicates, in order.
        return list(dict.fromkeys([*near, at + len(added), at, *later]))

    def _realign(self, pair: list[int]) -> None:
        for index in range(self._past, len(self._tokens) - 1):
            if self._tokens[index : index + 2] == pair:
                self._guesses, self._parted = [index + 2], False
                return


def mask_doubted(tokens: Sequence[int], logits: Tensor, floor: float, mask: int) -> list[int]:
    """An earlier answer's (n,) tokens, masked where the model doubts them.

    Row i of the logits, (at least n, V), predicts token i. A token whose probability is below
    ``floor`` is masked.
    """
    wanted = torch.tensor(tokens, dtype=torch.int64)
    probability = logits[: len(wanted)].softmax(dim=-1).gather(-1, wanted[:, None])[:, 0]
    return torch.where(probability >= floor, wanted, mask).tolist()
