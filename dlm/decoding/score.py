"""Scores continuations of a dialogue by their likelihood; a job of `dlm.engine.scheduler`.

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
        cancelled: Never set.
        result: Log-probability of each continuation, in nats; set when the job is over. It cannot
            be cancelled.
    """

    def __init__(self, continuations: Sequence[Sequence[int]], priority: int) -> None:
        self.continuations = continuations
        self.priority = priority
        self.cancelled = threading.Event()
        self.result: Future[list[float]] = Future()
        self.result.set_running_or_notify_cancel()
        self._scores: list[float] = []

    def steps(self, decoder: Decoder) -> Steps[None]:
        """Read and commit the prompt, then read each continuation after it without committing."""
        known = yield from decoder.prefill()
        first = yield from _counted(decoder, Forward(known, len(known), len(known) - 1))
        decoder.cache.commit(len(known))
        first_scores = first[0].log_softmax(dim=-1)
        for ids in self.continuations:
            score = float(first_scores[ids[0]])
            if len(ids) > 1:
                logits = yield from _counted(decoder, Forward(ids[:-1], len(ids) - 1))
                score += log_probability(logits, ids[1:])
            self._scores.append(score)

    def update(self, decoder: Decoder) -> bool:
        """Never over before its steps are; nothing is reported meanwhile."""
        return False

    def finish(self, decoder: Decoder) -> None:
        """Give the scores to the caller."""
        self.result.set_result(self._scores)

    def fail(self, error: Exception) -> None:
        """Give the error to the caller."""
        self.result.set_exception(error)


def log_probability(logits: Tensor, tokens: Sequence[int]) -> float:
    """Log-probability of n tokens together, in nats; row i of the logits, (n, V), predicts i."""
    picked = logits.log_softmax(dim=-1)[torch.arange(len(tokens)), torch.tensor(tokens)]
    return float(sum(picked.tolist()))


def _counted(decoder: Decoder, asked: Forward) -> Steps[Tensor]:
    decoder.progress.forwards += 1
    logits: Tensor = yield asked
    return logits
