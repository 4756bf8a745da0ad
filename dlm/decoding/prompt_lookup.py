"""Drafts from the prompt: an answer, and above all a call, often repeats words of its prompt.

Such a draft costs no forward, and is verified like any other draft.

Source: LLMA (arXiv 2304.04487); also known as prompt lookup decoding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

REACH = 10
"""Most tokens proposed at a time."""

CONTEXT = 4
"""Most tokens at the answer's end that are compared with the prompt."""

PLACES = 64
"""Most occurrences of the answer's last token that are compared, counted from the prompt's end."""

PACE = 0.25
"""Weight of the latest draft in the moving average of tokens per forward."""


class PromptLookup:
    """Finds the end of an answer in its prompt, and proposes the tokens that follow it there.

    The place that shares most tokens with the answer's end is used, the last one of equals. It is
    used only while such proposals bring at least as many tokens per forward in this answer as
    denoising does.

    Args:
        prompt: Token ids.
        never: Ids that no answer holds; a proposal ends before them.
    """

    def __init__(self, prompt: Sequence[int] | NDArray[np.int64], never: Sequence[int]) -> None:
        self._prompt = np.asarray(prompt, dtype=np.int64)
        self._never = frozenset(never)
        # Tokens per forward, by the number of shared tokens; 0 is denoising.
        self._worth = [2.0, *(1.0 + shared for shared in range(1, CONTEXT + 1))]
        self._shared = 0

    def propose(self, answer: Sequence[int], room: int) -> list[int]:
        """The tokens that may follow an answer of at least one token; empty if none are found.

        At most `REACH`, and at most ``room``, the number of tokens that the answer may still have.
        """
        self._shared = 0
        places = np.flatnonzero(self._prompt[:-1] == answer[-1])[-PLACES:].tolist()
        best, shared = -1, 0
        for place in reversed(places):
            length = 1
            while length < min(CONTEXT, place + 1, len(answer)):
                if self._prompt[place - length] != answer[-1 - length]:
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

    def learn(self, accepted: int, forwards: int) -> None:
        """Learn from the last draft, whether it was proposed here or denoised.

        Args:
            accepted: How many of its tokens were accepted.
            forwards: How many forwards the draft and its verification took.
        """
        worth = self._worth[self._shared]
        self._worth[self._shared] += PACE * ((accepted + 1) / forwards - worth)
