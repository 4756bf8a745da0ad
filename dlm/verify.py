"""Self-verification: how much of a draft the causal forward of the same weights agrees to.

The accepted tokens equal greedy decoding of those weights left to right, under the same grammar,
token for token; drafting only saves forwards.

Source: self-speculative decoding as in Nemotron-Labs-Diffusion's LinearSpec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from dlm.grammar import Matcher
from dlm.tokenizer import Mark


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the causal forward says of a drafted block.

    Attributes:
        accepted: Drafted tokens that are final, in order.
        given: Tokens that follow them, decided but not yet forwarded: the causal choice where the
            draft was wrong or ended, and what the grammar forces after it. Empty when the answer is
            complete.
        complete: Whether the end mark is among the accepted or given tokens.
    """

    accepted: list[int]
    given: list[int]
    complete: bool


def choose(logits: Tensor, matcher: Matcher | None) -> list[int]:
    """The causal choice at one position, and what the grammar forces after it; all consumed.

    Args:
        logits: (V,).
        matcher: Of the answer so far, or None where there is no grammar.
    """
    if matcher is None:
        return [int(logits.argmax())]
    token = matcher.best(logits)
    chosen = [token]
    if token != Mark.END:
        matcher.consume(token)
        for forced in matcher.forced():
            matcher.consume(forced)
            chosen.append(forced)
    return chosen


def verify(draft: Sequence[int], logits: Tensor, matcher: Matcher | None) -> Verdict:
    """Accept the longest run of drafted tokens that greedy decoding would have made.

    Args:
        draft: (n,) drafted tokens that follow the known ones of the block.
        logits: (n + 1, V) of the causal forward: row i predicts ``draft[i]``.
        matcher: State after the known tokens; moved on by what is accepted and given.

    Raises:
        ValueError: The lengths do not fit.
    """
    if len(logits) != len(draft) + 1:
        raise ValueError(f"got {len(logits)} rows of logits, expected {len(draft) + 1}")
    accepted: list[int] = []
    at = 0
    while True:
        chosen = choose(logits[at], matcher)
        agreed = 0
        while (
            agreed < len(chosen)
            and at + agreed < len(draft)
            and draft[at + agreed] == chosen[agreed]
        ):
            agreed += 1
        accepted += chosen[:agreed]
        at += agreed
        if Mark.END in chosen:
            return Verdict(accepted, chosen[agreed:], complete=True)
        if agreed < len(chosen):
            return Verdict(accepted, chosen[agreed:], complete=False)
