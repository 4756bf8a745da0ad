"""Turns the packets of one audio stream back into audio and keys. No I/O and no clock.

Nobody listens to this audio in real time, so none of it is held back for playback: a packet is
decoded as soon as its predecessors are. Only a missing packet is waited for, until so many later
ones have come that it counts as lost; Opus then conceals it.

Sources: RFC 3550 (sequence numbers), RFC 6716 section 3.2.1 (a frame without data counts as lost),
RFC 7587 section 3.1.3 (pauses of the sender, DTX), RFC 4733 (keys).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voice.telephony.codec import CallAudio, CallEvent, KeyPressed
from voice.types import Samples

RATE_HZ = 48_000
"""The clock rate of all Opus in RTP."""
MOST_WAITING = 5
"""Packets that wait for a missing one: 100 ms, which covers most jitter."""
MOST_CONCEALED = 10
"""Lost packets in a row that are concealed; by then Opus has faded to silence."""
_RESTART = 1000
"""A packet this far from the expected one restarts the stream."""
_LONGEST_PAUSE = RATE_HZ
"""Samples; timestamps that jump further are no pause of the sender's."""
_KEYS = "0123456789*#ABCD"
_LONGEST_KEY = 0xFFFF
"""A key held for longer continues in another event, whose timestamp is later by this much."""

Decode = Callable[[bytes], Samples]
"""Decodes an Opus packet to samples, (T,) int16 at `RATE_HZ`; ValueError if it is none."""


@dataclass(frozen=True, slots=True)
class Packet:
    """An RTP packet; ``is_key`` distinguishes an RFC 4733 event from Opus."""

    ssrc: int
    sequence: int
    timestamp: int
    payload: bytes
    is_key: bool = False


class RtpInput:
    """The audio of one sender, who may begin a new stream at any time.

    Args:
        decode: Decoder of this sender alone, since Opus keeps state.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._ssrc: int | None = None
        self._next = 0
        self._ends_at = 0
        self._waiting: dict[int, Packet] = {}
        self._lost = 0
        # A packet of only its first byte, which states the frame length, counts as one lost frame.
        self._silent_frame = b""
        self._key_at: int | None = None

    def receive(self, packet: Packet) -> list[CallEvent]:
        """The events that this packet makes available, in order."""
        ahead = (packet.sequence - self._next + 0x8000) % 0x10000 - 0x8000
        if packet.ssrc != self._ssrc or abs(ahead) > _RESTART:
            self._waiting.clear()
            self._ssrc, self._next, ahead = packet.ssrc, packet.sequence, 0
        # An earlier packet than expected has already been concealed.
        if ahead >= 0:
            self._waiting[packet.sequence] = packet
        return self._in_order()

    def _in_order(self) -> list[CallEvent]:
        events: list[CallEvent] = []
        while self._next in self._waiting or len(self._waiting) >= MOST_WAITING:
            packet = self._waiting.pop(self._next, None)
            if packet is None:
                events += self._conceal()
            else:
                events += self._key(packet) if packet.is_key else self._audio(packet)
            self._next = (self._next + 1) % 0x10000
        return events

    def _audio(self, packet: Packet) -> list[CallEvent]:
        if not packet.payload:
            return []
        try:
            samples = self._decode(packet.payload)
        except ValueError:
            return self._conceal()
        self._lost = 0
        self._silent_frame = bytes([packet.payload[0] & 0xFC])
        # Some clocks are not exact to the sample; only a whole packet that was not sent is a pause.
        pause = (packet.timestamp - self._ends_at) % 2**32
        pause = pause if len(samples) <= pause <= _LONGEST_PAUSE else 0
        self._ends_at = packet.timestamp + len(samples)
        return [CallAudio(np.concatenate((np.zeros(pause, np.int16), samples)), RATE_HZ)]

    def _conceal(self) -> list[CallEvent]:
        self._lost += 1
        if not self._silent_frame or self._lost > MOST_CONCEALED:
            return []
        samples = self._decode(self._silent_frame)
        self._ends_at += len(samples)
        return [CallAudio(samples, RATE_HZ)]

    def _key(self, packet: Packet) -> list[CallEvent]:
        """Report a key at its first packet; the others of the event have the same timestamp."""
        number = packet.payload[0] if len(packet.payload) >= 4 else len(_KEYS)
        before, self._key_at = self._key_at, packet.timestamp
        held = None if before is None else (packet.timestamp - before) % 2**32
        goes_on = held in (0, _LONGEST_KEY)
        return [] if goes_on or number >= len(_KEYS) else [KeyPressed(_KEYS[number])]
