"""Decides whether an answer begins with a call, and which tool its first call names.

An answer begins with a call if that is likelier than all answers without a call together. Those
begin with many different words, each of which alone may be less likely than the call.

Names are chosen token by token. Where the names of several tools differ, the model's logits decide.
If they leave a doubt, each candidate token's logit is raised by the largest gain
(`dlm.decoding.tool_likelihood`) of the tools whose names continue with that token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

import torch
from torch import Tensor

LEAST_SHARE = 0.5
"""Least probability of the mark that opens a call for an answer to begin with it."""
CERTAIN = 0.999
"""Least share of the likeliest candidate token for the model not to be in doubt."""


class ToolChoice:
    """The progress of an answer in the name of its first call.

    Args:
        call: Id of the mark that opens a call.
        spelled: Token ids of each tool's name.
        sampled: Whether logits come with noise. Then `LEAST_SHARE` does not apply, because sampling
            itself gives answers without a call their share.

    Attributes:
        complete: Whether the first call's name is written.
        calls: How many calls the answer has begun.
    """

    def __init__(
        self, call: int, spelled: Mapping[str, Sequence[int]], sampled: bool = False
    ) -> None:
        self._call = call
        self._first = not sampled
        self._spelled = {tool: tuple(ids) for tool, ids in spelled.items()}
        self._gains: Mapping[str, float] | None = None
        # Tokens of the name so far; -1 before the call.
        self._written = -1
        # Tools by the next token of their name; None stands for any token after a whole name.
        self._candidates: dict[int | None, list[str]] = {}
        self.complete = False
        self.calls = 0

    @property
    def adjusts(self) -> bool:
        """Whether the logits of the next token may be changed.

        That is at the start of an answer, and where candidates differ and their gains are known.
        """
        return self._first or (self._gains is not None and len(self._candidates) > 1)

    def follow(self, token: int) -> None:
        """Consume a token of the answer."""
        self._first = False
        self.calls += token == self._call
        if self.complete:
            return
        if self._written < 0:
            if token == self._call:
                self._written = 0
                self._set_candidates(list(self._spelled))
            return
        left = self._candidates.get(token, [])
        self._written += 1
        self.complete = not left
        self._set_candidates(left)

    def in_doubt(self, logits: Tensor) -> bool:
        """Whether candidates differ here, the model is unsure, and no gains are known.

        ``logits``, (V,), are those of the next token.
        """
        if self._gains is not None or len(self._candidates) < 2:
            return False
        shares = logits.softmax(dim=-1)
        found = [float(shares[token]) for token in self._candidates if token is not None]
        if None in self._candidates:
            found.append(1 - sum(found))
        return max(found) < CERTAIN * sum(found)

    def set_gains(self, gains: Mapping[str, float]) -> None:
        """Set each tool's gain in nats, to be added to the logits of the first call's name."""
        self._gains = gains

    def adjusted(self, logits: Tensor) -> Tensor:
        """The logits of the next token, (V,), with the candidates' gains added.

        At the start of an answer, the logit of a call is made minimal if the call is unlikely.
        """
        if self._first and float(logits.softmax(dim=-1)[self._call]) < LEAST_SHARE:
            out = logits.clone()
            # Finite, because the grammar may allow nothing else.
            out[self._call] = torch.finfo(logits.dtype).min
            return out
        if self._gains is None or len(self._candidates) < 2:
            return logits
        gains = self._gains
        best = {
            token: max(gains[tool] for tool in tools) for token, tools in self._candidates.items()
        }
        # A token that continues no name would misspell one, so it is ruled out unless a name may
        # end here.
        out = logits + best.get(None, -torch.inf)
        for token, gain in best.items():
            if token is not None:
                out[token] = logits[token] + gain
        return out

    def copy(self) -> ToolChoice:
        """An independent copy in the same state."""
        # A shallow copy is enough: attributes are replaced, never changed in place.
        return copy(self)

    def _set_candidates(self, tools: Sequence[str]) -> None:
        self._candidates = {}
        for tool in tools:
            ids = self._spelled[tool]
            token = ids[self._written] if self._written < len(ids) else None
            self._candidates.setdefault(token, []).append(tool)
