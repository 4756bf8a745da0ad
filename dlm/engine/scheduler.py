"""Continuous batching: in each round, one forward over as many jobs as the budget holds.

Jobs may join, leave or be cancelled between any two rounds, and an error in one does not reach the
others. The engine's thread owns the scheduler, which knows nothing of text or of asyncio.

Jobs are taken by rank while the round's budget of new tokens lasts; a job that does not fit is
skipped in favour of those behind it. The first by rank is always taken, so every round makes
progress. Rank is priority plus one for every `PATIENCE` rounds that the job has waited. At equal
rank, jobs that decode come before jobs that read their prompt, then those that have waited longer,
then those that came earlier. So nothing starves: a waiting job rises until it is first. Where each
row of a forward costs time, jobs that rank below the highest priority do not fill up a round,
because they would delay it.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from traceback import format_tb
from typing import Protocol

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import (
    Forward,
    ForwardRequest,
    Output,
    Runner,
    Steps,
    answer_to,
    forwards_of,
)
from dlm.kv_cache.cache import Cache

PATIENCE = 16
"""Rounds of waiting that raise a job's rank by one step of priority."""

_log = logging.getLogger(__name__)


class Job(Protocol):
    """Something that asks for forwards: a request to answer, or texts to score."""

    cancelled: threading.Event

    @property
    def priority(self) -> int:
        """Higher first."""
        ...

    def update(self, decoder: Decoder) -> bool:
        """Take in the result of a forward; returns whether the job is over."""
        ...

    def finish(self, decoder: Decoder) -> None:
        """Called when the job's steps are over, or `update` has returned that it is over."""
        ...

    def fail(self, error: Exception) -> None:
        """Called when the job has failed, its start included."""
        ...


Start = Callable[[], tuple[Decoder, Steps[None]]]
"""Starts a job: makes its decoder and its decoding steps."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that waits for a forward.

    Attributes:
        tokens: New tokens of the forward, at least 1.
        prefill: Whether it reads the prompt.
        priority: Higher first.
        waited: Rounds since the job was last served.
    """

    tokens: int
    prefill: bool = False
    priority: int = 0
    waited: int = 0


def choose(waiting: Sequence[Waiting], budget: int, fill: bool = True) -> list[int]:
    """Indices of the jobs that the next forward serves, by rank.

    Args:
        waiting: The jobs, in the order in which they came.
        budget: New tokens that a round holds; a single job may want more.
        fill: Whether jobs that rank below the highest priority may use what is left of the budget.
    """
    ranks = [one.priority + one.waited // PATIENCE for one in waiting]

    def order(index: int) -> tuple[int, bool, int, int]:
        one = waiting[index]
        return -ranks[index], one.prefill, -one.waited, index

    chosen: list[int] = []
    left = budget
    least = -math.inf if fill else max((one.priority for one in waiting), default=0)
    for index in sorted(range(len(waiting)), key=order):
        if ranks[index] >= least and (not chosen or waiting[index].tokens <= left):
            chosen.append(index)
            left -= waiting[index].tokens
    return chosen


@dataclass(slots=True, eq=False)
class _Entry:
    """A job of the scheduler; ``asked`` is None before it starts and after it ends.

    Attributes:
        priority: The job's, as of this round.
        waited: Rounds since it was last served.
    """

    job: Job
    start: Start
    decoder: Decoder | None = None
    steps: Steps[None] | None = None
    asked: ForwardRequest | None = None
    priority: int = 0
    waited: int = 0

    @property
    def parts(self) -> Sequence[tuple[Cache, Forward]]:
        assert self.decoder is not None and self.asked is not None
        return forwards_of(self.decoder.cache, self.asked)

    def waiting(self) -> Waiting:
        forwards = [forward for _, forward in self.parts]
        tokens = sum(len(forward.ids) for forward in forwards)
        prefill = all(forward.prefill for forward in forwards)
        return Waiting(tokens, prefill, self.priority, self.waited)


class Scheduler:
    """The unfinished jobs of a model, served in rounds.

    Args:
        runner: Runs the forwards.
        budget: New tokens that a round holds.
        leave: Called for each job that is over, however it ended, with its decoder; with None if
            it never started.
        fill: As in `choose`.
    """

    def __init__(
        self,
        runner: Runner,
        budget: int,
        leave: Callable[[Decoder | None], None],
        fill: bool = True,
    ) -> None:
        self._runner = runner
        self._budget = budget
        self._fill = fill
        self._leave = leave
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def decoders(self) -> Iterator[Decoder]:
        """The decoders of the jobs that have started."""
        return (one.decoder for one in self._entries if one.decoder is not None)

    def join(self, job: Job, start: Start) -> None:
        """Take a job in; it starts in the next round."""
        self._entries.append(_Entry(job, start))

    def fail_all(self, error: Exception) -> None:
        """Fail every job with an error."""
        for one in list(self._entries):
            self._fail(one, error)

    def round(self) -> None:
        """One forward over as many jobs as the budget holds."""
        for one in list(self._entries):
            if one.job.cancelled.is_set():
                self._remove(one)
            else:
                self._prepare(one)
        waiting = [one for one in self._entries if one.asked is not None]
        chosen = choose([one.waiting() for one in waiting], self._budget, self._fill)
        for one in waiting:
            one.waited += 1
        for one, answer in self._forward([waiting[index] for index in chosen]):
            one.waited = 0
            self._send(one, answer)

    def _forward(self, chosen: list[_Entry]) -> list[tuple[_Entry, Output | list[Output]]]:
        if not chosen:
            return []
        batch = [one.parts for one in chosen]
        try:
            outputs = iter(self._runner.forward([part for parts in batch for part in parts]))
            return [
                (one, answer_to(one.asked, list(itertools.islice(outputs, len(parts)))))
                for one, parts in zip(chosen, batch, strict=True)
                if one.asked is not None
            ]
        except Exception as error:
            if len(chosen) == 1:
                self._fail(chosen[0], error)
                return []
        # One of them cannot be served: serve each alone, so that only that one fails.
        return [served for one in chosen for served in self._forward([one])]

    def _prepare(self, one: _Entry) -> None:
        try:
            if one.steps is None:
                one.decoder, one.steps = one.start()
                one.asked = next(one.steps)
            one.priority = one.job.priority
        except Exception as error:
            self._fail(one, error)

    def _send(self, one: _Entry, answer: Output | list[Output]) -> None:
        assert one.steps is not None and one.decoder is not None
        try:
            try:
                one.asked = one.steps.send(answer)
            except StopIteration:
                one.asked = None
            if one.job.update(one.decoder) or one.asked is None:
                self._remove(one)
                one.job.finish(one.decoder)
        except Exception as error:
            # An error of one job must reach its caller and leave the other jobs alone.
            self._fail(one, error)

    def _fail(self, one: _Entry, error: Exception) -> None:
        self._remove(one)
        one.job.fail(error)

    def _remove(self, one: _Entry) -> None:
        if one not in self._entries:
            return
        self._entries.remove(one)
        try:
            if one.steps is not None:
                one.steps.close()
            self._leave(one.decoder)
        except Exception as error:
            # Failing to keep a cache for later requests must not fail a running one. The error's
            # text is not logged: it may quote the dialogue.
            kind, lines = type(error).__name__, "".join(format_tb(error.__traceback__))
            _log.warning("a request's cache could not be kept: %s\n%s", kind, lines)
