"""Packets in any order, and some of them lost."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.telephony.codec import CallAudio, CallEvent, KeyPressed
from voice.types import Samples
from voice.webrtc.rtp_input import MOST_CONCEALED, MOST_WAITING, Packet, RtpInput

FRAME = 960


def decode(payload: bytes) -> Samples:
    """The number in a packet, or -1 for what is made up, in all samples of a frame."""
    if payload[1:] == b"bad":
        raise ValueError
    number = int.from_bytes(payload[1:]) if len(payload) > 1 else -1
    return np.full(FRAME, number, np.int16)


def packet(number: int, first: int = 65_530, ssrc: int = 1) -> Packet:
    payload = b"\x78" + number.to_bytes(2)
    return Packet(ssrc, (first + number) % 0x10000, number * FRAME, payload)


def heard(events: list[CallEvent]) -> list[int]:
    return [int(event.samples[-1]) for event in events if isinstance(event, CallAudio)]


def length(events: list[CallEvent]) -> int:
    return sum(len(event.samples) for event in events if isinstance(event, CallAudio))


def test_what_comes_in_order_is_not_held_back() -> None:
    stream = RtpInput(decode)
    for number in range(20):
        assert heard(stream.receive(packet(number))) == [number]


def test_what_was_late_takes_its_place_and_what_is_too_late_does_not() -> None:
    stream = RtpInput(decode)
    order = [0, 2, 3, 1, 4, 6, 7, 8, 9, 10, 5, 11]
    assert heard([e for n in order for e in stream.receive(packet(n))]) == [
        *range(5),
        -1,
        *range(6, 12),
    ]


@pytest.mark.parametrize(
    ("lost", "made_up", "frames"),
    [(1, 1, 1), (4, 4, 4), (30, MOST_CONCEALED, 30), (100, MOST_CONCEALED, MOST_CONCEALED)],
)
def test_the_lost_are_made_up(lost: int, made_up: int, frames: int) -> None:
    stream = RtpInput(decode)
    assert heard(stream.receive(packet(0))) == [0]
    behind = range(lost + 1, lost + 1 + MOST_WAITING)
    events = [e for n in behind for e in stream.receive(packet(n))]
    assert heard(events) == [*[-1] * made_up, *behind]
    assert length(events) == (frames + MOST_WAITING) * FRAME


def test_what_is_no_opus() -> None:
    stream = RtpInput(decode)
    assert heard(stream.receive(Packet(1, 1, 0, b"xbad"))) == []
    assert heard(stream.receive(Packet(1, 2, 0, b""))) == []
    assert heard(stream.receive(packet(0, first=30_000))) == [0]
    assert heard(stream.receive(Packet(1, 30_001, 0, b"xbad"))) == [-1]


@pytest.mark.parametrize("ahead", [-900, -1, 900, 30_000])
def test_another_stream_is_heard_from_its_first_packet_on(ahead: int) -> None:
    stream = RtpInput(decode)
    for number in range(20):
        stream.receive(packet(number, first=2000))
    for number in range(20):
        other = packet(number, first=2020 + ahead, ssrc=2)
        assert heard(stream.receive(other)) == [number]


@pytest.mark.parametrize(
    ("later", "silent"),
    [(0, 0), (48, 0), (FRAME, FRAME), (48_000, 48_000), (48_001, 0), (-FRAME, 0)],
)
def test_a_pause_of_the_sender_is_silence(later: int, silent: int) -> None:
    stream, at = RtpInput(decode), 2**32 - FRAME
    stream.receive(Packet(1, 1, at, b"x1"))
    (audio,) = stream.receive(Packet(1, 2, (at + FRAME + later) % 2**32, b"x2"))
    assert isinstance(audio, CallAudio)
    assert len(audio.samples) == silent + FRAME
    assert not audio.samples[:silent].any()


def test_each_key_counts_once() -> None:
    stream = RtpInput(decode)
    near_the_end = 2**32 - 100
    pressed = [(5, near_the_end), (5, near_the_end), (5, 0xFFFF - 100), (5, 90_000)]
    pressed += [(11, 95_000), (16, 99_000)]
    keys = [Packet(1, n, at, bytes([key, 0, 0, 1]), True) for n, (key, at) in enumerate(pressed)]
    keys.append(Packet(1, len(keys), 99_999, b"", True))
    assert [e for key in keys for e in stream.receive(key)] == [
        KeyPressed("5"),
        KeyPressed("5"),
        KeyPressed("#"),
    ]


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(0, 0xFFFF))
def test_whatever_comes_memory_is_bounded_and_order_is_kept(seed: int, first: int) -> None:
    stream, draw = RtpInput(decode), random.Random(seed)
    arrivals = sorted(
        (number + draw.random() * 4, number) for number in range(200) if draw.random() > 0.1
    )
    numbers = heard([e for _, n in arrivals for e in stream.receive(packet(n, first))])
    real = [number for number in numbers if number >= 0]
    assert real == sorted(set(real))
    assert len(real) > 150
