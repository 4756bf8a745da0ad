"""The seam between telephone protocols and the conversation.

A codec turns the messages of one protocol into what happens on a call, and what the agent does into
messages, without I/O and without a clock; `voice.telephony.call` drives a conversation from any
of them. One codec serves one call.

Shapes: T is a number of samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from voice.types import Samples

Wire = str | bytes
"""A message of a WebSocket, text or binary, or a stretch of a byte stream."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The call is up; nothing else is told before, but keys and the end of the call.

    Attributes:
        call_id: The protocol's own name for it; never logged.
        parameters: What the caller's side sent along, by name.
    """

    call_id: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class CallAudio:
    """The caller's audio goes on.

    Attributes:
        samples: (T,) int16 mono.
        rate_hz: Of the samples.
    """

    samples: Samples
    rate_hz: int


@dataclass(frozen=True, slots=True)
class KeyPressed:
    """The caller pressed a key: one of 0 to 9, ``*``, ``#`` and A to D.

    Any other character is a key that the line's own side made up, which nobody acts on.
    """

    key: str


@dataclass(frozen=True, slots=True)
class MarkPlayed:
    """All audio sent before the mark of this name has been played, or dropped by `clear`."""

    name: str


@dataclass(frozen=True, slots=True)
class FlowChanged:
    """Whether the line takes audio now."""

    open: bool


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The caller's side has ended the call."""


CallEvent = CallStarted | CallAudio | KeyPressed | MarkPlayed | FlowChanged | CallEnded


@dataclass(frozen=True, slots=True)
class Traits:
    """How a protocol wants its audio, and what it can do.

    Attributes:
        frame_ms: Length of the pieces in which audio is sent.
        ahead_ms: How much audio may wait at the far side: little where it cannot be taken back.
        marks: Whether the far side tells what it has played.
    """

    frame_ms: int = 20
    ahead_ms: int = 200
    marks: bool = True


class CallCodec(Protocol):
    """One telephone protocol, for one call."""

    @property
    def traits(self) -> Traits:
        """What is known once the call has started."""

    @property
    def rate_hz(self) -> int:
        """Rate of the audio to be sent, once the call has started."""

    def receive(self, message: Wire) -> list[CallEvent]:
        """What a message tells, in order; unknown kinds of message tell nothing.

        Raises:
            ProtocolError: It breaks the protocol; the call cannot go on.
        """

    def answer(self) -> list[Wire]:
        """Take the call."""

    def audio(self, samples: Samples) -> list[Wire]:
        """Play (T,) int16 samples at ``rate_hz``, of a frame's length or, at an end, less."""

    def mark(self, name: str) -> list[Wire]:
        """Ask to be told when all audio sent so far has been played."""

    def clear(self) -> list[Wire]:
        """Drop the audio that has not been played."""

    def send_digits(self, digits: str) -> list[Wire]:
        """Press keys on the line; nothing where the protocol cannot."""

    def hang_up(self) -> list[Wire]:
        """End the call; the connection is closed behind it."""
