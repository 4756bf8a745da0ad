"""Self-verification: how much of a draft the causal forward of the same weights agrees to.

The accepted tokens equal decoding of those weights left to right, under the same grammar and with
the same noise, token for token; drafting only saves forwards.

Source: self-speculative decoding as in Nemotron-Labs-Diffusion's LinearSpec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from dlm.decoding.unmask import likeliest
from dlm.grammar.matcher import Matcher


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the causal forward says of a drafted block.

    Attributes:
        accepted: Drafted tokens that are final, in order.
        given: Tokens that follow them, decided but not yet forwarded: the causal choice where the
            draft was wrong or ended, and what the grammar forces after it. Empty when the end mark
            is among the accepted ones, and where it is undecided; never else.
        undecided: Whether a tool is to be chosen behind the accepted ones and the model is in doubt
            (`dlm.grammar.tool_choice`): the rows from there on are still to be judged.
    """

    accepted: list[int]
    given: list[int]
    undecided: bool = False


def choose(row: Tensor | int, matcher: Matcher | None) -> list[int]:
    """The causal choice at one position, and what the grammar forces after it; all consumed.

    Args:
        row: Logits, (V,), or what was chosen of them within the grammar.
        matcher: Of the answer so far, or None where there is no grammar.
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
        rows: Logits (n + 1, V) of the causal forward, or what was chosen of each row within the
            grammar, were the draft right so far; row i predicts ``draft[i]``.
        matcher: State after the known tokens; moved on by what is accepted and given.
        end: The token that ends an answer.

    Raises:
        ValueError: The lengths do not fit.
    """
    if len(rows) != len(draft) + 1:
        raise ValueError(f"got {len(rows)} rows of logits, expected {len(draft) + 1}")
    logits = rows if isinstance(rows, Tensor) else None
    picks: Sequence[int] = likeliest(rows).tolist() if isinstance(rows, Tensor) else rows
    accepted: list[int] = []
    while True:
        row: Tensor | int = picks[len(accepted)]
        if matcher is not None and logits is not None:
            if matcher.undecided(logits[len(accepted)]):
                return Verdict(accepted, [], undecided=True)
            # Most often the model is right, and to ask for one token is cheaper than for all.
            if matcher.leans or not matcher.takes(picks[len(accepted)]):
                row = logits[len(accepted)]
        for count, token in enumerate(chosen := choose(row, matcher)):
            if len(accepted) == len(draft) or draft[len(accepted)] != token:
                return Verdict(accepted, chosen[count:])
            accepted.append(token)
        if accepted[-1] == end:
            return Verdict(accepted, [])


@dataclass(frozen=True, slots=True)
class Guided:
    """A draft that keeps to a grammar.

    Attributes:
        tokens: At most as many as were drafted, cut after the end mark.
        undecided: Whether it chooses a tool where its logits leave a doubt
            (`dlm.grammar.tool_choice`).
    """

    tokens: list[int]
    undecided: bool


def guided(tokens: Tensor, logits: Tensor | None, matcher: Matcher) -> Guided:
    """A draft under a grammar: what it forces is placed, what it refuses is replaced.

    Args:
        tokens: (n,) as drafted.
        logits: (n, V) that they were drafted from, on the CPU; without any, the draft ends before
            the first token that is refused.
        matcher: State before the first of them; it is not moved.
    """
    matcher = matcher.copy()
    drafted: list[int] = tokens.tolist()
    out: list[int] = []
    undecided = False
    while len(out) < len(drafted):
        row: Tensor | int = drafted[len(out)]
        if logits is not None:
            undecided = undecided or matcher.undecided(logits[len(out)])
        if matcher.leans or not matcher.takes(drafted[len(out)]):
            if logits is None:
                break
            row = logits[len(out)]
        try:
            out += choose(row, matcher)
        except ValueError:
            # Nothing goes on from here; whether that is so is for the verification to find out.
            break
        if matcher.end in out:
            break
    return Guided(out[: len(drafted)], undecided)
