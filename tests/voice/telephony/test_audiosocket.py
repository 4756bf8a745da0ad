"""AudioSocket's packets, byte for byte, cut in all places."""

from uuid import UUID

import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.telephony.audiosocket import RATES_HZ, AudioSocket
from voice.telephony.codec import CallAudio, CallEnded, CallEvent, CallStarted, KeyPressed

CALL = UUID("40325ec2-5efd-4bd3-805f-53576e581d13")
IDENTITY = b"\x01\x00\x10" + CALL.bytes
AUDIO = bytes.fromhex("10 0006 0100 0001 feff")


def told(events: list[CallEvent]) -> list[object]:
    return [e.samples.tolist() if isinstance(e, CallAudio) else e for e in events]


STREAM = IDENTITY + AUDIO + b"\x03\x00\x015" + b"\x00\x00\x00"
EVENTS = [CallStarted(str(CALL)), [1, 256, -2], KeyPressed("5"), CallEnded()]


def test_a_call() -> None:
    codec = AudioSocket()
    assert codec.receive(IDENTITY) == []
    assert told(codec.receive(STREAM[len(IDENTITY) :])) == EVENTS
    assert codec.rate_hz == 8000


@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_the_stream_may_be_cut_anywhere(size: int) -> None:
    codec = AudioSocket()
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert [event for piece in pieces for event in told(codec.receive(piece))] == EVENTS


@pytest.mark.parametrize(("kind", "rate_hz"), RATES_HZ.items())
def test_the_first_audio_tells_the_rate(kind: int, rate_hz: int) -> None:
    codec = AudioSocket()
    codec.receive(IDENTITY)
    _, audio = codec.receive(bytes([kind]) + AUDIO[1:])
    assert isinstance(audio, CallAudio)
    assert audio.rate_hz == codec.rate_hz == rate_hz
    # The call starts once.
    assert len(codec.receive(bytes([kind]) + AUDIO[1:])) == 1
    (packet,) = codec.audio(np.ones(rate_hz // 50, np.int16))
    assert isinstance(packet, bytes)
    assert packet[0] == kind
    assert int.from_bytes(packet[1:3], "big") == len(packet) - 3 == rate_hz // 50 * 2


def test_what_is_sent() -> None:
    codec = AudioSocket()
    assert codec.audio(np.array([1], np.int16)) == [b"\x10\x01\x40\x01\x00" + bytes(318)]
    assert codec.hang_up() == [b"\x00\x00\x00"]
    assert codec.answer() == codec.mark("m1") == codec.clear() == codec.send_digits("1") == []
    assert not codec.traits.marks


@pytest.mark.parametrize(
    "stream",
    [
        AUDIO,
        b"\x01\x00\x01x",
        IDENTITY + IDENTITY,
        IDENTITY + b"\x10\x00\x01x",
        IDENTITY + b"\x03\x00\x00",
    ],
)
def test_what_breaks_the_protocol_is_refused(stream: bytes) -> None:
    with pytest.raises(ProtocolError):
        AudioSocket().receive(stream)


def test_an_error_ends_the_call_and_unknown_packets_are_passed_over() -> None:
    codec = AudioSocket()
    codec.receive(IDENTITY)
    assert codec.receive(b"\x42\x00\x02xx") == []
    assert codec.receive(b"\xff\x00\x01\x01") == [CallEnded()]
    with pytest.raises(ProtocolError, match="text"):
        codec.receive("hello")
