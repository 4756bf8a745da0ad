import asyncio

import numpy as np
import pytest

from voice.demo.virtual_audio import (
    Loudspeaker,
    Microphone,
    Played,
    speech_span,
    stereo,
)

RATE_HZ = 1000


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def loud(samples: int, level: int = 1000) -> np.ndarray:
    return np.full(samples, level, np.int16)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def loudspeaker(clock: Clock) -> Loudspeaker:
    return Loudspeaker(RATE_HZ, clock)


def test_pieces_sound_one_after_the_other(loudspeaker: Loudspeaker, clock: Clock):
    loudspeaker.play("a", loud(100))
    clock.now_s += 0.02
    loudspeaker.play("a", loud(50))
    loudspeaker.play("b", loud(10))
    assert [piece.start_s for piece in loudspeaker.timeline] == pytest.approx([100, 100.1, 100.15])
    assert loudspeaker.silent_from_s == pytest.approx(100.16)
    assert loudspeaker.underruns == 0
    assert loudspeaker.playing() == Played("a", pytest.approx(20))
    clock.now_s = 100.155
    assert loudspeaker.playing() == Played("b", pytest.approx(5))


def test_a_gap_within_an_item_is_an_underrun(loudspeaker: Loudspeaker, clock: Clock):
    loudspeaker.play("a", loud(100))
    clock.now_s += 0.2
    loudspeaker.play("a", loud(100))
    assert loudspeaker.underruns == 1
    clock.now_s += 0.2
    loudspeaker.play("b", loud(100))
    assert loudspeaker.underruns == 1


def test_flush_keeps_what_was_heard(loudspeaker: Loudspeaker, clock: Clock):
    assert loudspeaker.playing() is None
    assert loudspeaker.flush() is None
    loudspeaker.play("x", loud(100))
    assert loudspeaker.flush() == Played("x", 0)
    assert loudspeaker.timeline == []
    loudspeaker.play("a", loud(100))
    loudspeaker.play("b", loud(100))
    loudspeaker.play("b", loud(100))
    clock.now_s += 0.13
    assert loudspeaker.flush() == Played("b", pytest.approx(30))
    assert loudspeaker.silent_from_s == pytest.approx(100.13)
    assert loudspeaker.flush() is None


def test_quiet_samples_are_not_audible(loudspeaker: Loudspeaker):
    loudspeaker.play("a", loud(30, level=300))
    loudspeaker.play("a", np.concatenate([loud(5, 0), loud(10, -400), loud(5, 0)]))
    assert loudspeaker.first_audible_s("a") == pytest.approx(100.035)


async def test_drained_waits_until_the_last_sample():
    clock = asyncio.get_running_loop().time
    loudspeaker = Loudspeaker(RATE_HZ, clock)
    loudspeaker.play("a", loud(50))
    await loudspeaker.drained()
    assert clock() >= loudspeaker.silent_from_s


async def test_the_microphone_delivers_in_real_time_and_mixes():
    clock = asyncio.get_running_loop().time
    microphone = Microphone(RATE_HZ, clock, np.array([7, -7], np.int16))
    packets: list[tuple[float, np.ndarray]] = []
    enough = asyncio.Event()

    async def deliver(samples: np.ndarray) -> None:
        packets.append((clock(), samples))
        if len(packets) == 5:
            enough.set()

    assert microphone.say(loud(30)) == 0
    assert microphone.say(loud(5, 32_767)) == 30
    task = asyncio.create_task(microphone.run(deliver))
    await enough.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    for index, (at_s, samples) in enumerate(packets):
        assert len(samples) == 20
        assert at_s >= microphone.time_of((index + 1) * 20)
    heard = np.concatenate([samples for _, samples in packets])
    assert list(heard[:2]) == [1007, 993]
    assert list(heard[29:36]) == [993, 32767, 32760, 32767, 32760, 32767, -7]
    assert np.array_equal(np.concatenate(microphone.captured[:5]), heard)


def test_speech_is_found_by_its_energy():
    speech = np.concatenate([loud(100, 3), loud(200, 5000), loud(100, 3)])
    assert speech_span(speech, RATE_HZ) == (100, 300)
    with pytest.raises(ValueError, match="expected speech"):
        speech_span(np.zeros(100, np.int16), RATE_HZ)


async def test_the_conversation_is_laid_out_in_stereo():
    clock = Clock()
    microphone = Microphone(RATE_HZ, clock, np.zeros(1, np.int16))
    microphone.captured.append(loud(100, 11))
    loudspeaker = Loudspeaker(RATE_HZ, clock)
    clock.now_s += 0.05
    loudspeaker.play("a", loud(80, 22))
    both = stereo(microphone, loudspeaker)
    assert both.shape == (130, 2)
    assert both[99].tolist() == [11, 22]
    assert both[100:, 0].max() == 0
    assert both[:50, 1].max() == 0
    with pytest.raises(ValueError, match="same rate"):
        stereo(microphone, Loudspeaker(8000, clock))


def test_what_is_held_goes_on_where_it_paused(loudspeaker: Loudspeaker, clock: Clock):
    loudspeaker.play("a", loud(400))
    clock.now_s += 0.1
    loudspeaker.hold()
    loudspeaker.hold()
    assert loudspeaker.held
    clock.now_s += 1.0
    loudspeaker.play("a", loud(200))
    assert loudspeaker.playing() == Played("a", pytest.approx(100))
    loudspeaker.release()
    assert not loudspeaker.held
    assert [len(piece.samples) for piece in loudspeaker.timeline] == [100, 300, 200]
    assert loudspeaker.silent_from_s == pytest.approx(clock.now_s + 0.5)
    loudspeaker.release()
    assert len(loudspeaker.timeline) == 3


def test_what_is_held_can_be_dropped(loudspeaker: Loudspeaker, clock: Clock):
    loudspeaker.play("a", loud(400))
    clock.now_s += 0.1
    loudspeaker.hold()
    clock.now_s += 1.0
    assert loudspeaker.flush() == Played("a", pytest.approx(100))
    assert not loudspeaker.held
    assert loudspeaker.flush() is None
