"""Continuous batching: rounds of one forward each over all jobs, and the choice of who is served.

A job joins, leaves or is cancelled between any two rounds; an error in one reaches no other. The
engine's thread owns the scheduler. It knows nothing of text or of asyncio.

Jobs are taken by rank, as long as the round's budget of new tokens holds them; a job that does not
fit is passed over for the jobs behind it. The first by rank is always taken, so that every round
makes progress. Rank is priority plus one for every `PATIENCE` rounds that the job has waited; at
the same rank jobs that decode come before jobs that read their prompt, then the one that has waited
for longest, then the one that came first. So nothing starves: a waiting job rises until it is the
first. Where each row of a forward costs time, a round is not filled up with jobs that rank below
the highest priority: they would delay it.
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
"""Rounds of waiting that count as much as one step of priority."""

_log = logging.getLogger(__name__)


class Job(Protocol):
    """Something that asks for forwards: a request to answer, or texts to score."""

    cancelled: threading.Event

    @property
    def priority(self) -> int:
        """Higher first."""
        ...

    def update(self, decoder: Decoder) -> bool:
        """Take in what a forward has brought; returns whether the job needs no more."""
        ...

    def finish(self, decoder: Decoder) -> None:
        """Called once the job's steps are over."""
        ...

    def fail(self, error: Exception) -> None:
        """Called once the job, or its start, has gone wrong."""
        ...


Start = Callable[[], tuple[Decoder, Steps[None]]]
"""Starts a job: makes its decoder and its decoding."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that waits for a forward.

    Attributes:
        tokens: New tokens of the forward, at least 1.
        prefill: Whether it reads the prompt.
        priority: Higher first.
        waited: Rounds since the job was served.
    """

    tokens: int
    prefill: bool = False
    priority: int = 0
    waited: int = 0


def choose(waiting: Sequence[Waiting], budget: int, fill: bool = True) -> list[int]:
    """Indices of the jobs that the next forward serves, by rank.

    ``waiting`` is in the order in which they came; a single job may want more than the budget of
    new tokens.

    Args:
        fill: Whether jobs that rank below the highest priority of all may take what is left of the
            budget.
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
    """A job of the scheduler; what it asks for is None before its start and after its end."""

    job: Job
    start: Start
    decoder: Decoder | None = None
    steps: Steps[None] | None = None
    asked: ForwardRequest | None = None
    waited: int = 0

    @property
    def parts(self) -> Sequence[tuple[Cache, Forward]]:
        assert self.decoder is not None and self.asked is not None
        return forwards_of(self.decoder.cache, self.asked)

    def waiting(self) -> Waiting:
        forwards = [forward for _, forward in self.parts]
        tokens = sum(len(forward.ids) for forward in forwards)
        prefill = all(forward.prefill for forward in forwards)
        return Waiting(tokens, prefill, self.job.priority, self.waited)


class Scheduler:
    """The unfinished jobs of a model, whose rounds have a budget of new tokens.

    ``leave`` is called with the decoder of each job that is over, however it ended; None where it
    never started. ``fill`` is as in `choose`.
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
        """Of the jobs that have started."""
        return (one.decoder for one in self._entries if one.decoder is not None)

    def join(self, job: Job, start: Start) -> None:
        """Take a job in; it starts in the next round."""
        self._entries.append(_Entry(job, start))

    def fail_all(self, error: Exception) -> None:
        """End every job."""
        for one in list(self._entries):
            self._fail(one, error)

    def round(self) -> None:
        """One forward over as many jobs as the budget holds."""
        for one in list(self._entries):
            if one.job.cancelled.is_set():
                self._remove(one)
            elif one.steps is None:
                self._start(one)
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
        # One of them cannot be served; alone, the others can.
        return [served for one in chosen for served in self._forward([one])]

    def _start(self, one: _Entry) -> None:
        try:
            one.decoder, one.steps = one.start()
            one.asked = next(one.steps)
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
            # Any error of a job must reach its caller, and no other job.
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
            # Keeping a request's cache for the next one is not worth failing another request.
            # The text of an error may quote the dialogue.
            kind, lines = type(error).__name__, "".join(format_tb(error.__traceback__))
            _log.warning("a request's cache could not be kept: %s\n%s", kind, lines)
