"""The events of a session, which the connected door gets in the order in which they happen.

Transports turn these into their own wire messages. Item ids name entries of the dialogue. A reply
is one answer of the agent, from the first token to the last sample, including tools that ran here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from voice.types import FindsWords, Position, Samples, ServerTool, ToolCall, ToolResult

RECENT_REPLIES = 32
"""How many finished replies every part remembers: a client may still name them, to report what it
has played of them or to truncate them."""


@dataclass(frozen=True, slots=True)
class UserSpeechStarted:
    """The user began to speak."""

    turn_id: int
    item_id: str
    start_sample: int


@dataclass(frozen=True, slots=True)
class UserSpeechStopped:
    """The user's turn is over; speech ended at ``end_sample``."""

    turn_id: int
    item_id: str
    end_sample: int


@dataclass(frozen=True, slots=True)
class UserTurnDropped:
    """The client has dropped the audio of a turn that was under way; nothing more comes of it."""

    turn_id: int
    item_id: str


@dataclass(frozen=True, slots=True)
class UserTurnCommitted:
    """The turn has become an entry of the dialogue, after ``previous_item_id`` if there is one."""

    turn_id: int
    item_id: str
    previous_item_id: str | None


@dataclass(frozen=True, slots=True)
class UserIdle:
    """The user was silent between two samples; an empty entry stands in for a turn."""

    item_id: str
    previous_item_id: str | None
    start_sample: int
    end_sample: int


@dataclass(frozen=True, slots=True)
class InterimTranscript:
    """The words recognised so far; each transcript replaces the one before."""

    turn_id: int
    item_id: str
    text: str


@dataclass(frozen=True, slots=True)
class FinalTranscript:
    """What the user said; empty when nothing was understood.

    Attributes:
        confidence: The recogniser's confidence, in [0, 1].
        seconds: Length of the user's turn, or of the item's audio.
        find_words: As in `Transcript`; None for an item that came as audio, since it is not part of
            the session's audio.
    """

    turn_id: int
    item_id: str
    text: str
    confidence: float
    seconds: float
    find_words: FindsWords | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TranscriptFailed:
    """Recognition failed; the turn has no text."""

    turn_id: int
    item_id: str
    message: str


@dataclass(frozen=True, slots=True)
class ReplyStarted:
    """The agent begins a reply; ``item_id`` names its message in the dialogue.

    An ``out_of_band`` reply leaves no message there, and nothing interrupts it.
    """

    reply_id: str
    item_id: str
    turn_id: int
    previous_item_id: str | None
    out_of_band: bool = False


@dataclass(frozen=True, slots=True)
class ReplyText:
    """The reply's next text, one segment at a time; its audio follows."""

    reply_id: str
    delta: str


@dataclass(frozen=True, slots=True, eq=False)
class ReplyAudio:
    """The reply's next audio.

    Attributes:
        samples: (T,) int16 mono at ``sample_rate_hz``, the rate that the session asked for.
        words: Sent with the last audio of a segment: for each of its words the index just past it
            in the reply's text, and the time at which it ends in the reply's audio, in ms.
    """

    reply_id: str
    samples: Samples
    sample_rate_hz: int
    words: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyToolCall:
    """The agent calls a tool.

    ``client_side`` calls are run by the client: the reply ends, and the client sends the output and
    asks for a new reply. The others run here.
    """

    reply_id: str
    item_id: str
    call: ToolCall
    client_side: bool


@dataclass(frozen=True, slots=True)
class ReplyToolResult:
    """A tool that ran here has answered."""

    reply_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class ReplyHeard:
    """How much of the reply's text has been heard by now: its first ``chars`` characters."""

    reply_id: str
    chars: int


@dataclass(frozen=True, slots=True)
class Denoising:
    """A snapshot of the text that the model is working on; each replaces the one before.

    Attributes:
        text: The whole draft; a position that is still masked shows as ``░``.
        step: Denoising steps spent so far.
    """

    reply_id: str
    text: str
    step: int


@dataclass(frozen=True, slots=True)
class ReplyDrafted:
    """What the reply would be if the turn ended here; each replaces the one before.

    Nothing of it is said or done. It is sent if `SessionOptions.shows_drafts` asks for it.

    Attributes:
        number: Number of the draft within the turn, from 1.
        text: Its beginning; a position that is still masked shows as ``░``.
        calls: Its tool calls, in order. With neither calls nor text, there is no draft any more.
        confidence: The model's confidence in the calls, in [0, 1]; None if there are none or it is
            unknown.
    """

    turn_id: int
    number: int
    text: str
    calls: tuple[ToolCall, ...]
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class AudioStopped:
    """The agent is interrupted: by the user's speech, by keys, or by the client's request.

    A door drops all of the conversation's audio that has not been played, and reports how much was
    by `Session.truncate`. Out-of-band replies go on.
    """


@dataclass(frozen=True, slots=True)
class ReplyHeld:
    """The user may be speaking: pause the reply's sound at once, but drop nothing."""

    reply_id: str


@dataclass(frozen=True, slots=True)
class ReplyReleased:
    """It was no interruption: resume the reply's sound where it paused."""

    reply_id: str


class ReplyStatus(StrEnum):
    """How a reply ended."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The reply is over: all of its audio has been sent, or will not be.

    Attributes:
        reason: For a status other than completed: turn_detected, client_cancelled,
            max_output_tokens, or the failure in words.
        text: The whole text of the reply, heard or not.
    """

    reply_id: str
    status: ReplyStatus
    reason: str
    text: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Something failed, and the conversation goes on.

    Attributes:
        stage: asr, llm or tts.
    """

    turn_id: int
    stage: str
    message: str


@dataclass(frozen=True, slots=True)
class TurnMeasured:
    """When each stage of a turn was reached.

    Attributes:
        marks_ms: Mark → milliseconds after the end of the user's speech. Marks: asr_final,
            end_of_turn, first_token, reply_committed, first_audio, and tool.<name> (a duration).
    """

    turn_id: int
    marks_ms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the work for a reply.

    Attributes:
        name: speech_to_text, end_of_turn, chat (a request to the model), execute_tool or
            text_to_speech.
        start_s: When it began, in seconds since the epoch.
        end_s: When it, or else its reply, was over.
        first_s: When the first part of a model's answer, or of a reply's sound, arrived; None for
            other stages and if nothing arrived.
        call_id: Id of the tool call; empty for other stages.
    """

    name: str
    start_s: float
    end_s: float
    first_s: float | None = None
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ReplyTimed:
    """The times of all work for a reply that is over.

    Attributes:
        start_s: When the turn that the reply answers began, in seconds since the epoch: at the
            start of the user's speech, or if nothing was said, at the request for the reply.
        end_s: When the reply was over.
        stages: In the order in which they began.
    """

    reply_id: str
    start_s: float
    end_s: float
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class DraftsUsed:
    """What became of a turn's drafts.

    Attributes:
        outcome: stood, revised, discarded or needless; empty where none was made.
        made: Drafts begun.
        skipped: Drafts not begun because the machine was busy.
        forwards: Model forwards made for drafts.
        discarded: How many of these forwards did not contribute to the reply.
        unlikely: Drafts not begun because the words were unlikely to be the whole message.
        revised: Drafts that reuse tokens of the draft before them.
    """

    turn_id: int
    outcome: str
    made: int
    skipped: int
    forwards: int
    discarded: int
    unlikely: int = 0
    revised: int = 0


@dataclass(frozen=True, slots=True)
class ServerListing:
    """The tools of an MCP server that the client has named.

    Attributes:
        tools: None while the server is being asked, and if that failed.
        problem: Why it failed; otherwise empty.
    """

    label: str
    url: str
    tools: tuple[ServerTool, ...] | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FlowChanged:
    """Another agent has the conversation, another step has begun, or more is known.

    Attributes:
        position: Where the conversation now stands.
        missing: Names of the values that are still missing before the step can end.
    """

    position: Position
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The agent has ended the conversation, or it was closed."""

    reason: str


SessionEvent = (
    UserSpeechStarted
    | UserSpeechStopped
    | UserTurnDropped
    | UserTurnCommitted
    | UserIdle
    | InterimTranscript
    | FinalTranscript
    | TranscriptFailed
    | ReplyStarted
    | ReplyText
    | ReplyAudio
    | ReplyToolCall
    | ReplyToolResult
    | ReplyHeard
    | AudioStopped
    | ReplyHeld
    | ReplyReleased
    | Denoising
    | ReplyDrafted
    | ReplyEnded
    | Failure
    | TurnMeasured
    | ReplyTimed
    | DraftsUsed
    | ServerListing
    | FlowChanged
    | SessionEnded
)
