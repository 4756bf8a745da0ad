import threading

import numpy as np
import pytest

from tests.support.patience import PATIENCE_S
from voice.local.playback_queue import Heard, PlaybackQueue

RATE_HZ = 1000


def ramp(start: int, count: int) -> np.ndarray:
    return np.arange(start, start + count, dtype=np.int16)


@pytest.fixture
def queue() -> PlaybackQueue:
    return PlaybackQueue(RATE_HZ)


def test_samples_come_out_in_order_and_zeros_after(queue: PlaybackQueue):
    queue.push("a", ramp(1, 30))
    queue.push("a", ramp(31, 10))
    assert queue.pull(25, 0.0).tolist() == list(range(1, 26))
    assert queue.pull(25, 0.025).tolist() == [*range(26, 41), *[0] * 10]
    assert not queue.pull(5, 0.05).any()


def test_position_counts_what_has_sounded_not_what_was_handed_over(queue: PlaybackQueue):
    assert queue.heard(99.0) is None
    queue.push("a", ramp(1, 100))
    queue.pull(20, 10.0)
    queue.pull(20, 10.02)
    assert queue.heard(9.99) is None
    assert queue.heard(10.005) == Heard("a", pytest.approx(5))
    assert queue.heard(10.03) == Heard("a", pytest.approx(30))
    assert queue.heard(11.0) == Heard("a", pytest.approx(40))


def test_position_is_exact_across_a_gap(queue: PlaybackQueue):
    queue.push("a", ramp(1, 20))
    queue.pull(40, 10.0)
    queue.push("a", ramp(1, 20))
    queue.pull(40, 10.04)
    assert queue.heard(10.03) == Heard("a", pytest.approx(20))
    assert queue.heard(10.05) == Heard("a", pytest.approx(30))


def test_the_item_changes_when_the_next_one_sounds(queue: PlaybackQueue):
    queue.push("a", ramp(1, 10))
    queue.push("b", ramp(1, 30))
    queue.pull(20, 10.0)
    assert queue.heard(10.005).reply_id == "a"
    assert queue.heard(10.015) == Heard("b", pytest.approx(5))


def test_flush_drops_the_rest_and_says_what_will_have_been_heard(queue: PlaybackQueue):
    queue.push("a", ramp(1, 100))
    queue.pull(20, 10.0)
    assert queue.flush() == Heard("a", pytest.approx(20))
    assert not queue.pull(20, 10.02).any()
    assert queue.flush() is None


def test_silence_is_foreseen(queue: PlaybackQueue):
    assert queue.silent_from_s(5.0) == float("-inf")
    queue.push("a", ramp(1, 100))
    assert queue.silent_from_s(5.0) == pytest.approx(5.1)
    queue.pull(20, 5.05)
    assert queue.silent_from_s(5.0) == pytest.approx(5.15)
    queue.hold()
    assert queue.silent_from_s(5.0) == pytest.approx(5.07)
    queue.flush()
    assert queue.silent_from_s(9.0) == pytest.approx(5.07)


def test_two_threads_lose_nothing(queue: PlaybackQueue):
    total = 50_000
    pulled: list[np.ndarray] = []

    def pull() -> None:
        while sum(int((block > 0).sum()) for block in pulled) < total:
            block = queue.pull(1000, 0.0)
            if block.any():
                pulled.append(block)

    puller = threading.Thread(target=pull)
    puller.start()
    sent = (np.arange(total) % 30_000 + 1).astype(np.int16)
    for at in range(0, total, 700):
        queue.push("a", sent[at : at + 700])
    puller.join(timeout=PATIENCE_S)
    assert not puller.is_alive()
    heard = np.concatenate(pulled)
    assert np.array_equal(heard[heard > 0], sent)


def test_held_sound_fades_keeps_its_place_and_goes_on(queue: PlaybackQueue):
    queue.push("a", np.full(100, 1000, np.int16))
    assert queue.pull(20, 0.0).tolist() == [1000] * 20
    queue.hold()
    fading = queue.pull(20, 0.02)
    assert fading[:5].tolist() == sorted(fading[:5].tolist(), reverse=True)
    assert fading[4:].tolist() == [0] * 16
    assert queue.pull(20, 0.04).tolist() == [0] * 20
    assert queue.heard(0.06).played_ms == 25
    queue.release()
    assert queue.pull(100, 0.06).tolist() == [1000] * 75 + [0] * 25


def test_what_is_flushed_while_held_does_not_hold_the_next_reply(queue: PlaybackQueue):
    queue.push("a", np.full(100, 1000, np.int16))
    queue.hold()
    assert queue.flush().played_ms == 0
    queue.push("b", np.full(10, 1000, np.int16))
    assert queue.pull(10, 0.0).tolist() == [1000] * 10
