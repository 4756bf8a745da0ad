"""Protocols that send one JSON message and then binary L16: jambonz, FreeSWITCH, Vonage.

Samples are little-endian. Sources: jambonz "listen" verb, drachtio mod_audio_fork, Vonage Voice API
"WebSockets".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voice.errors import ProtocolError
from voice.realtime.wire import parse_json
from voice.telephony.codec import (
    AudioFormat,
    CallAudio,
    CallCodec,
    CallEvent,
    CallStarted,
    Encoding,
    KeyPressed,
    LineMessage,
    MarkPlayed,
    as_key,
    as_number,
    as_object,
    as_text,
    compact_json,
    parameters,
)


class _L16Stream(CallCodec):
    """The audio of these protocols: binary messages of whole samples.

    Args:
        query: Query parameters of the called address.
    """

    def __init__(self, query: dict[str, str]) -> None:
        self._query = query
        self._channels = 1

    def _decode(self, message: bytes) -> list[CallEvent]:
        if len(message) % (2 * self._channels):
            raise ProtocolError(f"got {len(message)} bytes, which is no whole number of samples")
        # Of two channels, the first is the caller's.
        samples = np.ascontiguousarray(self.audio_format.decode(message)[:: self._channels])
        return [CallAudio(samples, self.rate_hz)] if len(samples) else []


class AudioFork(_L16Stream):
    """A call of jambonz's ``listen`` verb, or of FreeSWITCH's mod_audio_fork.

    The first text describes the call. mod_audio_fork sends whatever its command was given, which
    may not be JSON, or nothing; the rate is then the address's ``rate`` parameter, or 8000.
    """

    def receive(self, message: LineMessage) -> list[CallEvent]:
        """As `CallCodec.receive`."""
        if isinstance(message, bytes):
            opening = [] if self._format else [self._start({})]
            return opening + self._decode(message)
        if self._format is None:
            return [self._start(_description(message))]
        data = _description(message)
        if data.get("event") == "dtmf":
            return [KeyPressed(as_key(data.get("dtmf"), "dtmf"))]
        if data.get("type") == "mark":
            mark = as_object(data.get("data"), "data")
            return [MarkPlayed(as_text(mark.get("name"), "data.name"))]
        return []

    def mark(self, name: str) -> list[LineMessage]:
        """As `CallCodec.mark`."""
        return [compact_json({"type": "mark", "data": {"name": name}})]

    def clear(self) -> list[LineMessage]:
        """As `CallCodec.clear`."""
        return [compact_json({"type": "killAudio"})]

    def hang_up(self) -> list[LineMessage]:
        """As `CallCodec.hang_up`; jambonz continues with whatever follows the verb."""
        return [compact_json({"type": "disconnect"})]

    def _start(self, data: dict[str, Any]) -> CallStarted:
        rate = data.get("sampleRate", self._query.get("rate", "8000"))
        self._format = AudioFormat(Encoding.L16_LITTLE, as_number(rate, "sampleRate"))
        self._channels = 2 if data.get("mixType") == "stereo" else 1
        call_id = as_text(data.get("callSid", data.get("uuid", "")), "callSid")
        nested = parameters(data.get("metadata"))
        # If the call was placed from here, "from" is our own number.
        far = "to" if data.get("direction") == "outbound" else "from"
        number = as_text(data.get(far) or "", far)
        return CallStarted(call_id, self._query | parameters(data) | nested, number)


class Vonage(_L16Stream):
    """A call of Vonage's Voice API."""

    def receive(self, message: LineMessage) -> list[CallEvent]:
        """As `CallCodec.receive`."""
        if isinstance(message, bytes):
            return self._decode(message)
        data = parse_json(message)
        match data.get("event"):
            case "websocket:connected":
                return [self._start(data)]
            case "websocket:dtmf":
                return [KeyPressed(as_key(data.get("digit"), "digit"))]
            case "websocket:notify":
                payload = as_object(data.get("payload"), "payload")
                return [MarkPlayed(as_text(payload.get("mark"), "payload.mark"))]
        return []

    def mark(self, name: str) -> list[LineMessage]:
        """As `CallCodec.mark`."""
        return [compact_json({"action": "notify", "payload": {"mark": name}})]

    def clear(self) -> list[LineMessage]:
        """As `CallCodec.clear`."""
        return [compact_json({"action": "clear"})]

    def _start(self, data: dict[str, Any]) -> CallStarted:
        kind, _, rest = as_text(data.get("content-type"), "content-type").partition(";")
        name, _, rate = rest.strip().partition("=")
        if kind.strip().lower() != "audio/l16" or (rest and name.strip() != "rate"):
            raise ProtocolError("content-type: expected audio/l16;rate=16000 or the like")
        self._format = AudioFormat(Encoding.L16_LITTLE, as_number(rate or "16000", "rate"))
        call_id = as_text(data.get("uuid", data.get("call_uuid", "")), "uuid")
        return CallStarted(call_id, self._query | parameters(data))


def _description(message: str) -> dict[str, Any]:
    return parse_json(message) if message.lstrip().startswith("{") else {}
