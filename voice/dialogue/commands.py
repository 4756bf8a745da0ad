"""The commands of a conversation, which `voice.session.command_runner` carries out."""

from __future__ import annotations

from dataclasses import dataclass

from voice.events import SessionEvent
from voice.inputs import SessionOptions
from voice.llm.base import Prompt
from voice.types import Segment, ToolCall


@dataclass(frozen=True, slots=True)
class Emit:
    """Send an event to the client."""

    event: SessionEvent


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask the model. An earlier request of the same reply is over.

    Attributes:
        out_of_band: Whether the reply is outside the conversation, so that no draft can answer it.
        spoken: Whether the answer's words are spoken, rather than others in their place.
    """

    reply_id: str
    prompt: Prompt
    out_of_band: bool = False
    spoken: bool = True


@dataclass(frozen=True, slots=True)
class StopGenerating:
    """Cancel the model's request of a reply."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run a tool; an interruption does not cancel it, since what it did stays done.

    Attributes:
        key: A tool with side effects runs once per key; a call that repeats another has the same
            key and gets its result.
        beside: The other calls of the same answer that run here.
        said: The user's last messages that say more than "yes", newest first.
    """

    reply_id: str
    call: ToolCall
    key: str
    beside: tuple[ToolCall, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CancelTool:
    """Stop a running tool because the user asked for it; `ToolAnswered` still follows."""

    key: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Prepare the reply that would follow if the turn ended with these words.

    Attributes:
        paused: Whether the user is silent, so that these are likely to be all the turn's words.
    """

    turn_id: int
    words: str
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Speak:
    """Synthesise a segment and send it after those before it.

    Attributes:
        rate_hz: Sample rate of the audio that is sent.
        speed: Speaking rate; 1 is the voice's own.
        voice: Name of the voice; empty for the server's own.
        loudness: Gain; 1 is the voice's own.
    """

    reply_id: str
    segment: Segment
    rate_hz: int
    speed: float
    voice: str = ""
    loudness: float = 1.0

    @classmethod
    def of(cls, reply_id: str, segment: Segment, options: SessionOptions) -> Speak:
        """Speak a segment with the sound that a reply's options ask for."""
        sound = options.output_rate_hz, options.spoken_speed, options.voice, options.loudness
        return cls(reply_id, segment, *sound)


@dataclass(frozen=True, slots=True)
class SpeakEnd:
    """No further segment follows; `AudioSent` and then `AudioPlayed` come in return."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class StopSpeaking:
    """Stop the sound and drop what has not been sent."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class HoldSpeaking:
    """Pause the sound until `ReleaseSpeaking` or `StopSpeaking`."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class ReleaseSpeaking:
    """Resume the sound where it was held."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class Announced:
    """Reports once whether an announcement with a key was heard, or could not be said.

    Before that, ``heard`` is None each time that the client stops it: it is said again later.
    """

    key: str
    heard: bool | None


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
    | Announced
    | HangUp
)
