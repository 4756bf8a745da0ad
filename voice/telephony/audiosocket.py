"""Asterisk's AudioSocket: a TCP stream of kind, length and payload.

Asterisk plays what it gets at once and takes nothing back, so little may be sent ahead; it has no
marks. Source: Asterisk documentation, "AudioSocket".
"""

from __future__ import annotations

import struct
from uuid import UUID

from voice.errors import ProtocolError
from voice.telephony.codec import (
    CallAudio,
    CallEnded,
    CallEvent,
    CallStarted,
    KeyPressed,
    Traits,
    Wire,
)
from voice.telephony.encodings import AudioFormat, Encoding, padded
from voice.telephony.fields import as_key
from voice.types import Samples

HANGUP, IDENTITY, KEY, FAILED = 0x00, 0x01, 0x03, 0xFF
RATES_HZ = {
    0x10: 8000,
    0x11: 12000,
    0x12: 16000,
    0x13: 24000,
    0x14: 32000,
    0x15: 44100,
    0x16: 48000,
    0x17: 96000,
    0x18: 192000,
}

_HEADER = struct.Struct(">BH")


class AudioSocket:
    """A call over AudioSocket."""

    def __init__(self) -> None:
        self.traits = Traits(ahead_ms=40, marks=False)
        self._buffer = b""
        self._call_id = ""
        self._kind: int | None = None

    @property
    def rate_hz(self) -> int:
        """Of the audio to be sent."""
        return RATES_HZ[self._kind or 0x10]

    def receive(self, message: Wire) -> list[CallEvent]:
        """As `CallCodec.receive`; stretches of the stream may be cut anywhere."""
        if isinstance(message, str):
            raise ProtocolError("got text; expected bytes")
        self._buffer += message
        events: list[CallEvent] = []
        while len(self._buffer) >= _HEADER.size:
            kind, length = _HEADER.unpack_from(self._buffer)
            end = _HEADER.size + length
            if len(self._buffer) < end:
                break
            payload, self._buffer = self._buffer[_HEADER.size : end], self._buffer[end:]
            events += self._packet(kind, payload)
        return events

    def answer(self) -> list[Wire]:
        """Nothing: the dialplan has answered."""
        return []

    def audio(self, samples: Samples) -> list[Wire]:
        """As `CallCodec.audio`."""
        form = AudioFormat(Encoding.L16_LITTLE, self.rate_hz)
        data = form.encode(padded(samples, self.rate_hz * self.traits.frame_ms // 1000))
        return [_HEADER.pack(self._kind or 0x10, len(data)) + data]

    def mark(self, name: str) -> list[Wire]:
        """Nothing: there are none."""
        return []

    def clear(self) -> list[Wire]:
        """Nothing: what was sent is played."""
        return []

    def send_digits(self, digits: str) -> list[Wire]:
        """Nothing: keys come from Asterisk only."""
        return []

    def hang_up(self) -> list[Wire]:
        """As `CallCodec.hang_up`."""
        return [_HEADER.pack(HANGUP, 0)]

    def _packet(self, kind: int, payload: bytes) -> list[CallEvent]:
        if kind == IDENTITY:
            if self._call_id or len(payload) != 16:
                raise ProtocolError("expected one identity of 16 bytes")
            self._call_id = str(UUID(bytes=payload))
            return []
        if not self._call_id:
            raise ProtocolError("got another packet before the call's identity")
        if kind in RATES_HZ:
            return self._audio(kind, payload)
        if kind == KEY:
            return [KeyPressed(as_key(payload[:1].decode("latin-1"), "key"))]
        return [CallEnded()] if kind in (HANGUP, FAILED) else []

    def _audio(self, kind: int, payload: bytes) -> list[CallEvent]:
        events: list[CallEvent] = []
        if self._kind is None:
            # The first audio tells the rate, without which nothing can be sent.
            self._kind = kind
            events.append(CallStarted(self._call_id))
        samples = AudioFormat(Encoding.L16_LITTLE, RATES_HZ[kind]).decode(payload)
        return [*events, CallAudio(samples, RATES_HZ[kind])] if payload else events
