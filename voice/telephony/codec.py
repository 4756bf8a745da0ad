"""The parts of a telephone protocol's codec: events, audio formats, and checked fields.

A codec turns the messages of one protocol into events, and commands into messages, without I/O and
without a clock. Each call has a codec of its own.

Shapes: T is a number of samples.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from voice.audio import (
    alaw_from_samples,
    mulaw_from_samples,
    samples_from_alaw,
    samples_from_mulaw,
)
from voice.errors import ProtocolError
from voice.types import Samples

LineMessage = str | bytes
"""A WebSocket message, text or binary, or a piece of a byte stream."""

KEYS = frozenset("0123456789*#ABCD")
MAX_PARAMETERS = 64
MAX_TEXT = 1024
_LARGEST = 10**18

RATES_HZ = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 96000, 192000)


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The call is up; only keys and the end of the call may come earlier.

    Attributes:
        call_id: The protocol's own id of the call; never logged.
        parameters: Values that the caller's side sent, by name.
        number: Number of the far side; empty if the protocol does not tell it.
    """

    call_id: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    number: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class CallAudio:
    """A piece of the caller's audio, which follows the previous one without a gap.

    Attributes:
        samples: (T,) int16 mono.
        rate_hz: Sample rate.
    """

    samples: Samples
    rate_hz: int


@dataclass(frozen=True, slots=True)
class KeyPressed:
    """The caller pressed a key, one of `KEYS`.

    Any other character stands for an event of the line, such as a flash, and is ignored.
    """

    key: str


@dataclass(frozen=True, slots=True)
class MarkPlayed:
    """All audio sent before this mark has been played, or was dropped by `clear`."""

    name: str


@dataclass(frozen=True, slots=True)
class FlowChanged:
    """Whether the line accepts audio now."""

    open: bool


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The caller's side has ended the call."""


CallEvent = CallStarted | CallAudio | KeyPressed | MarkPlayed | FlowChanged | CallEnded


@dataclass(frozen=True, slots=True)
class Traits:
    """The pace at which a protocol takes audio, and whether it has marks.

    Attributes:
        frame_ms: Length of the pieces in which audio is sent.
        ahead_ms: Audio that may wait at the far side; little if it cannot be taken back.
        marks: Whether the far side reports what it has played.
    """

    frame_ms: int = 20
    ahead_ms: int = 200
    marks: bool = True


class Encoding(StrEnum):
    """How samples are encoded."""

    MULAW = "mulaw"
    ALAW = "alaw"
    L16_LITTLE = "l16-little"
    L16_BIG = "l16-big"


_G711: dict[str, tuple[Callable[[bytes], Samples], Callable[[Samples], bytes]]] = {
    Encoding.MULAW: (samples_from_mulaw, mulaw_from_samples),
    Encoding.ALAW: (samples_from_alaw, alaw_from_samples),
}
_BYTE_ORDERS = {Encoding.L16_LITTLE: "<i2", Encoding.L16_BIG: ">i2"}


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """An encoding at a sample rate.

    Raises:
        ProtocolError: The rate is not one that telephones use.
    """

    encoding: Encoding
    rate_hz: int = 8000

    def __post_init__(self) -> None:
        if self.rate_hz not in RATES_HZ:
            raise ProtocolError(f"got the sample rate {self.rate_hz}; expected one of {RATES_HZ}")

    def decode(self, data: bytes) -> Samples:
        """Decode audio into (T,) int16 samples.

        Raises:
            ProtocolError: The last sample is incomplete.
        """
        if self.encoding in _G711:
            return _G711[self.encoding][0](data)
        if len(data) % 2:
            raise ProtocolError(f"got {len(data)} bytes of 16-bit audio; expected an even number")
        return np.frombuffer(data, _BYTE_ORDERS[self.encoding]).astype(np.int16)

    def encode(self, samples: Samples) -> bytes:
        """Encode (T,) int16 samples."""
        if self.encoding in _G711:
            return _G711[self.encoding][1](samples)
        return samples.astype(_BYTE_ORDERS[self.encoding]).tobytes()


class CallCodec(ABC):
    """One telephone protocol, for one call.

    A command that the protocol does not have keeps its default, which sends nothing.

    Attributes:
        traits: The pace of the audio, known once the call has started.
    """

    traits = Traits()
    _format: AudioFormat | None = None

    @property
    def audio_format(self) -> AudioFormat:
        """The format of the audio in both directions, known once the call has started.

        Raises:
            ProtocolError: The call has not started.
        """
        if self._format is None:
            raise ProtocolError("got another message before the start of the call")
        return self._format

    @property
    def rate_hz(self) -> int:
        """Sample rate of the audio to send, known once the call has started."""
        return self.audio_format.rate_hz

    @abstractmethod
    def receive(self, message: LineMessage) -> list[CallEvent]:
        """The events in a message, in order; none if the message is of an unknown kind.

        Raises:
            ProtocolError: The message breaks the protocol; the call cannot go on.
        """

    def audio(self, samples: Samples) -> list[LineMessage]:
        """Play (T,) int16 samples at ``rate_hz``: one frame, or less at the end of a reply."""
        return [self.audio_format.encode(self.frames(samples))]

    def answer(self) -> list[LineMessage]:
        """Answer the call."""
        return []

    def mark(self, name: str) -> list[LineMessage]:
        """Ask for a `MarkPlayed` once all audio sent so far has been played."""
        return []

    def clear(self) -> list[LineMessage]:
        """Drop audio that has not been played."""
        return []

    def send_digits(self, digits: str) -> list[LineMessage]:
        """Press keys on the line."""
        return []

    def hang_up(self) -> list[LineMessage]:
        """End the call; the connection is closed after these messages."""
        return []

    def frames(self, samples: Samples) -> Samples:
        """Samples padded with silence to whole frames."""
        return padded(samples, self.rate_hz * self.traits.frame_ms // 1000)


def padded(samples: Samples, multiple: int) -> Samples:
    """Samples, padded with silence to a multiple of ``multiple``."""
    missing = -len(samples) % multiple
    return np.concatenate([samples, np.zeros(missing, np.int16)]) if missing else samples


def compact_json(data: Mapping[str, Any]) -> str:
    """A JSON text without spaces."""
    return json.dumps(data, separators=(",", ":"))


def as_object(value: object, name: str) -> dict[str, Any]:
    """Require a field to hold an object.

    Raises:
        ProtocolError: It does not.
    """
    if not isinstance(value, dict):
        raise ProtocolError(f"{name}: got {_kind(value)}; expected an object", param=name)
    return value


def as_text(value: object, name: str) -> str:
    """Require a field to hold text, or a number, which is returned as text.

    Raises:
        ProtocolError: It does not, or the text is too long.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST:
        # Python refuses to convert numbers of thousands of digits.
        value = str(value)
    if not isinstance(value, str):
        raise ProtocolError(f"{name}: got {_kind(value)}; expected text", param=name)
    if len(value) > MAX_TEXT:
        raise ProtocolError(f"{name}: got {len(value)} characters", param=name)
    return value


def as_number(value: object, name: str) -> int:
    """Require a field to hold a whole number, or text that spells one.

    Raises:
        ProtocolError: It does not, or the number has more than 18 digits.
    """
    text = as_text(value, name).strip()
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ProtocolError(f"{name}: got {text[:40]!r}; expected a whole number", param=name)
    return int(text)


def as_key(value: object, name: str) -> str:
    """Require a field to hold one character: a key, or an event such as a flash.

    Raises:
        ProtocolError: It does not hold one character.
    """
    text = as_text(value, name)
    key = text if len(text) == 1 else text.strip()
    if len(key) != 1:
        raise ProtocolError(f"{name}: got {len(key)} characters; expected one key", param=name)
    # A character outside ASCII may become two in upper case.
    return key.upper() if key.isascii() else key


def parameters(value: object) -> dict[str, str]:
    """The texts and whole numbers among the values that the caller's side sent.

    Raises:
        ProtocolError: There are too many, or one is too long.
    """
    if not isinstance(value, Mapping):
        return {}
    if len(value) > MAX_PARAMETERS:
        raise ProtocolError(f"got {len(value)} parameters; expected at most {MAX_PARAMETERS}")
    return {
        as_text(name, "parameter"): as_text(item, "parameter")
        for name, item in value.items()
        if isinstance(item, str | int) and not isinstance(item, bool)
    }


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a JSON {type(value).__name__}"
