from __future__ import annotations

import itertools
import threading

import pytest
import torch

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import Eager, Forward, SideForwards, Steps
from dlm.engine.scheduler import PATIENCE, Scheduler, Waiting, choose
from tests.dlm.tiny import decoder, model


def test_one_is_served_whatever_it_wants() -> None:
    assert choose([Waiting(500)], 64) == [0]
    assert choose([Waiting(500), Waiting(500)], 64) == [0]


def test_those_that_decode_come_before_those_that_read() -> None:
    waiting = [Waiting(128, prefill=True), *[Waiting(16)] * 3, Waiting(128, prefill=True)]
    assert choose(waiting, 64) == [1, 2, 3]
    assert choose(waiting, 200) == [1, 2, 3, 0]


def test_one_that_does_not_fit_is_passed_over() -> None:
    waiting = [Waiting(16), Waiting(60), Waiting(30)]
    assert choose(waiting, 64) == [0, 2]


def test_the_higher_priority_goes_first() -> None:
    waiting = [Waiting(40), Waiting(40, priority=1), Waiting(40, prefill=True, priority=2)]
    assert choose(waiting, 80) == [2, 1]


def test_among_equals_the_longest_wait_goes_first_then_the_first_come() -> None:
    waiting = [Waiting(40), Waiting(40, waited=1), Waiting(40)]
    assert choose(waiting, 80) == [1, 0]


@pytest.mark.parametrize("priority", [0, 1, 3])
@pytest.mark.parametrize("size", [1, 16, 500])
@pytest.mark.parametrize("fill", [True, False])
def test_nobody_starves(priority: int, size: int, fill: bool) -> None:
    """Under a steady load of urgent requests that fill every round."""
    urgent = [Waiting(16, priority=priority)] * 4
    waited = 0
    for waited in itertools.count():
        chosen = choose([Waiting(size, prefill=True, waited=waited), *urgent], 64, fill)
        if 0 in chosen:
            break
        assert waited < (priority + 1) * PATIENCE
    assert waited <= (priority + 1) * PATIENCE
    # Until then it does not disturb.
    assert waited > 0


def test_what_is_less_urgent_fills_a_round_only_where_rows_cost_nothing() -> None:
    waiting = [Waiting(8), Waiting(8, priority=-1), Waiting(8, priority=-1, waited=PATIENCE)]
    assert sorted(choose(waiting, 64)) == [0, 1, 2]
    assert sorted(choose(waiting, 64, fill=False)) == [0, 2]
    assert choose([], 64, fill=False) == []


NET = model(1)


class Count:
    """A job that takes some forwards of some tokens each."""

    def __init__(self, forwards: int, tokens: int = 8, priority: int = 0) -> None:
        self.cancelled = threading.Event()
        self.forwards = forwards
        self.tokens = tokens
        self.priority = priority
        self.done = 0
        self.finished = False
        self.closed = False
        self.error: Exception | None = None
        self.enough = forwards

    def start(self) -> tuple[Decoder, Steps[None]]:
        made = decoder(NET, [20, 21, 22])
        return made, self.steps()

    def steps(self) -> Steps[None]:
        try:
            for _ in range(self.forwards):
                yield Forward([20] * self.tokens, self.tokens, self.tokens - 1)
        finally:
            self.closed = True

    def update(self, decoder: Decoder) -> bool:
        self.done += 1
        return self.done >= self.enough

    def finish(self, decoder: Decoder) -> None:
        self.finished = True

    def fail(self, error: Exception) -> None:
        self.error = error


class Aside(Count):
    """A job whose forwards go behind other caches than its own."""

    def __init__(self, parts: int) -> None:
        super().__init__(1)
        self.parts = parts
        self.rows: list[torch.Tensor] = []

    def steps(self) -> Steps[None]:
        ids = [20, 21, 22, 23]
        parts = [(Eager(NET).cache(8), Forward(ids[: n + 1], n + 1)) for n in range(self.parts)]
        self.rows = yield SideForwards(tuple(parts))
        self.closed = True


class Broken(Count):
    """A job whose forward cannot be served."""

    def steps(self) -> Steps[None]:
        yield Forward([20] * 4000, 4000)


def rounds(*jobs: Count, budget: int = 64) -> tuple[Scheduler, list[Decoder | None]]:
    left: list[Decoder | None] = []
    made = Scheduler(Eager(NET), budget, left.append)
    for job in jobs:
        made.join(job, job.start)
    return made, left


def turn(made: Scheduler, count: int = 1) -> None:
    with torch.inference_mode():
        for _ in range(count):
            made.round()


def test_a_round_takes_every_job_one_forward_further() -> None:
    jobs = [Count(n) for n in (1, 2, 3)]
    made, left = rounds(*jobs)
    for number in range(1, 4):
        turn(made)
        assert [job.done for job in jobs] == [min(number, job.forwards) for job in jobs]
        assert [job.finished for job in jobs] == [number >= job.forwards for job in jobs]
        assert len(made) == 3 - number
    assert len(left) == 3
    assert all(job.closed for job in jobs)


@pytest.mark.parametrize("company", [0, 2])
def test_forwards_behind_other_caches_are_answered_together(company: int) -> None:
    job = Aside(3)
    others = [Count(1) for _ in range(company)]
    made, _ = rounds(*others[:1], job, *others[1:])
    turn(made)
    assert job.finished and all(other.finished for other in others)
    assert [len(rows) for rows in job.rows] == [1, 2, 3]
    assert torch.equal(job.rows[2][:1], job.rows[0])


def test_a_cancelled_job_is_gone_before_the_next_forward() -> None:
    jobs = [Count(9), Count(9)]
    made, left = rounds(*jobs)
    turn(made)
    jobs[0].cancelled.set()
    turn(made)
    assert [job.done for job in jobs] == [1, 2]
    assert (jobs[0].closed, jobs[0].finished, jobs[0].error) == (True, False, None)
    assert len(made) == len(left) == 1


def test_a_job_may_have_enough() -> None:
    job = Count(9)
    job.enough = 2
    made, left = rounds(job)
    turn(made, 5)
    assert (job.done, job.finished, job.closed) == (2, True, True)
    assert len(left) == 1


def test_what_one_job_cannot_have_the_others_do() -> None:
    good, bad, other = Count(2), Broken(1), Count(2)
    made, left = rounds(good, bad, other, budget=10_000)
    turn(made)
    assert isinstance(bad.error, ValueError)
    assert (good.done, other.done) == (1, 1)
    turn(made)
    assert good.finished
    assert other.finished
    assert len(left) == 3


@pytest.mark.parametrize("where", ["start", "update", "finish", "steps"])
def test_an_error_stays_with_its_job(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = Count(2), Count(2)

    def broken(*args: object) -> None:
        raise KeyError("no")

    def broken_steps() -> Steps[None]:
        yield Forward([20], 1)
        raise KeyError("no")

    monkeypatch.setattr(bad, where, broken_steps if where == "steps" else broken)
    made, left = rounds(good, bad)
    turn(made, 2)
    assert isinstance(bad.error, KeyError)
    assert good.finished
    assert len(made) == 0
    assert len(left) == 2


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_request_that_cannot_be_put_away_harms_no_other(
    cancelled: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def leave(decoder: Decoder | None) -> None:
        if not seen:
            seen.append(decoder)
            raise OSError("no memory for it")

    seen: list[Decoder | None] = []
    bad, good = Broken(1), Count(2)
    made = Scheduler(Eager(NET), 64, leave)
    for job in (bad, good):
        made.join(job, job.start)
    if cancelled:
        bad.cancelled.set()
    turn(made, 3)
    assert good.finished and len(made) == 0
    assert (bad.error is None) == cancelled
    (told,) = caplog.messages
    assert told.startswith("a request's cache could not be kept: OSError\n")
    assert "in leave\n" in told
