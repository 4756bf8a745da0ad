"""The inputs of a conversation, and its options.

Endpointing events and transcripts (`voice.types`) are inputs too; the others are defined here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from voice.config.moments import Moments
from voice.types import EndpointEvent, Position, ToolCall, ToolResult, ToolSpec, Transcript

NO_MOMENTS = Moments()


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Selects tools of an MCP server; by default all.

    Attributes:
        names: Only tools with these names; None for any.
        read_only: Only tools that the server declares read-only (True) or not (False); None for
            any.
    """

    names: tuple[str, ...] | None = None
    read_only: bool | None = None

    def matches(self, name: str, read_only: bool) -> bool:
        """Whether a tool is selected."""
        named = self.names is None or name in self.names
        return named and self.read_only in (None, read_only)


@dataclass(frozen=True, slots=True)
class NamedServer:
    """An MCP server that a client names.

    Attributes:
        headers: HTTP headers sent with every request.
        allowed: The tools that are offered.
        asked: Tools whose calls need the client's approval, whatever `unasked` says.
        unasked: Tools that run without approval; all others need it for each call.
    """

    label: str
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    allowed: ToolFilter = ToolFilter()
    asked: ToolFilter | None = None
    unasked: ToolFilter | None = None

    def allows(self, name: str, read_only: bool) -> bool:
        """Whether a tool is offered."""
        return self.allowed.matches(name, read_only)

    def asks(self, name: str, read_only: bool) -> bool:
        """Whether the client has to approve a call."""
        if self.asked is not None and self.asked.matches(name, read_only):
            return True
        return self.unasked is None or not self.unasked.matches(name, read_only)


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a client may change about its conversation.

    Attributes:
        instructions: System message.
        remembered: System message about what the user has asked the agent to remember.
        moments: Fixed words for certain messages, said at once without asking the model.
        calls: Patterns of messages that call tools without the model, as in an agent's file.
        answers: Tool that is called for all other questions for facts; empty leaves them to the
            model.
        agent_tools: Names of the tools that run here.
        client_tools: Tools that the client runs.
        servers: MCP servers whose tools are offered.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        parallel_calls: Whether one answer may call several tools; else the first call counts.
        turn_detection: Whether speech and silence begin and end turns; else the client does.
        silence_ms: Silence that ends a turn; None adapts it to what was said.
        create_response: Whether the end of a turn starts a reply by itself.
        interrupt_response: Whether the user's speech stops the agent's.
        holds: Whether the client can hold and resume the agent's sound; then the first sign of
            speech only holds it.
        shows_drafts: Whether the client gets the replies that are drafted while the user speaks.
        vad_threshold: Speech probability from which on a frame counts as speech.
        profile: eager, balanced or patient, if the silence is adapted; None for the
            configuration's.
        pre_roll_ms: Audio before the detected start of speech that the recogniser also gets; None
            for the configuration's.
        language: Code of the user's language; if empty, the configuration's or else detected.
        speak: Whether replies are spoken; otherwise they are text only.
        output_rate_hz: Sample rate of the reply's audio.
        speed: Speaking rate; 1 is the voice's own.
        pace: What the user's "slower" and "faster" multiply the speed by.
        loudness: Gain of the voice; 1 is its own.
        voice: Name of the voice; if empty or unknown, the server's own.
        max_reply_tokens: Most tokens of one model answer.
        effort: instant, low, medium or high.
        idle_timeout_s: Silence on both sides after which the agent asks if anybody is there; 0 for
            never.
        idle_ends: Whether a second such silence ends the conversation; otherwise the agent asks
            each time, and every silence becomes an empty entry of the dialogue.
    """

    instructions: str = ""
    remembered: str = ""
    moments: Moments = NO_MOMENTS
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    answers: str = ""
    agent_tools: tuple[str, ...] = ()
    client_tools: tuple[ToolSpec, ...] = ()
    servers: tuple[NamedServer, ...] = ()
    tool_choice: str = "auto"
    parallel_calls: bool = True
    turn_detection: bool = True
    silence_ms: int | None = None
    create_response: bool = True
    interrupt_response: bool = True
    holds: bool = False
    shows_drafts: bool = False
    vad_threshold: float = 0.5
    profile: str | None = None
    pre_roll_ms: int | None = None
    language: str = ""
    speak: bool = True
    output_rate_hz: int = 24_000
    speed: float = 1.0
    pace: float = 1.0
    loudness: float = 1.0
    voice: str = ""
    max_reply_tokens: int = 96
    effort: str = "instant"
    idle_timeout_s: float = 0.0
    idle_ends: bool = True

    @property
    def spoken_speed(self) -> float:
        """The speed at the user's pace, within what voices can do."""
        return min(max(self.speed * self.pace, 0.25), 4.0)


def with_changes(options: SessionOptions, **changes: object) -> SessionOptions:
    """Options with some fields replaced.

    Raises:
        ValueError: A field is unknown.
    """
    try:
        return replace(options, **changes)  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"session options: {error}") from error


@dataclass(frozen=True, slots=True)
class OptionsChanged:
    """The client has changed its options; replies in progress keep theirs."""

    options: SessionOptions


@dataclass(frozen=True, slots=True)
class RecognitionFailed:
    """The recogniser raised; the turn has no transcript."""

    turn_id: int
    message: str


@dataclass(frozen=True, slots=True)
class EndOfMessageFailed:
    """The model could not say whether the message is complete; the silence alone decides."""

    turn_id: int
    message: str


@dataclass(frozen=True, slots=True)
class ItemTranscribed:
    """The transcript of an item that came as audio, and the item's length."""

    item_id: str
    transcript: Transcript
    seconds: float


@dataclass(frozen=True, slots=True)
class ItemTranscriptionFailed:
    """The recogniser raised for an item that came as audio."""

    item_id: str
    message: str


@dataclass(frozen=True, slots=True)
class ModelSaid:
    """The model's answer goes on with final text."""

    reply_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """The model's answer is complete.

    Attributes:
        cut: Whether it was cut off at the most tokens allowed.
        confidence: The model's confidence in the calls, in [0, 1]; None if unknown.
    """

    reply_id: str
    calls: tuple[ToolCall, ...]
    cut: bool
    input_tokens: int
    output_tokens: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The model raised. A ``malformed`` answer is worth another try."""

    reply_id: str
    message: str
    malformed: bool


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A tool that ran here has answered."""

    reply_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class ToolSlow:
    """A tool that runs here takes longer than a silence is bearable.

    Attributes:
        hint: The tool's own words for what it is doing; empty if it has none.
    """

    reply_id: str
    call_id: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """A tool that runs here reports its progress, in words that can be spoken."""

    reply_id: str
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The late result of a tool that took too long and got a provisional result."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class SpeechFailed:
    """The synthesiser raised; the rest of the reply will not sound."""

    reply_id: str
    message: str


@dataclass(frozen=True, slots=True)
class AudioSent:
    """All audio of a reply has been handed to the client."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class AudioPlayed:
    """No more audio of a reply will be played; ``heard`` is the heard text if not all was heard."""

    reply_id: str
    heard: str | None = None


@dataclass(frozen=True, slots=True)
class Announce:
    """Something to say as soon as nobody speaks: a ringing timer, a late result, a greeting.

    Attributes:
        again: Whether it is said again if it was stopped before all of it was heard; only once if
            some of its words were heard.
        key: Names it in `Announced`; empty if nobody needs to know whether it was heard.
    """

    text: str
    again: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True)
class FlowResumed:
    """The caller resumes a flow that an earlier conversation left unfinished."""

    position: Position


@dataclass(frozen=True, slots=True)
class EndRequested:
    """A tool asks to end the conversation once the reply has been heard."""

    reason: str


@dataclass(frozen=True, slots=True)
class IdleElapsed:
    """Nobody has spoken for the idle timeout, from one sample to the other."""

    start_sample: int = 0
    end_sample: int = 0


ReplyInput = (
    ModelSaid
    | ModelAnswered
    | ModelFailed
    | ToolAnswered
    | ToolSlow
    | ToolProgressed
    | SpeechFailed
    | AudioSent
    | AudioPlayed
)
"""Inputs that concern a single reply."""

News = ToolFinished | Announce | EndRequested | FlowResumed | EndOfMessageFailed | IdleElapsed
"""Inputs that are neither the user's words nor about a reply."""

Input = (
    EndpointEvent
    | Transcript
    | RecognitionFailed
    | OptionsChanged
    | ItemTranscribed
    | ItemTranscriptionFailed
    | News
    | ReplyInput
)
