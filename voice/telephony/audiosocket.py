"""Asterisk's AudioSocket: a TCP stream of kind, length and payload.

Asterisk plays audio as it arrives and cannot drop it, so only little may be sent ahead. The
protocol has no marks. Source: Asterisk documentation, "AudioSocket".
"""

from __future__ import annotations

import struct
from uuid import UUID

from voice.errors import ProtocolError
from voice.telephony.codec import (
    AudioFormat,
    CallAudio,
    CallCodec,
    CallEnded,
    CallEvent,
    CallStarted,
    Encoding,
    KeyPressed,
    LineMessage,
    Traits,
    as_key,
)
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


class AudioSocket(CallCodec):
    """A call over AudioSocket."""

    traits = Traits(ahead_ms=40, marks=False)

    def __init__(self) -> None:
        self._format = AudioFormat(Encoding.L16_LITTLE)
        self._kind = 0x10
        self._started = False
        self._buffer = b""
        self._call_id = ""

    def receive(self, message: LineMessage) -> list[CallEvent]:
        """As `CallCodec.receive`; the stream may be cut anywhere."""
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

    def audio(self, samples: Samples) -> list[LineMessage]:
        """As `CallCodec.audio`."""
        data = self.audio_format.encode(self.frames(samples))
        return [_HEADER.pack(self._kind, len(data)) + data]

    def hang_up(self) -> list[LineMessage]:
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
        audio_format = AudioFormat(Encoding.L16_LITTLE, RATES_HZ[kind])
        if not self._started:
            # Audio is sent at the rate of the first audio received.
            self._started, self._kind, self._format = True, kind, audio_format
            events.append(CallStarted(self._call_id))
        samples = audio_format.decode(payload)
        return [*events, CallAudio(samples, audio_format.rate_hz)] if payload else events
