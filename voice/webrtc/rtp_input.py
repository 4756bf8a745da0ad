"""The packets of one audio stream, made the caller's audio and keys again. No I/O and no clock.

Nobody listens to this audio in real time, so none of it waits to be played: a packet is decoded as
soon as those before it are. Only one that is missing is waited for, until so many behind it are
there that it counts as lost; Opus then makes up what it may have been.

Sources: RFC 3550 (sequence numbers), RFC 6716 section 3.2.1 (a frame without data is a lost one),
RFC 4733 (keys).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from voice.telephony.codec import CallAudio, CallEvent, KeyPressed
from voice.types import Samples

RATE_HZ = 48_000
"""Of all Opus in RTP."""
MOST_WAITING = 5
"""Packets that are kept for a missing one: 100 ms, which most jitter is within."""
MOST_CONCEALED = 10
"""Lost packets in a row that are made up: Opus falls silent within that."""
_RESTART = 1000
"""A packet so far from the expected one begins the stream anew."""
_KEYS = "0123456789*#ABCD"
_LONGEST_KEY = 0xFFFF
"""A key that is held longer goes on in another event, which begins so much later."""

Decode = Callable[[bytes], Samples]
"""Samples, (T,) int16 at `RATE_HZ`, of an Opus packet; a ValueError where it is none."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of RTP; ``is_key`` tells an event of RFC 4733 from Opus."""

    sequence: int
    timestamp: int
    payload: bytes
    is_key: bool = False


class RtpInput:
    """One stream.

    Args:
        decode: Of this stream: Opus keeps a state.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._next: int | None = None
        self._waiting: dict[int, Packet] = {}
        self._lost = 0
        # The first byte of a packet, which says how long its frames are, is a whole lost one.
        self._silent_frame = b""
        self._key_at: int | None = None

    def receive(self, packet: Packet) -> list[CallEvent]:
        """What is known with this packet, in order."""
        expected = packet.sequence if self._next is None else self._next
        ahead = (packet.sequence - expected + 0x8000) % 0x10000 - 0x8000
        if abs(ahead) > _RESTART:
            self._waiting.clear()
            expected, ahead = packet.sequence, 0
        self._next = expected
        # What comes later than this has been made up.
        if ahead >= 0:
            self._waiting[packet.sequence] = packet
        return self._in_order(expected)

    def _in_order(self, expected: int) -> list[CallEvent]:
        events: list[CallEvent] = []
        while expected in self._waiting or len(self._waiting) >= MOST_WAITING:
            packet = self._waiting.pop(expected, None)
            if packet is None:
                events += self._conceal()
            else:
                events += self._key(packet) if packet.is_key else self._audio(packet.payload)
            expected = (expected + 1) % 0x10000
        self._next = expected
        return events

    def _audio(self, payload: bytes) -> list[CallEvent]:
        if not payload:
            return []
        try:
            samples = self._decode(payload)
        except ValueError:
            return self._conceal()
        self._lost = 0
        self._silent_frame = bytes([payload[0] & 0xFC])
        return [CallAudio(samples, RATE_HZ)]

    def _conceal(self) -> list[CallEvent]:
        self._lost += 1
        if not self._silent_frame or self._lost > MOST_CONCEALED:
            return []
        return [CallAudio(self._decode(self._silent_frame), RATE_HZ)]

    def _key(self, packet: Packet) -> list[CallEvent]:
        """A key when its first packet comes; the others of the event have the same timestamp."""
        number = packet.payload[0] if len(packet.payload) >= 4 else len(_KEYS)
        before, self._key_at = self._key_at, packet.timestamp
        goes_on = before is not None and packet.timestamp - before in (0, _LONGEST_KEY)
        return [] if goes_on or number >= len(_KEYS) else [KeyPressed(_KEYS[number])]
