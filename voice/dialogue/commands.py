"""What the conversation asks for: its commands."""

from __future__ import annotations

from dataclasses import dataclass

from voice.events import SessionEvent
from voice.llm.base import Prompt
from voice.types import Segment, ToolCall


@dataclass(frozen=True, slots=True)
class Emit:
    """Tell the client."""

    event: SessionEvent


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask the model. An earlier request of the same reply is over."""

    reply_id: str
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class StopGenerating:
    """Cancel the model's request of a reply."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run a tool; an interruption does not cancel it, since what it did stays done.

    Attributes:
        key: What has side effects runs once for each; a call that repeats another has its key, and
            gets its result.
    """

    reply_id: str
    call: ToolCall
    key: str


@dataclass(frozen=True, slots=True)
class CancelTool:
    """Stop a running tool at the user's word; `ToolAnswered` is owed as without it."""

    key: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Should the turn end now, these would be its words: what follows may be worked out ahead.

    Attributes:
        paused: Whether the user is silent, so that they are likely to be all.
    """

    turn_id: int
    words: str
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Speak:
    """Synthesise a segment at a speed and send it at a rate, behind those before it.

    Attributes:
        speed: Speaking rate; 1 is the voice's own.
    """

    reply_id: str
    segment: Segment
    rate_hz: int
    speed: float


@dataclass(frozen=True, slots=True)
class SpeakEnd:
    """No further segment comes; `AudioSent` and `AudioPlayed` are owed."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class StopSpeaking:
    """Stop the sound and drop what has not been sent; `SpeakingStopped` is owed at once."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class HoldSpeaking:
    """Fall silent and keep the place, until `ReleaseSpeaking` or `StopSpeaking`."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class ReleaseSpeaking:
    """Speak on from where the sound was held."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class HangUp:
    """End the session."""

    reason: str


Command = (
    Emit
    | Generate
    | StopGenerating
    | RunTool
    | CancelTool
    | Draft
    | Speak
    | SpeakEnd
    | StopSpeaking
    | HoldSpeaking
    | ReleaseSpeaking
    | HangUp
)
