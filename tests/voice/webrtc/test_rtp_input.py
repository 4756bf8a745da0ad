"""Packets in any order, and some of them lost."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.telephony.codec import CallAudio, CallEvent, KeyPressed
from voice.types import Samples
from voice.webrtc.rtp_input import MOST_CONCEALED, MOST_WAITING, Packet, RtpInput


def decode(payload: bytes) -> Samples:
    """The number in a packet, or -1 for what is made up."""
    if payload[1:] == b"bad":
        raise ValueError
    return np.array([int.from_bytes(payload[1:]) if len(payload) > 1 else -1], np.int16)


def packet(number: int, first: int = 65_530) -> Packet:
    payload = b"\x78" + number.to_bytes(2)
    return Packet((first + number) % 0x10000, number * 960, payload)


def heard(events: list[CallEvent]) -> list[int]:
    return [int(event.samples[0]) for event in events if isinstance(event, CallAudio)]


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


@pytest.mark.parametrize(("lost", "made_up"), [(1, 1), (4, 4), (100, MOST_CONCEALED)])
def test_the_lost_are_made_up(lost: int, made_up: int) -> None:
    stream = RtpInput(decode)
    assert heard(stream.receive(packet(0))) == [0]
    behind = range(lost + 1, lost + 1 + MOST_WAITING)
    assert heard([e for n in behind for e in stream.receive(packet(n))]) == [
        *[-1] * made_up,
        *behind,
    ]


def test_another_stream_and_what_is_no_opus() -> None:
    stream = RtpInput(decode)
    assert heard(stream.receive(Packet(1, 0, b"xbad"))) == []
    assert heard(stream.receive(Packet(2, 0, b""))) == []
    assert heard(stream.receive(packet(0, first=30_000))) == [0]
    assert heard(stream.receive(Packet(30_001, 0, b"xbad"))) == [-1]


def test_each_key_counts_once() -> None:
    stream = RtpInput(decode)
    near_the_end = 2**32 - 100
    pressed = [(5, near_the_end), (5, near_the_end), (5, 0xFFFF - 100), (5, 90_000)]
    pressed += [(11, 95_000), (16, 99_000)]
    keys = [Packet(n, at, bytes([key, 0, 0, 1]), True) for n, (key, at) in enumerate(pressed)]
    keys.append(Packet(len(keys), 99_999, b"", True))
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
