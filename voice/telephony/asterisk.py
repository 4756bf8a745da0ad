"""Asterisk's chan_websocket: binary media, and control messages as JSON or lines of plain text.

Asterisk paces the audio itself, so it may be sent early. It cuts messages into frames of its own
and drops the remainder of a message, unless it is told to buffer. Commands are sent in the form in
which ``MEDIA_START`` came. Source: Asterisk documentation, "WebSocket Channel Driver".
"""

from __future__ import annotations

from typing import Any

from voice.errors import ProtocolError
from voice.realtime.wire import parse_json
from voice.telephony.codec import (
    AudioFormat,
    CallAudio,
    CallCodec,
    CallEnded,
    CallEvent,
    CallStarted,
    Encoding,
    FlowChanged,
    KeyPressed,
    LineMessage,
    MarkPlayed,
    Traits,
    as_key,
    as_number,
    as_text,
    compact_json,
    parameters,
)
from voice.types import Samples

MAX_MEDIA_BYTES = 65_500
"""Asterisk closes the connection at a longer message."""

_FORMATS = {
    "ulaw": AudioFormat(Encoding.MULAW),
    "alaw": AudioFormat(Encoding.ALAW),
    "slin": AudioFormat(Encoding.L16_LITTLE),
    "slin12": AudioFormat(Encoding.L16_LITTLE, 12000),
    "slin16": AudioFormat(Encoding.L16_LITTLE, 16000),
    "slin24": AudioFormat(Encoding.L16_LITTLE, 24000),
    "slin32": AudioFormat(Encoding.L16_LITTLE, 32000),
    "slin44": AudioFormat(Encoding.L16_LITTLE, 44100),
    "slin48": AudioFormat(Encoding.L16_LITTLE, 48000),
    "slin96": AudioFormat(Encoding.L16_LITTLE, 96000),
    "slin192": AudioFormat(Encoding.L16_LITTLE, 192000),
}


class ChanWebSocket(CallCodec):
    """A call from Asterisk's WebSocket channel driver.

    Args:
        query: Query parameters of the called address, as set by ``v(agent=coffee)`` in the dial
            string.
    """

    def __init__(self, query: dict[str, str]) -> None:
        self._query = query
        self._json = False
        self._frame_bytes = 1

    def receive(self, message: LineMessage) -> list[CallEvent]:
        """As `CallCodec.receive`."""
        if isinstance(message, bytes):
            samples = self.audio_format.decode(message)
            return [CallAudio(samples, self.rate_hz)] if len(samples) else []
        as_json = message.lstrip().startswith("{")
        data = parse_json(message) if as_json else _plain(message)
        match data.get("event"):
            case "MEDIA_START":
                self._json = as_json
                return [self._start(data)]
            case "DTMF_END":
                return [KeyPressed(as_key(data.get("digit"), "digit"))]
            case "MEDIA_MARK_PROCESSED":
                return [MarkPlayed(as_text(data.get("correlation_id", ""), "correlation_id"))]
            case "MEDIA_XOFF":
                return [FlowChanged(open=False)]
            case "MEDIA_XON":
                return [FlowChanged(open=True)]
            case "HANGUP" | "MEDIA_END":
                return [CallEnded()]
        return []

    def answer(self) -> list[LineMessage]:
        """Answer the channel; harmless if the dial string has already made Asterisk answer."""
        return [self._command("ANSWER")]

    def audio(self, samples: Samples) -> list[LineMessage]:
        """As `CallCodec.audio`; anything but whole Asterisk frames is sent buffered."""
        data = self.audio_format.encode(samples)
        if len(data) % self._frame_bytes == 0:
            return [data]
        return [self._command("START_MEDIA_BUFFERING"), data, self._command("STOP_MEDIA_BUFFERING")]

    def mark(self, name: str) -> list[LineMessage]:
        """As `CallCodec.mark`."""
        return [self._command("MARK_MEDIA", name)]

    def clear(self) -> list[LineMessage]:
        """As `CallCodec.clear`; it also ends any buffering."""
        return [self._command("FLUSH_MEDIA")]

    def hang_up(self) -> list[LineMessage]:
        """As `CallCodec.hang_up`."""
        return [self._command("HANGUP")]

    def _start(self, data: dict[str, Any]) -> CallStarted:
        name = as_text(data.get("format"), "format")
        form = _FORMATS.get(name)
        if form is None:
            raise ProtocolError(f"format: got {name[:40]!r}; expected one of {sorted(_FORMATS)}")
        frame_bytes = as_number(data.get("optimal_frame_size", 1), "optimal_frame_size") or 1
        frame_ms = as_number(data.get("ptime", 20), "ptime")
        if frame_bytes > MAX_MEDIA_BYTES or not 10 <= frame_ms <= 100:
            raise ProtocolError(f"got frames of {frame_bytes} bytes and {frame_ms} ms")
        self._format, self._frame_bytes = form, frame_bytes
        self.traits = Traits(frame_ms=frame_ms)
        call_id = as_text(data.get("channel_id") or data.get("connection_id"), "channel_id")
        return CallStarted(call_id, self._query | parameters(data.get("channel_variables")))

    def _command(self, name: str, correlation_id: str = "") -> str:
        if not self._json:
            return f"{name} {correlation_id}".rstrip()
        ids = {"correlation_id": correlation_id} if correlation_id else {}
        return compact_json({"command": name, **ids})


def _plain(line: str) -> dict[str, Any]:
    """``EVENT name:value name:value`` in the form of the JSON messages."""
    event, *words = line.split() or [""]
    fields: dict[str, Any] = {}
    for word in words[:32]:
        name, colon, value = word.partition(":")
        # A mark's id may stand without a name.
        fields |= {name: value} if colon else {"correlation_id": word}
    return fields | {"event": event}
