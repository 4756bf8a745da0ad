"""Drafts from the prompt: an answer often repeats words that stand there, a call most of all.

Costs no forward; what it proposes is verified as any draft is.

Source: LLMA (arXiv 2304.04487); also known as prompt lookup decoding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

REACH = 10
CONTEXT = 4
PLACES = 64
PACE = 0.25


class PromptLookup:
    """Finds where the end of an answer stands in its prompt, and proposes what follows there.

    The place that shares most tokens with the answer's end, `CONTEXT` at most, is taken, of equals
    the last; but only as long as such a proposal brings no fewer tokens per forward, as far as this
    answer shows, than drafting does.

    Args:
        prompt: Ids.
        never: Ids that no answer holds; a proposal ends before them, and none is looked up.
    """

    def __init__(self, prompt: Sequence[int] | NDArray[np.int64], never: Sequence[int]) -> None:
        self._prompt = np.asarray(prompt, dtype=np.int64)
        self._never = frozenset(never)
        # Tokens per forward that proposals of so many tokens in common bring; 0 is drafting.
        self._worth = [2.0, *(1.0 + shared for shared in range(1, CONTEXT + 1))]
        self._shared = 0

    def proposed(self, said: Sequence[int], room: int) -> list[int]:
        """What may follow, `REACH` or ``room`` tokens at most; empty where nothing is found.

        Args:
            said: The answer so far, at least one token.
            room: Tokens that the answer may still have.
        """
        self._shared = 0
        places = np.flatnonzero(self._prompt[:-1] == said[-1])[-PLACES:].tolist()
        best, shared = -1, 0
        for place in reversed(places):
            length = 1
            while length < min(CONTEXT, place + 1, len(said)):
                if self._prompt[place - length] != said[-1 - length]:
                    break
                length += 1
            if length > shared:
                best, shared = place, length
        if best < 0 or self._worth[shared] < self._worth[0]:
            return []
        out: list[int] = []
        for token in self._prompt[best + 1 : best + 1 + min(REACH, room)].tolist():
            if token in self._never:
                break
            out.append(token)
        self._shared = shared if out else 0
        return out

    def judged(self, accepted: int, forwards: int) -> None:
        """Take in what the last draft brought, whether it was proposed here or not.

        Args:
            accepted: Tokens of it that were right.
            forwards: Forwards spent on it and on its verification.
        """
        worth = self._worth[self._shared]
        self._worth[self._shared] += PACE * ((accepted + 1) / forwards - worth)
