"""How sure a model was of the calls that it wrote, from the logits that verified them.

Its decisions count: to call at all, which tools, with which parameters, and that nothing more
follows. Values do not count, because several spans may say the same and share the probability.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from torch import Tensor

from dlm.language.chat_format import MarkedCalls


def log_probabilities(
    rows: Tensor | Sequence[int], tokens: Sequence[int], decided: Collection[int]
) -> list[float]:
    """The log-probability of each token, in nats, regardless of the grammar.

    Args:
        rows: (n, V) logits, row i predicting token i; or the chosen tokens, if there are no logits.
        tokens: At most n.
        decided: Indices of the tokens that were chosen; the others get 0.

    Returns:
        One number for each token; nan for all if there are no logits.
    """
    if not isinstance(rows, Tensor):
        return [math.nan] * len(tokens)
    logs = [0.0] * len(tokens)
    for at in set(decided).intersection(range(len(tokens))):
        logs[at] = float(rows[at, tokens[at]] - rows[at].logsumexp(dim=-1))
    return logs


def confidence(
    tokens: Sequence[int], logs: Sequence[float], calls: MarkedCalls, end: int
) -> float | None:
    """The mean probability of four decisions: to call, the tool, its parameters, and the end.

    With several calls, the least likely tool and the least likely set of parameters count.

    Args:
        tokens: A whole answer.
        logs: Log-probability of each of its tokens, in nats.
        calls: How calls are written.
        end: The token that ends an answer.

    Returns:
        A number in [0, 1]; None if the answer does not begin with a call, or a probability is
        unknown.
    """
    if not tokens or tokens[0] != calls.call:
        return None
    names: list[float] = []
    keys: list[float] = []
    ending, part = 0.0, names
    for token, log in zip(tokens, logs, strict=True):
        if token == calls.call:
            ending += log if names else 0.0
            names.append(0.0)
            keys.append(0.0)
            part = names
        elif token in (calls.key, calls.value):
            keys[-1] += log
            part = keys if token == calls.key else []
        elif token == end:
            ending += log
        elif part:
            part[-1] += log
    decisions = (logs[0], min(names), min(keys), ending)
    found = sum(map(math.exp, decisions)) / len(decisions)
    return None if math.isnan(found) else found
