"""Where the time of decoding goes: shares of an answer's seconds, by part.

Time that a part spends in another part counts for the other. The clocks cost a microsecond a call.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from dlm.decoding import decoder as decode
from dlm.decoding import forwards
from dlm.decoding import self_speculative as decode_causal
from dlm.decoding.prompt_lookup import PromptLookup
from dlm.grammar.matcher import Matcher
from dlm.network.model import Transformer

# Part → the functions that it consists of: an owner, and names that callers look up on it.
PARTS: dict[str, list[tuple[Any, tuple[str, ...]]]] = {
    "layers": [(Transformer, ("packed",))],
    "head": [(Transformer, ("logits",))],
    "tokens of logits": [(decode, ("propose", "accept")), (forwards, ("choose",))],
    "grammar": [(Matcher, ("best", "takes", "advance", "copy", "forced"))],
    "verification": [(decode_causal, ("verify",)), (decode, ("draft_under_grammar",))],
    "words of the prompt": [(PromptLookup, ("__init__", "propose", "learn"))],
}
REST = "the rest"


class Tally:
    """Counts seconds by part, forwards, and their rows."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self.forwards = 0
        self.rows = 0
        self._inner = [0.0]

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Time the parts' functions for as long as the context lasts."""
        with contextlib.ExitStack() as stack:
            for part, owners in PARTS.items():
                for owner, names in owners:
                    for name in names:
                        watched = self._watched(part, getattr(owner, name))
                        stack.enter_context(mock.patch.object(owner, name, watched))
            yield

    def figures(self, seconds: float) -> dict[str, Any]:
        """Shares of the given seconds of decoding, and averages per forward."""
        shares = {part: self.spent[part] / seconds for part in PARTS}
        shares[REST] = 1 - sum(shares.values())
        return {
            "forwards": self.forwards,
            "rows_per_forward": round(self.rows / self.forwards, 1),
            "layers_and_head_ms": round(
                (self.spent["layers"] + self.spent["head"]) * 1000 / self.forwards, 2
            ),
            "all_ms": round(seconds * 1000 / self.forwards, 2),
            "shares": {part: round(share, 3) for part, share in shares.items()},
        }

    def _watched(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if part == "layers":
                self.forwards += 1
                self.rows += len(args[1])
            self._inner.append(0.0)
            began = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                spent = time.perf_counter() - began
                self.spent[part] += spent - self._inner.pop()
                self._inner[-1] += spent

        return watched
