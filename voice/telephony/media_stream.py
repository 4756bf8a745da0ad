"""Twilio Media Streams and the protocols modelled on it: JSON with audio in base64.

They differ in the names of fields and commands, which a `Dialect` holds. Messages are sent exactly
as the vendor documents them; received ones may contain more. Sources: Twilio "Media Streams
WebSocket messages", Telnyx "Media streaming", Plivo "Audio streaming", Exotel "AgentStream
WebSocket".
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

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
    KeyPressed,
    LineMessage,
    MarkPlayed,
    Traits,
    as_key,
    as_number,
    as_object,
    as_text,
    compact_json,
    padded,
    parameters,
)
from voice.types import Samples

MAX_GAP_MS = 1000
REORDER = 4
"""How many chunks wait for a late one."""

_LINEAR = ("audio/x-l16", "audio/l16", "l16", "audio/x-raw", "raw/slin", "slin", "base64")
_ENCODINGS = {
    "audio/x-mulaw": Encoding.MULAW,
    "pcmu": Encoding.MULAW,
    "audio/x-alaw": Encoding.ALAW,
    "pcma": Encoding.ALAW,
}

_PACE = Traits()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one vendor names and does things.

    Attributes:
        call_id: Field of ``start`` with the call's id.
        stream_id: Field with the stream's id, at the top of a message or in ``start``; sent back in
            every command if ``echo_stream_id`` is set.
        media_format: Field of ``start`` with encoding and rate; ``sample_rate`` is the rate's field
            in it.
        parameters: Field with custom values, in ``start`` or at the top.
        number: Field of ``start`` with the caller's number; empty if there is none.
        linear: Byte order of 16-bit samples.
        fallback: Encoding if ``start`` names none.
        media, mark, clear: Commands. ``played`` is the event that answers a mark.
        flat: Whether a mark's name stands at the top of its message.
        typed_media: Whether media that we send states encoding and rate.
        gaps: How lost audio is detected: by timestamps in ms, or by chunk numbers, which also
            restore the order where it is not guaranteed.
        digits: Command that presses keys; empty if there is none.
        chunk_samples, least_samples: The length of media that we send is a multiple of the former
            and at least the latter.
        traits: The pace of the audio.
    """

    call_id: str = "callSid"
    stream_id: str = "streamSid"
    media_format: str = "mediaFormat"
    sample_rate: str = "sampleRate"
    parameters: str = "customParameters"
    number: str = ""
    linear: Encoding = Encoding.L16_LITTLE
    fallback: Encoding = Encoding.MULAW
    echo_stream_id: bool = True
    media: str = "media"
    mark: str = "mark"
    played: str = "mark"
    clear: str = "clear"
    flat: bool = False
    typed_media: bool = False
    gaps: Literal["timestamp", "chunk"] = "timestamp"
    digits: str = ""
    chunk_samples: int = 1
    least_samples: int = 0
    traits: Traits = _PACE


_SNAKE = Dialect(
    media_format="media_format", sample_rate="sample_rate", parameters="custom_parameters"
)
TWILIO = Dialect()
TELNYX = replace(
    _SNAKE,
    call_id="call_control_id",
    stream_id="stream_id",
    number="from",
    linear=Encoding.L16_BIG,
    echo_stream_id=False,
    gaps="chunk",
)
PLIVO = Dialect(
    call_id="callId",
    stream_id="streamId",
    parameters="extra_headers",
    media="playAudio",
    mark="checkpoint",
    played="playedStream",
    clear="clearAudio",
    flat=True,
    typed_media=True,
    gaps="chunk",
    digits="sendDTMF",
)
EXOTEL = replace(
    _SNAKE,
    call_id="call_sid",
    stream_id="stream_sid",
    number="from",
    fallback=Encoding.L16_LITTLE,
    gaps="chunk",
    # Multiples of 320 bytes, and at least 100 ms.
    chunk_samples=160,
    least_samples=1600,
    traits=Traits(frame_ms=200, ahead_ms=400),
)


class MediaStream(CallCodec):
    """A call over a protocol of this family."""

    def __init__(self, dialect: Dialect) -> None:
        self.traits = dialect.traits
        self._dialect = dialect
        self._stream_id = ""
        self._next_ms: int | None = None
        self._next_chunk: int | None = None
        self._early: dict[int, Samples] = {}
        self._late = 0

    def receive(self, message: LineMessage) -> list[CallEvent]:
        """As `CallCodec.receive`."""
        if not isinstance(message, str):
            raise ProtocolError("got a binary message; expected JSON")
        data = parse_json(message)
        event = data.get("event")
        if event == "start":
            return [self._start(data)]
        if event == "media":
            return self._media(as_object(data.get("media"), "media"))
        if event == "dtmf":
            digit = as_object(data.get("dtmf"), "dtmf").get("digit")
            return [KeyPressed(as_key(digit, "dtmf.digit"))]
        if event == self._dialect.played:
            named = data if self._dialect.flat else as_object(data.get("mark"), "mark")
            return [MarkPlayed(as_text(named.get("name"), "name"))]
        return [CallEnded()] if event == "stop" else []

    def audio(self, samples: Samples) -> list[LineMessage]:
        """As `CallCodec.audio`."""
        form, dialect = self.audio_format, self._dialect
        samples = padded(samples, dialect.chunk_samples)
        if len(samples) < dialect.least_samples:
            samples = padded(samples, dialect.least_samples)
        media: dict[str, Any] = {}
        if dialect.typed_media:
            name = "audio/x-mulaw" if form.encoding is Encoding.MULAW else "audio/x-l16"
            media = {"contentType": name, "sampleRate": form.rate_hz}
        media["payload"] = base64.b64encode(form.encode(samples)).decode()
        if dialect.typed_media:
            return [compact_json({"event": dialect.media, "media": media})]
        return [self._command(dialect.media, media=media)]

    def mark(self, name: str) -> list[LineMessage]:
        """As `CallCodec.mark`."""
        if self._dialect.flat:
            return [self._command(self._dialect.mark, name=name)]
        return [self._command(self._dialect.mark, mark={"name": name})]

    def clear(self) -> list[LineMessage]:
        """As `CallCodec.clear`."""
        return [self._command(self._dialect.clear)]

    def send_digits(self, digits: str) -> list[LineMessage]:
        """As `CallCodec.send_digits`."""
        if not self._dialect.digits:
            return []
        return [compact_json({"event": self._dialect.digits, "dtmf": digits})]

    def _start(self, data: dict[str, Any]) -> CallStarted:
        dialect = self._dialect
        start = as_object(data.get("start"), "start")
        stream_id = data.get(dialect.stream_id, start.get(dialect.stream_id))
        self._stream_id = as_text(stream_id, dialect.stream_id)
        call_id = as_text(start.get(dialect.call_id), dialect.call_id)
        self._format = self._format_of(start.get(dialect.media_format) or {})
        custom = start.get(dialect.parameters, data.get(dialect.parameters))
        given = parameters(_pairs(custom) if isinstance(custom, str) else custom)
        number = start.get(dialect.number) if dialect.number else None
        return CallStarted(call_id, given, as_text(number or "", dialect.number))

    def _format_of(self, given: object) -> AudioFormat:
        fields = as_object(given, self._dialect.media_format)
        rate_hz = as_number(fields.get(self._dialect.sample_rate, 8000), "sample rate")
        if as_number(fields.get("channels", 1), "channels") != 1:
            raise ProtocolError("channels: got more than one; expected the caller's alone")
        if "encoding" not in fields:
            return AudioFormat(self._dialect.fallback, rate_hz)
        name = as_text(fields["encoding"], "encoding").partition(";")[0].strip().lower()
        encoding = self._dialect.linear if name in _LINEAR else _ENCODINGS.get(name)
        if encoding is None:
            raise ProtocolError(f"encoding: got {name[:40]!r}; expected mu-law, A-law or L16")
        return AudioFormat(encoding, rate_hz)

    def _media(self, media: dict[str, Any]) -> list[CallEvent]:
        if self._format is None and self._dialect.gaps == "chunk":
            # Where the order is not guaranteed, the first audio may overtake the start.
            return []
        form = self.audio_format
        if media.get("track", "inbound") not in ("inbound", "inbound_track"):
            return []
        payload = media.get("payload")
        if not isinstance(payload, str):
            raise ProtocolError("media.payload: expected text", param="media.payload")
        try:
            data = base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ProtocolError("media.payload: expected base64", param="media.payload") from error
        samples = form.decode(data)
        if self._dialect.gaps == "chunk" and "chunk" in media:
            pieces = self._in_order(as_number(media["chunk"], "media.chunk"), samples)
        elif self._dialect.gaps == "timestamp" and "timestamp" in media:
            stamp_ms = as_number(media["timestamp"], "media.timestamp")
            pieces = [self._gap(stamp_ms, samples), samples]
        else:
            pieces = [samples]
        return [CallAudio(piece, form.rate_hz) for piece in pieces if len(piece)]

    def _gap(self, stamp_ms: int, samples: Samples) -> Samples:
        """Silence in place of audio that was lost before a chunk."""
        rate_hz = self.rate_hz
        missing_ms = 0 if self._next_ms is None else stamp_ms - self._next_ms
        self._next_ms = stamp_ms + len(samples) * 1000 // rate_hz
        # Timestamps are whole milliseconds, so less than a frame is no gap.
        missing_ms = min(missing_ms, MAX_GAP_MS) if missing_ms >= 20 else 0
        return np.zeros(missing_ms * rate_hz // 1000, np.int16)

    def _in_order(self, chunk: int, samples: Samples) -> list[Samples]:
        """The chunks that are ready, in order, with silence for those that never came."""
        if self._next_chunk is None:
            self._next_chunk = chunk
        out: list[Samples] = []
        self._late = self._late + 1 if chunk < self._next_chunk else 0
        if self._late > REORDER:
            # Late chunks are never this frequent: the far side has restarted its count.
            out = [self._early[number] for number in sorted(self._early)]
            self._early.clear()
            self._next_chunk, self._late = chunk, 0
        elif self._late:
            return out
        self._early[chunk] = samples
        while self._early:
            if self._next_chunk not in self._early:
                if len(self._early) <= REORDER:
                    break
                first = min(self._early)
                length = len(self._early[first])
                most = self.rate_hz * MAX_GAP_MS // 1000
                out.append(np.zeros(min((first - self._next_chunk) * length, most), np.int16))
                self._next_chunk = first
            out.append(self._early.pop(self._next_chunk))
            self._next_chunk += 1
        return out

    def _command(self, event: str, **fields: Any) -> str:
        stream = {self._dialect.stream_id: self._stream_id} if self._dialect.echo_stream_id else {}
        return compact_json({"event": event, **stream, **fields})


def _pairs(text: str) -> dict[str, str]:
    """Parse Plivo's ``name=value;name=value``, with either separator, or JSON."""
    if text.lstrip().startswith("{"):
        return parameters(parse_json(text))
    pairs = (pair.partition("=") for pair in re.split("[;,]", text[:4096]))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}
