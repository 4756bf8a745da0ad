"""An earlier answer as the draft of a new one: what of it to propose next, and what to keep.

Verified, the earlier answer only says what is worth checking: the result is what decoding afresh
would give. Unverified, it is the canvas: what the model doubts under the new prompt is masked.

Shapes: n tokens of the earlier answer, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dlm.decoding.verify import Verdict

REACH = 48
WINDOW = 12
NEAR = 3


class Earlier:
    """Where an answer stands in an earlier one.

    As long as the two agree the rest of the earlier one is proposed. Where they part there are a
    few guesses: words were left out, and the new token stands a little further on; it replaced the
    old one; it was put in before it. The first guess is proposed, and the next token that is known
    rules out those that do not have it. When none is left nothing is proposed, until two tokens in
    a row are found again.

    Args:
        tokens: Of the earlier answer, end mark included; none where there is no such answer.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = list(tokens)
        self._guesses = [0]
        self._parted = False
        self._past = 0
        self._proposed = False

    def proposed(self, room: int) -> list[int]:
        """What to verify next, `REACH` or ``room`` tokens at most; empty where nothing fits."""
        at = self._guesses[0] if self._guesses else len(self._tokens)
        out = self._tokens[at : at + min(REACH, room)]
        self._proposed = bool(out)
        return out

    def judged(self, verdict: Verdict) -> int:
        """Take in what became of the last draft, proposed or not; returns how much was kept."""
        if not self._proposed:
            self._find([*verdict.accepted, *verdict.given][-2:])
            return 0
        kept, given = len(verdict.accepted), verdict.given
        at = self._guesses[0] + kept
        agreed = 0
        while agreed < len(given) and self._tokens[at : at + 1] == [given[agreed]]:
            at += 1
            agreed += 1
        self._past = max(self._past, at)
        rest = given[agreed:]
        if not rest:
            self._guesses, self._parted = [at], False
        elif kept + agreed or not self._parted:
            self._guesses, self._parted = self._alternatives(at, rest), True
        else:
            size = len(rest)
            others = self._guesses[1:]
            self._guesses = [g + size for g in others if self._tokens[g : g + size] == rest]
        return kept + agreed

    def _alternatives(self, at: int, given: list[int]) -> list[int]:
        ahead = enumerate(self._tokens[at : at + WINDOW], at + 1)
        later = [index for index, token in ahead if token == given[-1]]
        near = [index for index in later if index <= at + NEAR]
        # In order, each once.
        return list(dict.fromkeys([*near, at + len(given), at, *later]))

    def _find(self, pair: list[int]) -> None:
        for index in range(self._past, len(self._tokens) - 1):
            if self._tokens[index : index + 2] == pair:
                self._guesses, self._parted = [index + 2], False
                return


def doubted(tokens: Sequence[int], logits: Tensor, floor: float, mask: int) -> list[int]:
    """An earlier answer, masked where the model doubts it.

    Args:
        tokens: (n,).
        logits: (at least n, V), row i the causal prediction of ``tokens[i]``.
        floor: Probability below which a token is masked.
        mask: The mask's id.

    Returns:
        (n,) tokens or the mask.
    """
    wanted = torch.tensor(tokens, dtype=torch.int64)
    probability = logits[: len(wanted)].softmax(dim=-1).gather(-1, wanted[:, None])[:, 0]
    return torch.where(probability >= floor, wanted, mask).tolist()
