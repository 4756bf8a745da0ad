"""The inputs of a conversation, and its options.

Endpointing events and transcripts are inputs as they are; the others are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from voice.config.moments import Moments
from voice.types import EndpointEvent, Position, ToolCall, ToolResult, ToolSpec, Transcript

NO_MOMENTS = Moments()


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Some tools of an MCP server; the default is all.

    Attributes:
        names: Those of these names; None is any.
        read_only: Those that the server says change nothing, or change something; None is any.
    """

    names: tuple[str, ...] | None = None
    read_only: bool | None = None

    def matches(self, name: str, read_only: bool) -> bool:
        """Whether a tool is among them."""
        named = self.names is None or name in self.names
        return named and self.read_only in (None, read_only)


@dataclass(frozen=True, slots=True)
class NamedServer:
    """An MCP server that a client names.

    Attributes:
        headers: Of every request.
        allowed: The tools that are offered.
        asked: Those whose calls the client approves, whatever `unasked` says.
        unasked: Those that run without; the rest is approved one by one.
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
        remembered: What the model is told of what the user asked to be remembered.
        moments: What is said at once to certain messages, without asking the model.
        calls: Tools that certain messages call without asking the model, as in an agent's file.
        answers: The tool that other questions for facts call; empty leaves them to the model.
        agent_tools: Names of the tools that run here.
        client_tools: Tools that the client runs.
        servers: MCP servers whose tools are offered.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        parallel_calls: Whether one answer may call several tools; else the first call counts.
        turn_detection: Whether speech and silence begin and end turns; else the client does.
        silence_ms: Silence that ends a turn; None adapts it to what was said.
        create_response: Whether the end of a turn brings a reply by itself.
        interrupt_response: Whether the user's speech stops the agent's.
        holds: Whether the client can hold the agent's sound and let it go on: then the first sign
            of speech does no more than that.
        shows_drafts: Whether the client is told of replies that are drafted while the user speaks.
        vad_threshold: Speech probability at and above which a frame counts as speech.
        profile: eager, balanced or patient, where the silence is adapted; None is the
            configuration's.
        pre_roll_ms: Audio before the detected start that the recogniser gets as well; None is the
            configuration's.
        language: Code of the user's language; empty is the configuration's, or what it sounds like.
        speak: Whether replies are spoken; else they are text only.
        output_rate_hz: Of the reply's audio.
        speed: Speaking rate; 1 is the voice's own.
        loudness: Gain of the voice; 1 is its own.
        voice: Name of the voice; the server's own where it is empty or unknown.
        max_reply_tokens: Longest answer of the model.
        effort: instant, low, medium or high.
        idle_timeout_s: Silence on both sides after which the agent asks; 0 never.
        idle_ends: Whether a second such silence ends the conversation; else the agent asks each
            time, and every silence is an empty entry of the dialogue.
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
    loudness: float = 1.0
    voice: str = ""
    max_reply_tokens: int = 96
    effort: str = "instant"
    idle_timeout_s: float = 0.0
    idle_ends: bool = True


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
    """The client has changed its options; replies that are under way keep theirs."""

    options: SessionOptions


@dataclass(frozen=True, slots=True)
class RecognitionFailed:
    """The recogniser raised; the turn has no transcript."""

    turn_id: int
    message: str


@dataclass(frozen=True, slots=True)
class EndOfMessageFailed:
    """Nobody could say whether the turn's words are all of it; the pause decides alone."""

    turn_id: int
    message: str


@dataclass(frozen=True, slots=True)
class ItemTranscribed:
    """What was said in an item that came as audio, and for how long."""

    item_id: str
    transcript: Transcript
    seconds: float


@dataclass(frozen=True, slots=True)
class ItemTranscriptionFailed:
    """The recogniser raised over an item that came as audio."""

    item_id: str
    message: str


@dataclass(frozen=True, slots=True)
class ModelSaid:
    """The model's answer goes on with final text."""

    reply_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """The model's answer is complete; ``confidence`` in its calls is in [0, 1], None if unknown."""

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
    """A tool that runs here has not answered for as long as a silence is bearable.

    Attributes:
        hint: Its own words for what it is doing; empty where it has none.
    """

    reply_id: str
    call_id: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """A tool that runs here tells how far it is, in words that can be spoken."""

    reply_id: str
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """What a tool did that had been answered for because it took too long."""

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
    """All audio of a reply has been played; ``heard`` is what was, where that is not all of it."""

    reply_id: str
    heard: str | None = None


@dataclass(frozen=True, slots=True)
class Announce:
    """Something to say as soon as nobody speaks: a ringing timer, a late result, a greeting.

    Attributes:
        again: Whether it is said again where it was stopped before all of it was heard; once only
            where some words of it were.
        key: Names it in `Announced`; empty where nobody wants to know whether it was heard.
    """

    text: str
    again: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True)
class FlowResumed:
    """The caller was in the middle of a flow before, and is there again."""

    position: Position


@dataclass(frozen=True, slots=True)
class EndRequested:
    """A tool asked for the conversation to end once the reply has been heard."""

    reason: str


@dataclass(frozen=True, slots=True)
class IdleElapsed:
    """Nobody has spoken for the idle timeout; the samples say since when, and until when."""

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
"""What concerns one reply alone."""

News = ToolFinished | Announce | EndRequested | FlowResumed | EndOfMessageFailed | IdleElapsed
"""What happens beside the words of either side."""

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
