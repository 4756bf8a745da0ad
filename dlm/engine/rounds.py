"""Continuous batching: rounds of one forward each over all live jobs.

A job joins, leaves or is cancelled between any two rounds; what goes wrong in one reaches no other.
The engine's thread owns it. It knows nothing of text or of asyncio.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import (
    ForwardRequest,
    Runner,
    Served,
    SideForwards,
    Steps,
    answer_of,
    parts_of,
)
from dlm.engine.scheduler import Waiting, choose

_log = logging.getLogger(__name__)


class Job(Protocol):
    """Something that takes forwards: a request to answer, or a text to score."""

    cancelled: threading.Event

    @property
    def priority(self) -> int:
        """Higher first."""
        ...

    def told(self, decoder: Decoder) -> bool:
        """A forward came in; returns whether the job needs no more."""
        ...

    def finish(self, decoder: Decoder) -> None:
        """The job's steps are over."""
        ...

    def fail(self, error: Exception) -> None:
        """The job, or its beginning, went wrong."""
        ...


Begin = Callable[[], tuple[Decoder, Steps[None]]]


@dataclass(slots=True, eq=False)
class _Running:
    job: Job
    begin: Begin
    decoder: Decoder | None = None
    steps: Steps[None] | None = None
    wish: ForwardRequest | None = None
    waited: int = 0


class Rounds:
    """The live jobs of a model.

    Args:
        runner: Serves their forwards.
        budget: New tokens in a round; see `dlm.engine.scheduler`.
        leave: Called with the decoder of each job that is over, however it ended; None where it
            never began.
    """

    def __init__(
        self, runner: Runner, budget: int, leave: Callable[[Decoder | None], None]
    ) -> None:
        self._runner = runner
        self._budget = budget
        self._leave = leave
        self._running: list[_Running] = []

    def __len__(self) -> int:
        return len(self._running)

    @property
    def decoders(self) -> Iterator[Decoder]:
        """Of the jobs that have begun."""
        return (one.decoder for one in self._running if one.decoder is not None)

    def join(self, job: Job, begin: Begin) -> None:
        """Take a job in; it begins in the next round."""
        self._running.append(_Running(job, begin))

    def fail_all(self, error: Exception) -> None:
        """End every job."""
        for one in list(self._running):
            self._fail(one, error)

    def round(self) -> None:
        """One forward over as many jobs as the budget holds."""
        for one in list(self._running):
            if one.job.cancelled.is_set():
                self._over(one)
            elif one.steps is None:
                self._start(one)
        waiting = [one for one in self._running if one.wish is not None]
        wanted = [_waiting(one, one.wish) for one in waiting if one.wish is not None]
        chosen = [waiting[index] for index in choose(wanted, self._budget)]
        for one in waiting:
            one.waited += 1
        for one, answer in self._forward(chosen):
            one.waited = 0
            self._send(one, answer)

    def _forward(self, chosen: list[_Running]) -> list[tuple[_Running, Served | list[Served]]]:
        if not chosen:
            return []
        wanted = [
            (one, one.wish, parts_of(one.decoder.cache, one.wish))
            for one in chosen
            if one.decoder is not None and one.wish is not None
        ]
        try:
            served = iter(self._runner.forward([p for _, _, parts in wanted for p in parts]))
            return [
                (one, answer_of(wish, list(itertools.islice(served, len(parts)))))
                for one, wish, parts in wanted
            ]
        except Exception as error:
            if len(chosen) == 1:
                self._fail(chosen[0], error)
                return []
        # One of them cannot be served, which must not be the others' misfortune.
        return [served for one in chosen for served in self._forward([one])]

    def _start(self, one: _Running) -> None:
        try:
            one.decoder, one.steps = one.begin()
            one.wish = next(one.steps)
        except Exception as error:
            self._fail(one, error)

    def _send(self, one: _Running, answer: Served | list[Served]) -> None:
        assert one.steps is not None and one.decoder is not None
        try:
            try:
                one.wish = one.steps.send(answer)
            except StopIteration:
                one.wish = None
            if one.job.told(one.decoder) or one.wish is None:
                self._over(one)
                one.job.finish(one.decoder)
        except Exception as error:
            # Whatever a job does wrong must reach its caller, and no other job.
            self._fail(one, error)

    def _fail(self, one: _Running, error: Exception) -> None:
        self._over(one)
        one.job.fail(error)

    def _over(self, one: _Running) -> None:
        if one not in self._running:
            return
        self._running.remove(one)
        try:
            if one.steps is not None:
                one.steps.close()
            self._leave(one.decoder)
        except Exception as error:
            # What a request leaves behind for the next one is worth no other request.
            _log.warning("a request could not be put away: %s", type(error).__name__)


def _waiting(one: _Running, wish: ForwardRequest) -> Waiting:
    forwards = wish.parts if isinstance(wish, SideForwards) else ((None, wish),)
    tokens = sum(len(forward.ids) for _, forward in forwards)
    prefill = all(forward.prefill for _, forward in forwards)
    return Waiting(tokens, prefill, one.job.priority, one.waited)
