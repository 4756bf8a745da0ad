"""How sure a model was of the calls that it wrote, by the logits that verified them.

What counts are its decisions: to call at all, which tools, with which parameters, and that no more
follows. Values do not count: of several spans that say the same, each has only a part of the
probability.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from torch import Tensor

from dlm.language.chat_format import MarkedCalls


def log_probabilities(
    rows: Tensor | Sequence[int], tokens: Sequence[int], decided: Collection[int]
) -> list[float]:
    """Of each token, in nats, by the logits before it, (n, V), whatever a grammar allows.

    0 for those that were not ``decided``, by number; nan where the rows are no logits.
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
    """The mean probability of four decisions, of several calls that of the least likely one.

    Args:
        tokens: A whole answer.
        logs: Log-probability of each of its tokens, in nats.
        calls: How calls are written.
        end: The token that ends an answer.

    Returns:
        In [0, 1]; None for an answer that does not begin with a call, or of unknown probabilities.
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
