"""Protocols of one JSON message and then binary L16: jambonz, FreeSWITCH, Vonage.

Samples are little-endian. Sources: jambonz "listen" verb, drachtio mod_audio_fork, Vonage Voice API
"WebSockets".
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from voice.errors import ProtocolError
from voice.telephony.codec import (
    CallAudio,
    CallEvent,
    CallStarted,
    KeyPressed,
    MarkPlayed,
    Traits,
    Wire,
)
from voice.telephony.encodings import AudioFormat, Encoding, padded
from voice.telephony.fields import as_key, as_number, as_object, as_text, parameters, parse_json
from voice.types import Samples


class _Preamble:
    """What these protocols share.

    Args:
        query: Parameters of the address that was called.
    """

    def __init__(self, query: dict[str, str]) -> None:
        self.traits = Traits()
        self._query = query
        self._format: AudioFormat | None = None
        self._channels = 1

    @property
    def rate_hz(self) -> int:
        """Of the audio to be sent."""
        return self._started().rate_hz

    def answer(self) -> list[Wire]:
        """Nothing: the call was taken before."""
        return []

    def audio(self, samples: Samples) -> list[Wire]:
        """As `CallCodec.audio`."""
        form = self._started()
        return [form.encode(padded(samples, form.rate_hz * self.traits.frame_ms // 1000))]

    def send_digits(self, digits: str) -> list[Wire]:
        """Nothing: there is no such command."""
        return []

    def _heard(self, message: bytes) -> list[CallEvent]:
        form = self._started()
        if len(message) % (2 * self._channels):
            raise ProtocolError(f"got {len(message)} bytes, which is no whole number of samples")
        # The caller is the first of two channels.
        samples = np.ascontiguousarray(form.decode(message)[:: self._channels])
        return [CallAudio(samples, form.rate_hz)] if len(samples) else []

    def _begin(self, rate_hz: int) -> None:
        self._format = AudioFormat(Encoding.L16_LITTLE, rate_hz)

    def _started(self) -> AudioFormat:
        if self._format is None:
            raise ProtocolError("got audio before the message that describes it")
        return self._format


class AudioFork(_Preamble):
    """A call of jambonz's ``listen`` verb, or of FreeSWITCH's mod_audio_fork.

    The first text describes the call. mod_audio_fork sends what its command was given, or nothing:
    then the rate is the address's ``rate`` parameter, or 8000. What its ``send_text`` and ``stop``
    commands are given comes later, and need be no JSON either.
    """

    def receive(self, message: Wire) -> list[CallEvent]:
        """As `CallCodec.receive`."""
        if isinstance(message, bytes):
            opening = [] if self._format else [self._start({})]
            return opening + self._heard(message)
        if self._format is None:
            return [self._start(_described(message))]
        data = _described(message)
        if data.get("event") == "dtmf":
            return [KeyPressed(as_key(data.get("dtmf"), "dtmf"))]
        if data.get("type") == "mark":
            mark = as_object(data.get("data"), "data")
            return [MarkPlayed(as_text(mark.get("name"), "data.name"))]
        return []

    def mark(self, name: str) -> list[Wire]:
        """As `CallCodec.mark`."""
        return [_json({"type": "mark", "data": {"name": name}})]

    def clear(self) -> list[Wire]:
        """As `CallCodec.clear`."""
        return [_json({"type": "killAudio"})]

    def hang_up(self) -> list[Wire]:
        """As `CallCodec.hang_up`; jambonz goes on with what follows the verb."""
        return [_json({"type": "disconnect"})]

    def _start(self, data: dict[str, Any]) -> CallStarted:
        rate = data.get("sampleRate", self._query.get("rate", "8000"))
        self._begin(as_number(rate, "sampleRate"))
        self._channels = 2 if data.get("mixType") == "stereo" else 1
        call_id = as_text(data.get("callSid", data.get("uuid", "")), "callSid")
        nested = parameters(data.get("metadata"))
        return CallStarted(call_id, self._query | parameters(data) | nested)


class Vonage(_Preamble):
    """A call of Vonage's Voice API."""

    def receive(self, message: Wire) -> list[CallEvent]:
        """As `CallCodec.receive`."""
        if isinstance(message, bytes):
            return self._heard(message)
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

    def mark(self, name: str) -> list[Wire]:
        """As `CallCodec.mark`."""
        return [_json({"action": "notify", "payload": {"mark": name}})]

    def clear(self) -> list[Wire]:
        """As `CallCodec.clear`."""
        return [_json({"action": "clear"})]

    def hang_up(self) -> list[Wire]:
        """Nothing: closing the connection ends the leg."""
        return []

    def _start(self, data: dict[str, Any]) -> CallStarted:
        if self._format is not None:
            raise ProtocolError("websocket:connected: got a second one")
        kind, _, rest = as_text(data.get("content-type"), "content-type").partition(";")
        name, _, rate = rest.strip().partition("=")
        if kind.strip().lower() != "audio/l16" or (rest and name.strip() != "rate"):
            raise ProtocolError("content-type: expected audio/l16;rate=16000 or the like")
        self._begin(as_number(rate or "16000", "rate"))
        call_id = as_text(data.get("uuid", data.get("call_uuid", "")), "uuid")
        return CallStarted(call_id, self._query | parameters(data))


def _described(message: str) -> dict[str, Any]:
    return parse_json(message) if message.lstrip().startswith("{") else {}


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"))
