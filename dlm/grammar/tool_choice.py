"""Whether an answer begins with a call, and the name of its first call while it is written.

An answer begins with a call where that is likelier than all answers without one together: these
begin with many words, of which each alone may be less likely.

Names are chosen token by token. At a token where the names of several tools differ, the model's
logits decide; where they leave a doubt, each candidate token's logit is raised by the largest gain
(`dlm.decoding.tool_likelihood`) of the tools whose names go on with that token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

import torch
from torch import Tensor

LEAST_SHARE = 0.5
"""Share of the mark that opens a call from which on an answer begins with it."""
CERTAIN = 0.999
"""Share of the likeliest candidate token from which on the model is not in doubt."""


class ToolChoice:
    """The progress of an answer in the name of its first call.

    Args:
        call: Id of the mark that opens a call.
        spelled: Tool → ids of its name.
        sampled: Whether logits come with noise, which gives answers without a call their share.

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
        # Tools whose names go on with a token; None stands for any token after a whole name.
        self._candidates: dict[int | None, list[str]] = {}
        self.complete = False
        self.calls = 0

    @property
    def adjusts(self) -> bool:
        """Whether it begins here, or several candidates differ and their gains are known."""
        return self._first or (self._gains is not None and len(self._candidates) > 1)

    def follow(self, token: int) -> None:
        """Go on with a token of the answer."""
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

        Logits are (V,) of the next token.
        """
        if self._gains is not None or len(self._candidates) < 2:
            return False
        shares = logits.softmax(dim=-1)
        found = [float(shares[token]) for token in self._candidates if token is not None]
        if None in self._candidates:
            found.append(1 - sum(found))
        return max(found) < CERTAIN * sum(found)

    def set_gains(self, gains: Mapping[str, float]) -> None:
        """Add gains, tool → nats, to the logits of the first call's name from here on."""
        self._gains = gains

    def adjusted(self, logits: Tensor) -> Tensor:
        """Logits of the next token, (V,), with the gains of the candidates."""
        if self._first and float(logits.softmax(dim=-1)[self._call]) < LEAST_SHARE:
            out = logits.clone()
            # Finite: the grammar may allow nothing else.
            out[self._call] = torch.finfo(logits.dtype).min
            return out
        if self._gains is None or len(self._candidates) < 2:
            return logits
        gains = self._gains
        best = {
            token: max(gains[tool] for tool in tools) for token, tools in self._candidates.items()
        }
        # A token that no name goes on with spells a name differently, unless a name may end here.
        out = logits + best.get(None, -torch.inf)
        for token, gain in best.items():
            if token is not None:
                out[token] = logits[token] + gain
        return out

    def copy(self) -> ToolChoice:
        """An independent copy in the same state."""
        # Attributes are replaced and never changed in place.
        return copy(self)

    def _set_candidates(self, tools: Sequence[str]) -> None:
        self._candidates = {}
        for tool in tools:
            ids = self._spelled[tool]
            token = ids[self._written] if self._written < len(ids) else None
            self._candidates.setdefault(token, []).append(tool)
