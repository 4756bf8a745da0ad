"""The name of an answer's first call while it is written, and who has a say in the choice.

Names are chosen token by token: where those of several tools part, the model's logits decide, and
where they leave a doubt, how much each tool gains by something else as well
(`dlm.decoding.tool_likelihood`). Of two tokens each stands for the best of the tools that it
leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

CERTAIN = 0.999
"""Share of the likeliest next token from which on the model is not in doubt."""


class ToolChoice:
    """Where an answer stands in the name of its first call.

    Args:
        call: Id of the mark that opens a call.
        spelled: Tool → ids of its name.

    Attributes:
        over: Whether the first call's name is written.
        calls: How many calls the answer has begun.
    """

    def __init__(self, call: int, spelled: Mapping[str, Sequence[int]]) -> None:
        self._call = call
        # By next token the tools that it leaves; None stands for whatever follows a whole name.
        self._spelled = {tool: tuple(ids) for tool, ids in spelled.items()}
        self._gains: Mapping[str, float] | None = None
        self._written = -1
        self._parting: dict[int | None, list[str]] = {}
        self.over = False
        self.calls = 0

    @property
    def leans(self) -> bool:
        """Whether several tools part here and their gains are known."""
        return self._gains is not None and len(self._parting) > 1

    def follow(self, token: int) -> None:
        """Go on with a token of the answer."""
        self.calls += token == self._call
        if self.over:
            return
        if self._written < 0:
            if token == self._call:
                self._written = 0
                self._part(list(self._spelled))
            return
        left = self._parting.get(token, [])
        self._written += 1
        self.over = not left
        self._part(left)

    def undecided(self, logits: Tensor) -> bool:
        """Whether tools part here, the model is in doubt, and no gains are known.

        Args:
            logits: (V,) floating point, of the next token.
        """
        if self._gains is not None or len(self._parting) < 2:
            return False
        shares = logits.softmax(dim=-1)
        found = [float(shares[token]) for token in self._parting if token is not None]
        if None in self._parting:
            found.append(1 - sum(found))
        return max(found) < CERTAIN * sum(found)

    def weigh(self, gains: Mapping[str, float]) -> None:
        """Let something beside the model have a say.

        Args:
            gains: Tool → what is added to the logits of its name, in nats.
        """
        self._gains = gains

    def lean(self, logits: Tensor) -> Tensor:
        """Logits of the next token, (V,), with the gains of the tools that part here."""
        if self._gains is None or len(self._parting) < 2:
            return logits
        gains = self._gains
        best = {token: max(gains[tool] for tool in left) for token, left in self._parting.items()}
        # What no name goes on with is another spelling, unless a whole name may end here.
        leant = logits + best.get(None, -torch.inf)
        for token, gain in best.items():
            if token is not None:
                leant[token] = logits[token] + gain
        return leant

    def copy(self) -> ToolChoice:
        """One that stands at the same place and goes on by itself."""
        twin = ToolChoice(self._call, {})
        twin._spelled, twin._gains = self._spelled, self._gains
        twin._written, twin._parting = self._written, self._parting
        twin.over, twin.calls = self.over, self.calls
        return twin

    def _part(self, left: Sequence[str]) -> None:
        self._parting = {}
        for tool in left:
            ids = self._spelled[tool]
            token = ids[self._written] if self._written < len(ids) else None
            self._parting.setdefault(token, []).append(tool)
