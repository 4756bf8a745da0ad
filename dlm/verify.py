"""Self-verification: how much of a draft the causal forward of the same weights agrees to.

The accepted tokens equal decoding of those weights left to right, under the same grammar and with
the same noise, token for token; drafting only saves forwards.

Source: self-speculative decoding as in Nemotron-Labs-Diffusion's LinearSpec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from dlm.grammar import Matcher


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the causal forward says of a drafted block.

    Attributes:
        accepted: Drafted tokens that are final, in order.
        given: Tokens that follow them, decided but not yet forwarded: the causal choice where the
            draft was wrong or ended, and what the grammar forces after it. Empty when the end mark
            is among the accepted ones, and never else.
    """

    accepted: list[int]
    given: list[int]


def choose(logits: Tensor, matcher: Matcher | None) -> list[int]:
    """The causal choice at one position, and what the grammar forces after it; all consumed.

    Args:
        logits: (V,).
        matcher: Of the answer so far, or None where there is no grammar.
    """
    if matcher is None:
        return [int(logits.argmax())]
    token = matcher.best(logits)
    return [token] if token == matcher.end else [token, *matcher.advance(token)]


def verify(
    draft: Sequence[int],
    logits: Tensor,
    matcher: Matcher | None,
    end: int,
) -> Verdict:
    """Accept the longest run of drafted tokens that decoding left to right would have made.

    Args:
        draft: (n,) drafted tokens that follow the known ones of the block.
        logits: (n + 1, V) of the causal forward: row i predicts ``draft[i]``.
        matcher: State after the known tokens; moved on by what is accepted and given.
        end: The token that ends an answer.

    Raises:
        ValueError: The lengths do not fit.
    """
    if len(logits) != len(draft) + 1:
        raise ValueError(f"got {len(logits)} rows of logits, expected {len(draft) + 1}")
    accepted: list[int] = []
    while True:
        for count, token in enumerate(chosen := choose(logits[len(accepted)], matcher)):
            if len(accepted) == len(draft) or draft[len(accepted)] != token:
                return Verdict(accepted, chosen[count:])
            accepted.append(token)
        if accepted[-1] == end:
            return Verdict(accepted, [])


def guided(tokens: Tensor, logits: Tensor, matcher: Matcher) -> list[int]:
    """A draft under a grammar: what it forces is placed, what it refuses is replaced.

    Args:
        tokens: (n,) as drafted.
        logits: (n, V) that they were drafted from, on the CPU.
        matcher: State before the first of them; it is not moved.

    Returns:
        At most n tokens, cut after the end mark.
    """
    matcher = matcher.copy()
    # What an earlier step decided stands, though a later one may have wavered.
    rows = logits.scatter(-1, tokens[:, None], logits.amax(dim=-1, keepdim=True) + 1)
    out: list[int] = []
    while len(out) < len(rows):
        try:
            out += choose(rows[len(out)], matcher)
        except ValueError:
            # Nothing goes on from here; whether that is so is for the verification to find out.
            break
        if matcher.end in out:
            break
    return out[: len(rows)]
