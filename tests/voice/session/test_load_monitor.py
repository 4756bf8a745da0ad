from __future__ import annotations

import math

import pytest

from voice.config import DraftingConfig
from voice.session.capacity import conversations
from voice.session.load_monitor import FORGIVEN_S, MEMORY_S, LoadMonitor


def test_requests_count_while_they_last() -> None:
    load, config = LoadMonitor(), DraftingConfig(max_requests=2)
    with load.request():
        assert load.allows_draft(config, True, 0)
        with pytest.raises(RuntimeError), load.request():
            assert not load.allows_draft(config, True, 0)
            raise RuntimeError
        assert load.allows_draft(config, True, 0)
    assert load.requests == 0


def test_a_late_loop_is_forgiven_by_and_by() -> None:
    clock = Clock()
    load, config = LoadMonitor(clock), DraftingConfig(max_lag_ms=40)
    load.woke(100)
    # As many conversations as wake up.
    for _ in range(20):
        load.woke(0)
    assert not load.allows_draft(config, True, 0)
    clock.now_s += FORGIVEN_S
    load.woke(0)
    assert load.lag_ms == pytest.approx(50)
    assert not load.allows_draft(config, True, 0)
    clock.now_s += FORGIVEN_S
    load.woke(0)
    assert load.allows_draft(config, True, 0)


def test_while_the_user_speaks_only_an_idle_model_is_asked() -> None:
    load, config = LoadMonitor(), DraftingConfig(max_requests=3)
    assert load.allows_draft(config, False, 0)
    with load.request():
        assert not load.allows_draft(config, False, 0)
        assert load.allows_draft(config, True, 0)
        # What it takes the place of is no reason against it.
        assert load.allows_draft(config, False, 1)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_replies_are_averaged_over_the_last_seconds() -> None:
    clock = Clock()
    load = LoadMonitor(clock)
    assert load.replying == 0
    clock.now_s = 1000.0
    for _ in range(400):
        # Two replies a second of 0.2 s each, and one of them at the same time as another.
        with load.reply(), load.reply():
            clock.now_s += 0.2
        clock.now_s += 0.8
    assert load.replying == pytest.approx(0.4, abs=0.06)
    clock.now_s += MEMORY_S
    assert load.replying == pytest.approx(0.4 / math.e, abs=0.03)


def test_it_does_not_matter_how_often_the_average_is_asked_for() -> None:
    clock = Clock()
    asked, left = LoadMonitor(clock), LoadMonitor(clock)
    for _ in range(7):
        with asked.reply(), left.reply():
            clock.now_s += 0.4
            assert 0 < asked.replying < 1
            clock.now_s += 0.4
        clock.now_s += 0.3
    assert asked.replying == pytest.approx(left.replying)


def test_no_draft_is_begun_where_replies_delay_each_other() -> None:
    clock = Clock()
    load, config = LoadMonitor(clock), DraftingConfig(max_replying=0.25)
    with load.reply():
        clock.now_s += 1.0
        assert load.allows_draft(config, True, 0)
        clock.now_s += 2.0
        assert not load.allows_draft(config, True, 0)
    # It is forgiven once there are fewer.
    assert not load.allows_draft(config, True, 0)
    clock.now_s += 2.0
    assert load.allows_draft(config, True, 0)


def test_drafts_and_then_partials_give_way_to_final_transcripts() -> None:
    load, config = LoadMonitor(), DraftingConfig(max_lag_ms=40)
    with load.decode(), load.decode():
        assert load.allows_partial(config)
        with load.decode():
            assert not load.allows_partial(config)
            assert not load.allows_draft(config, True, 0)
        assert load.allows_draft(config, True, 0)
    load.woke(70)
    assert load.allows_partial(config)
    assert not load.allows_draft(config, True, 0)
    load.woke(90)
    assert not load.allows_partial(config)


@pytest.mark.parametrize(
    ("decode_s", "cores", "most"),
    [(0.012, 2, 6), (0.05, 2, 3), (0.05, 4, 6), (0.2, 2, 1), (2.0, 2, 1)],
)
def test_a_slow_machine_holds_fewer_conversations(decode_s: float, cores: int, most: int) -> None:
    assert conversations(decode_s, cores) == most
