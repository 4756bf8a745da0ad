"""Self-verification: how much of a draft a causal forward of the same weights agrees with.

The accepted tokens are exactly those that the same weights would decode from left to right, under
the same grammar and with the same noise. Drafting only saves forwards.

Source: self-speculative decoding as in Nemotron-Labs-Diffusion's LinearSpec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from dlm.decoding.unmask import likeliest
from dlm.grammar.matcher import Matcher


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of verifying a draft.

    Attributes:
        accepted: Drafted tokens that are final, in order.
        added: Tokens that follow them, decided but not yet forwarded: the causal choice where the
            draft was wrong or ended, and the tokens that the grammar forces after it. Empty only if
            the end mark was accepted, or if ``in_doubt``.
        in_doubt: Whether a tool must be chosen after the accepted tokens and the model is in doubt
            (`dlm.grammar.tool_choice`). The rows from there on are then still to be verified.
        decided: Indices of the accepted and added tokens that were chosen from their rows; the
            others were forced by the grammar.
    """

    accepted: list[int]
    added: list[int]
    in_doubt: bool = False
    decided: tuple[int, ...] = field(default=(), compare=False)


def choose(row: Tensor | int, matcher: Matcher | None) -> list[int]:
    """The causal choice at one position, and the tokens that the grammar forces after it.

    The matcher consumes them all. ``row`` holds logits, (V,), or is the token that was chosen from
    them within the grammar.
    """
    if isinstance(row, int):
        token = row
    else:
        token = int(row.argmax()) if matcher is None else matcher.best(row)
    if matcher is None:
        return [token]
    return [token] if token == matcher.end else [token, *matcher.advance(token)]


def verify(
    draft: Sequence[int],
    rows: Tensor | Sequence[int],
    matcher: Matcher | None,
    end: int,
) -> Verdict:
    """Accept the longest run of drafted tokens that decoding left to right would have made.

    Args:
        draft: (n,) drafted tokens that follow the known ones of the block.
        rows: Logits, (n + 1, V), of the causal forward, or the token chosen from each row within
            the grammar; row i predicts ``draft[i]`` assuming that the draft is right before it.
        matcher: State after the known tokens; advanced by the accepted and added tokens.
        end: The token that ends an answer.

    Raises:
        ValueError: The lengths do not fit.
    """
    if len(rows) != len(draft) + 1:
        raise ValueError(f"got {len(rows)} rows of logits, expected {len(draft) + 1}")
    logits = rows if isinstance(rows, Tensor) else None
    picks: Sequence[int] = likeliest(rows).tolist() if isinstance(rows, Tensor) else rows
    accepted: list[int] = []
    decided: tuple[int, ...] = ()
    while True:
        row: Tensor | int = picks[len(accepted)]
        if matcher is not None and logits is not None:
            if matcher.in_doubt(logits[len(accepted)]):
                return Verdict(accepted, [], True, decided)
            # The model is mostly right, and checking one token is cheaper than checking all.
            if matcher.adjusts or not matcher.takes(picks[len(accepted)]):
                row = logits[len(accepted)]
        decided += (len(accepted),)
        for count, token in enumerate(chosen := choose(row, matcher)):
            if len(accepted) == len(draft) or draft[len(accepted)] != token:
                return Verdict(accepted, chosen[count:], decided=decided)
            accepted.append(token)
        if accepted[-1] == end:
            return Verdict(accepted, [], decided=decided)


@dataclass(frozen=True, slots=True)
class GrammaticalDraft:
    """A draft that keeps to a grammar.

    Attributes:
        tokens: At most as many as were drafted, cut after the end mark.
        in_doubt: Whether it chooses a tool although its logits leave a doubt
            (`dlm.grammar.tool_choice`).
    """

    tokens: list[int]
    in_doubt: bool


def draft_under_grammar(
    tokens: Tensor, logits: Tensor | None, matcher: Matcher
) -> GrammaticalDraft:
    """Make a draft of (n,) tokens follow a grammar: place forced tokens, replace refused ones.

    The matcher's state is that before the first token; it is not advanced. Without the logits,
    (n, V), that the tokens were drafted from, the draft ends before the first refused token.
    """
    matcher = matcher.copy()
    drafted: list[int] = tokens.tolist()
    out: list[int] = []
    in_doubt = False
    while len(out) < len(drafted):
        row: Tensor | int = drafted[len(out)]
        if logits is not None:
            in_doubt = in_doubt or matcher.in_doubt(logits[len(out)])
        if matcher.adjusts or not matcher.takes(drafted[len(out)]):
            if logits is None:
                break
            row = logits[len(out)]
        try:
            out += choose(row, matcher)
        except ValueError:
            # No token may follow. If the verification finds the same, it raises the error again.
            break
        if matcher.end in out:
            break
    return GrammaticalDraft(out[: len(drafted)], in_doubt)
