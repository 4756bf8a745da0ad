from __future__ import annotations

import itertools

import pytest

from dlm.engine.scheduler import PATIENCE, Waiting, choose


def test_all_are_served_when_the_budget_holds_them() -> None:
    assert sorted(choose([Waiting(16)] * 4, 64)) == [0, 1, 2, 3]


def test_nobody_waits_for_nothing() -> None:
    assert choose([], 64) == []


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
def test_nobody_starves(priority: int, size: int) -> None:
    """Under a steady load of urgent requests that fill every round."""
    urgent = [Waiting(16, priority=priority)] * 4
    waited = 0
    for waited in itertools.count():
        chosen = choose([Waiting(size, prefill=True, waited=waited), *urgent], 64)
        if 0 in chosen:
            break
        assert waited < (priority + 1) * PATIENCE
    assert waited <= (priority + 1) * PATIENCE
    # Until then it does not disturb.
    assert waited > 0
