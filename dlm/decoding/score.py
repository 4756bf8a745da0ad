"""How likely a checkpoint finds given continuations of a dialogue; a job of `dlm.engine.rounds`.

Shapes: n tokens of a continuation, V vocabulary.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future

import torch
from torch import Tensor

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import Forward, Steps


class Scoring:
    """A prompt and its continuations, to be scored.

    Attributes:
        result: Will hold the log-probability of each continuation, in nats.
    """

    def __init__(self, continuations: Sequence[Sequence[int]], priority: int) -> None:
        self.continuations = continuations
        self.cancelled = threading.Event()
        self.result: Future[list[float]] = Future()
        self._priority = priority
        self._scores: list[float] = []

    @property
    def priority(self) -> int:
        """Higher first."""
        return self._priority

    def steps(self, decoder: Decoder) -> Steps[None]:
        """Read the prompt, then each continuation behind it; nothing of those is committed."""
        known = yield from decoder.prefill()
        first = yield from _counted(decoder, Forward(known, len(known), len(known) - 1))
        decoder.cache.commit(len(known))
        begun = first[0].log_softmax(dim=-1)
        for ids in self.continuations:
            score = float(begun[ids[0]])
            if len(ids) > 1:
                logits = yield from _counted(decoder, Forward(ids[:-1], len(ids) - 1))
                score += log_probability(logits, ids[1:])
            self._scores.append(score)

    def told(self, decoder: Decoder) -> bool:
        """Nothing to tell before the end."""
        return False

    def finish(self, decoder: Decoder) -> None:
        """Hand over the scores."""
        self.result.set_result(self._scores)

    def fail(self, error: Exception) -> None:
        """Hand over what went wrong."""
        self.result.set_exception(error)


def log_probability(logits: Tensor, tokens: Sequence[int]) -> float:
    """That of n tokens, in nats, from the logits of each, (n, V)."""
    picked = logits.log_softmax(dim=-1)[torch.arange(len(tokens)), torch.tensor(tokens)]
    return float(sum(picked.tolist()))


def _counted(decoder: Decoder, wish: Forward) -> Steps[Tensor]:
    decoder.progress.forwards += 1
    logits: Tensor = yield wish
    return logits
