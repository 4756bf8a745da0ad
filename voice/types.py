"""The data that flows between the parts of the agent, and its units.

Every value is frozen. Audio inside the agent is 16 kHz mono int16 in frames of 20 ms; time is
counted in samples of the user's audio since the session began, never read from a clock. ``turn_id``
counts the user's turns from 1; everything that a turn produces carries it, and is dropped once it
is stale.

Shapes: T is a number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 16_000
FRAME_MS = 20
FRAME_SAMPLES = SAMPLE_RATE_HZ * FRAME_MS // 1000

Samples = NDArray[np.int16]
"""(T,) int16 mono audio."""


def samples_of_ms(duration_ms: float) -> int:
    """The number of 16 kHz samples in a duration, rounded to the nearest."""
    return round(duration_ms * SAMPLE_RATE_HZ / 1000)


def ms_of_samples(samples: int) -> float:
    """The duration of a number of 16 kHz samples, in milliseconds."""
    return samples * 1000 / SAMPLE_RATE_HZ


@dataclass(frozen=True, slots=True, eq=False)
class AudioFrame:
    """20 ms of the user's audio.

    Attributes:
        samples: (320,) int16 at 16 kHz mono.
        start_sample: Position of the first sample since the session began.
    """

    samples: Samples
    start_sample: int

    @property
    def end_sample(self) -> int:
        """Position just past the last sample."""
        return self.start_sample + len(self.samples)


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The user began to speak at ``start_sample``, pre-roll not included."""

    turn_id: int
    start_sample: int


@dataclass(frozen=True, slots=True)
class Pause:
    """The first silent frames after speech, at which decoding begins.

    Attributes:
        end_sample: Where speech ended.
    """

    turn_id: int
    end_sample: int


@dataclass(frozen=True, slots=True)
class SpeechResumed:
    """Speech went on after a `Pause`, before the turn ended."""

    turn_id: int
    start_sample: int


@dataclass(frozen=True, slots=True)
class SpeechLasted:
    """The turn has more speech than a backchannel or a noise would: it is meant as a turn."""

    turn_id: int


class EndReason(StrEnum):
    """Why a turn was taken to be over."""

    SILENCE = "silence"
    LONGEST_TURN = "longest_turn"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The user's turn is over.

    Attributes:
        end_sample: Where speech ended.
        decided_sample: Position in the audio at which this was decided.
        start_sample: Start of the turn if no `SpeechStarted` was emitted; else None.
    """

    turn_id: int
    end_sample: int
    decided_sample: int
    reason: EndReason = EndReason.SILENCE
    start_sample: int | None = None


EndpointEvent = SpeechStarted | SpeechLasted | Pause | SpeechResumed | TurnEnded


@dataclass(frozen=True, slots=True)
class SaidWord:
    """A word that the user said.

    Attributes:
        text: The word as it is shown to people.
        start_sample: Where it begins in the session's audio.
        end_sample: Just past its last sample.
    """

    text: str
    start_sample: int
    end_sample: int


FindsWords = Callable[[], tuple[SaidWord, ...]]
"""Finds the words of a transcript in its audio, which takes tens of milliseconds; any thread may
call it. Raises a `ModelError`."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of a turn, interim or final.

    Attributes:
        text: The words that were said; empty when nothing was understood.
        final: Whether the whole turn has been decoded.
        confidence: How far the text can be trusted, in [0, 1]; 0 for empty text.
        end_sample: How far into the session's audio the decoder has heard.
        guess: Words too doubtful to be `text`, which is then empty: good enough to tell "right"
            from "stop", but not to be a request.
        sound_odds: Log odds, by sound alone, that a short turn is a backchannel; None if unknown.
        written: The text as it is shown to people, with capitals and figures; empty if it is the
            same as `text`.
        language: Code of the text's language.
        language_confidence: Confidence in the language, in [0, 1].
        find_words: Tells when each word was said; None if the recogniser cannot.
    """

    turn_id: int
    text: str
    final: bool
    confidence: float
    end_sample: int
    guess: str = ""
    sound_odds: float | None = None
    written: str = ""
    language: str = "en"
    language_confidence: float = 1.0
    find_words: FindsWords | None = field(default=None, compare=False, repr=False)

    @property
    def shown(self) -> str:
        """The text as it is shown to people."""
        return self.written or self.text


class Role(StrEnum):
    """Who a message in the dialogue is from."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Reading:
    """How the words of a parameter's value are read.

    Attributes:
        read: Returns what words mean, as any type that can be compared, or None if they cannot be
            read; any thread may call it.
        question: Returns what the user is asked if a required value is these words; empty if the
            tool can be tried with them.
        hardly: Reads more leniently; used if ``read`` cannot read anything in the message.
        whole: Whether a span that is part of a longer one with another meaning is not a value, like
            "seven" in "seven thirty".
        anywhere: Whether values name existing things, which "it" may refer to.
        there: Whether words name an existing thing, as far as that is known; if ``anywhere``.
        free: Whether nearly any words can be read, so that they are a value only as the answer to
            its question.
        outright: For a free value, reads words that show by themselves that they are the value.
        unasked: The same, used while the value is not yet known.
        counts: Whether the value says how many of the thing are meant.
    """

    read: Callable[[str], object]
    question: Callable[[str], str]
    hardly: Callable[[str], object] | None = None
    whole: bool = False
    anywhere: bool = False
    there: Callable[[str], bool] = lambda said: False
    free: bool = False
    outright: Callable[[str], object] | None = None
    unasked: Callable[[str], object] | None = None
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the user is asked before a call that cannot be undone.

    Attributes:
        question: Makes the question from the call's arguments; empty if none has to be asked.
        plainly: Tells whether a user message asks for the call so plainly that it is made at once,
            or agrees to the question in its own words.
        always: Whether the question is asked even after a plain message.
    """

    question: Callable[[Mapping[str, Any]], str]
    plainly: Callable[[str], bool]
    always: bool = False


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of an MCP server that the client has named.

    Attributes:
        name: The tool's name for the model.
        remote_name: The tool's name at its server.
        schema: JSON schema of its arguments, as the server declares it.
    """

    name: str
    remote_name: str
    description: str
    schema: Mapping[str, Any]
    annotations: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. ``parameters`` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]
    read_only: bool = False
    """Whether it may run inside a draft."""
    cancellable: bool = False
    """Whether the user may stop it although it has side effects."""
    ends: bool = False
    """Whether it ends the conversation; the user is asked first, unless they have said goodbye."""
    undoes: bool = False
    """Whether it undoes what another tool has done."""
    behind: frozenset[str] = frozenset()
    """Patterns call this tool only if one of these was called for the message before."""
    readings: Mapping[str, Reading] = field(default_factory=dict, compare=False)
    """How the values of parameters are read, by parameter."""
    confirmation: Confirmation | None = field(default=None, compare=False)
    refusal: Refusal | None = field(default=None, compare=False)
    """Refuses calls before the user is asked whether they are wanted."""
    meant: Callable[[Mapping[str, Any]], str] | None = field(default=None, compare=False)
    """Makes words for what a call with these arguments is about, "a large latte"; may be empty."""
    asks_next: str = ""
    """The question after its result, "Anything else?"; empty for none."""
    looks_up: bool = False
    """Whether it looks up questions for which the model calls no tool; the question is the value of
    all its required parameters."""
    knows: tuple[str, ...] = ()
    """Words, in the singular, for what it can tell: "menu"."""

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        """The schema of each parameter, in order."""
        found: Mapping[str, Mapping[str, Any]] = self.parameters.get("properties", {})
        return found

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that every call has."""
        return tuple(self.parameters.get("required", ()))

    @property
    def counting(self) -> str:
        """The parameter that says how many of the thing are meant; empty if there is none."""
        return next((name for name, one in self.readings.items() if one.counts), "")

    @property
    def free_texts(self) -> tuple[str, ...]:
        """The required parameters whose value may be any text."""
        return tuple(
            name
            for name in self.required
            if name not in self.readings
            and self.properties.get(name, {}).get("type", "string") == "string"
            and {"enum", "const"}.isdisjoint(self.properties.get(name, {}))
        )


Refusal = Callable[["ToolCall", str], "ToolResult | None"]
"""Takes a call and the user's message; returns the refusal, or None if the tool can do it."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, by the model or by the program.

    Attributes:
        arguments: Already parsed, and checked against the tool's schema.
    """

    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered.

    Attributes:
        content: A short text for the model, or to be spoken.
        error: Whether the call failed.
        unfinished: Whether the tool took too long and is still running.
        values: How the tool has understood arguments, by name, if it says so.
        options: The values that the user is to choose between, by argument.
    """

    call_id: str
    name: str
    content: str
    error: bool = False
    duration_ms: float = 0.0
    unfinished: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a conversation stands: at which agent, and in which step of its flow.

    Attributes:
        agent: Name of the agent.
        step: Name of the step; empty if the agent has no flow.
        known: The values known so far, by name; calls of tools bring them.
        path: The completed steps, in order; a correction goes back to one of them.
        reason: Why the agent was handed the conversation; empty for the first agent.
        hidden: Ids of the dialogue's entries from before the hand-over, which are not for this
            agent.
        asked: Name of the value that the user was last asked for.
        times: How often in a row the user was asked for it.
        handed: Names of the values that were known when the agent began; nothing in the dialogue
            that it sees says them.
    """

    agent: str
    step: str = ""
    known: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    reason: str = ""
    hidden: frozenset[str] = frozenset()
    asked: str = ""
    times: int = 0
    handed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the dialogue.

    Attributes:
        content: What was said; for a tool message, its result.
        tool_calls: Calls that an agent message made.
        call_id: For a tool message, the call it answers.
        name: For a tool message, the tool's name.
    """

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A speakable piece of a reply.

    Attributes:
        index: 0 for the first segment of the turn's reply.
        text: The text as it is shown and kept in the history.
        spoken: The text for the synthesiser, with numbers and signs written out.
    """

    turn_id: int
    index: int
    text: str
    spoken: str


@dataclass(frozen=True, slots=True)
class WordTiming:
    """Where a word of a segment's ``text`` ends in its audio.

    Attributes:
        end_char: Index just past the word in ``Segment.text``.
        end_sample: Index just past the word's last sample in the segment's audio, at the
            synthesiser's rate.
    """

    end_char: int
    end_sample: int


@dataclass(frozen=True, slots=True, eq=False)
class SpeechChunk:
    """Some synthesised audio of a segment, in order.

    Attributes:
        samples: (T,) int16 mono at ``sample_rate_hz``.
        last: Whether the segment's audio ends here; only then are ``words`` complete.
        words: The word ends known so far, in order.
    """

    segment: Segment
    samples: Samples
    sample_rate_hz: int
    last: bool
    words: tuple[WordTiming, ...] = field(default=())
