"""One reply in the making: its text, its segments and the tools it has called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from voice.dialogue.history import History
from voice.dialogue.requests import Request, Requests
from voice.events import ReplyStatus
from voice.inputs import SessionOptions
from voice.speech.normalization import spoken
from voice.speech.segmenter import SegmentCutter
from voice.types import Position, Segment, ToolCall


class Phase(StrEnum):
    """Where a reply is on its way.

    Attributes:
        BEGUN: The model has not been asked: what the user said is not known yet.
        ASKED: The model is answering.
        TOOLS: Tools run; their results are told, or the model is asked with them.
        HANDING_OVER: As `TOOLS`, but the client has calls of its own to run, and goes on then.
        COMPLETE: All that it will say has been said; its audio is being sent.
    """

    BEGUN = "begun"
    ASKED = "asked"
    TOOLS = "tools"
    HANDING_OVER = "handing over"
    COMPLETE = "complete"


class Occasion(StrEnum):
    """Why the agent speaks.

    Attributes:
        ANSWER: The user has said or asked for something.
        REMARK: Of its own accord; it gives way to what the client asks for.
        ALERT: As `REMARK`; where it is stopped it is said again, and never resumed.
    """

    ANSWER = "answer"
    REMARK = "remark"
    ALERT = "alert"


_NEXT: Mapping[Phase, frozenset[Phase]] = {
    Phase.BEGUN: frozenset({Phase.ASKED, Phase.TOOLS, Phase.COMPLETE}),
    Phase.ASKED: frozenset({Phase.ASKED, Phase.TOOLS, Phase.HANDING_OVER, Phase.COMPLETE}),
    Phase.TOOLS: frozenset({Phase.ASKED}),
    Phase.HANDING_OVER: frozenset({Phase.COMPLETE}),
    Phase.COMPLETE: frozenset(),
}


@dataclass(slots=True)
class Reply:
    """What the conversation remembers of a reply until it has been heard.

    Attributes:
        origin: Names the request of the user's that it serves: another reply to the same has the
            same.
        occasion: Why it was begun.
        phase: Where it is; `enter` moves it on.
        text: All text of the reply so far, as it is shown and kept.
        asked_at: How long the text was when the model was asked last.
        pending: Ids of calls that run here and have not answered.
        own_words: What tools have answered since anybody spoke, as sentences.
        told: Whether these have been said in place of the model's words.
        comment: The model's words in whose place they are said.
        calls_made: Over all rounds of the tool loop.
        retries: Malformed answers so far in this round.
        round_at: How long the text was before the first try of this round.
        spoken_before: What malformed answers of this round have said, and the next one may repeat.
        wrote: Whether the model has written anything since it was asked last.
        status: How the reply ends, as far as is known.
        reason: For a status other than completed, as in `ReplyEnded`.
        context: What the model sees in place of the dialogue up to here; None is the dialogue.
        before: Ids of the dialogue's entries that the context takes the place of.
        missed: What no call has carried, in the user's words.
        question: With which the agent ends, the model's or the program's; empty for none.
        asks_next: In its place that of the last tool that has answered; empty for none.
        doubted: Calls that the user is asked about at its end, for want of confidence.
        open: Calls that the agent had asked about, and the user has neither wanted nor replaced.
        found: The call that looks a question up, should the model know no tool for it.
        agreed: Whether its calls are those that the user was asked about, or asked for by their
            patterns; no others follow for the same request.
        follows: The call of the turn before that is made again with another value.
        insists: Whether the model may call nothing else by now.
        requests: Those of the user's message, answered in turn; None is the whole message.
        segments: How many have been spoken, those among them that are not part of the text.
        base: The options before those of the agent and its step.
        also: What is called behind the values of a message, which may be what the user has said
            "yes" to; then only if nothing of what was known ``at`` that place is another by now.
    """

    reply_id: str
    item_id: str
    turn_id: int
    options: SessionOptions
    origin: str = ""
    occasion: Occasion = Occasion.ANSWER
    phase: Phase = Phase.BEGUN
    text: str = ""
    asked_at: int = 0
    pending: set[str] = field(default_factory=set)
    own_words: str = ""
    told: bool = False
    comment: str = ""
    calls_made: int = 0
    retries: int = 0
    round_at: int = 0
    spoken_before: str = ""
    wrote: bool = False
    status: ReplyStatus = ReplyStatus.COMPLETED
    reason: str = ""
    context: History | None = None
    before: frozenset[str] = frozenset()
    missed: tuple[str, ...] = ()
    question: str = ""
    asks_next: str = ""
    doubted: tuple[ToolCall, ...] = ()
    open: tuple[ToolCall, ...] = ()
    found: ToolCall | None = None
    agreed: bool = False
    follows: ToolCall | None = None
    insists: bool = False
    requests: Requests | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    segments: int = 0
    base: SessionOptions | None = None
    also: tuple[ToolCall | None, Position | None] = (None, None)
    carried: bool = False
    _cutter: SegmentCutter = field(default_factory=SegmentCutter)

    @property
    def sounds(self) -> bool:
        """Whether any of it is to be heard."""
        return self.options.speak and self.segments > 0

    def enter(self, phase: Phase) -> None:
        """Go on to a phase.

        Raises:
            ValueError: No reply goes there from where it is.
        """
        if phase not in _NEXT[self.phase]:
            raise ValueError(f"reply phase: got {phase} behind {self.phase}")
        self.phase = phase

    def ask_again(self, own_words: str = "") -> None:
        """The model is asked: for the first time, with results of tools, or once more."""
        self.enter(Phase.ASKED)
        self.asked_at, self.wrote, self.comment = len(self.text), False, ""
        if not self.retries:
            self.round_at, self.spoken_before = self.asked_at, ""
            self.own_words, self.told = own_words, False

    def count_tokens(self, read: int, written: int) -> None:
        """Add what an answer of the model's took."""
        self.input_tokens += read
        self.output_tokens += written

    def count_calls(self, made: int) -> None:
        """Add the calls of a round, which is a good one."""
        self.calls_made += made
        self.retries = 0

    def settle(self, call_id: str, asks_next: str) -> None:
        """A tool has answered, and asks what to do next; empty for nothing."""
        self.pending.discard(call_id)
        self.asks_next = asks_next

    def agree(self) -> None:
        """The calls that are to be made are all that the user wants."""
        self.agreed = True

    def see(self, context: History, before: frozenset[str]) -> None:
        """Let the model see a context in place of the dialogue's entries up to here."""
        self.context, self.before = context, before

    def take_apart(self, requests: Requests | None) -> None:
        """Answer the requests of the user's message in turn; None is the whole message."""
        self.requests = requests

    def follow(self, call: ToolCall | None) -> None:
        """Make a call of the turn before again, with what the message says in place of a value."""
        self.follows = call

    def insist(self, calls: Sequence[ToolCall]) -> bool:
        """Whether the model is to be asked for the call that follows, for it has called another."""
        strays = [call.name for call in calls] != [self.follows.name] if self.follows else False
        if not strays or self.insists or self.calls_made:
            return False
        self.insists = True
        return True

    @property
    def again(self) -> Request | None:
        """The words that are asked about once more, where they are what is being answered."""
        current = self.requests.current if self.requests else None
        return current if current and current.again else None

    def also_call(self, call: ToolCall | None, at: Position | None = None) -> None:
        """Call something behind the values of the message; None is nothing more."""
        self.also = call, at

    def carry(self) -> None:
        """Read the message once more, for the agent that was handed the conversation."""
        self.carried = True

    def go_on_as(self, options: SessionOptions) -> None:
        """Another agent or step goes on with the reply."""
        self.options = options

    def next_request(self, dialogue: History) -> bool:
        """Go on with the next request of the user's message, if one is left."""
        if self.requests is None or not self.requests.left:
            return False
        self.requests, self.retries = self.requests.go_on(dialogue.last_id), 0
        self.agreed = False
        return True

    def miss(self, parts: Sequence[str]) -> None:
        """Keep what no call has carried, to say so at the end."""
        self.missed += tuple(parts)

    def ask_back(self, question: str) -> None:
        """Keep a question to the end; none leaves the one before."""
        self.question = question or self.question

    def doubt(self, calls: Sequence[ToolCall]) -> None:
        """Keep calls to be asked about at the end."""
        self.doubted += tuple(calls)

    def leave_open(self, calls: Sequence[ToolCall]) -> None:
        """Keep the calls of a question that is still to be answered; none for no question."""
        self.open = tuple(calls)

    def look_up(self, found: ToolCall | None) -> None:
        """Keep the call that looks a question up; None leaves it to the model's words."""
        self.found = found

    @property
    def looks_up(self) -> bool:
        """Whether a question is looked up unless the model calls something for it."""
        return self.found is not None and not self.calls_made

    def end_as(self, status: ReplyStatus, reason: str = "") -> None:
        """Set how the reply will have ended."""
        self.status, self.reason = status, reason

    def fail_round(self) -> None:
        """The model's answer was malformed or failed; what it has said stays said."""
        self.drop_rest()
        self.retries += 1
        self.spoken_before = self.text[self.round_at :]

    def push(self, delta: str) -> list[str]:
        """Take text in; returns the speakable pieces that are complete by now."""
        self.wrote = self.wrote or bool(delta.strip())
        return self._cutter.push(delta)

    def hear_out(self, delta: str) -> None:
        """Take text in that gives way to the tools' own words."""
        self.wrote = self.wrote or bool(delta.strip())
        self.comment += delta

    def tell(self) -> list[str]:
        """The tools' own words in speakable pieces, once."""
        if self.told:
            return []
        self.told = True
        return self._cutter.push(self.own_words) + self.flush()

    def flush(self) -> list[str]:
        """The rest of the text, at the end of an answer; the next answer begins anew."""
        rest = self._cutter.flush()
        self._cutter = SegmentCutter()
        return rest

    def unrepeated(self, pieces: list[str]) -> list[str]:
        """The pieces less those with which a malformed answer has begun in the same words."""
        for index, piece in enumerate(pieces):
            words, before = piece.strip(), self.spoken_before.lstrip()
            if not words or not before.startswith(words):
                self.spoken_before = ""
                return pieces[index:]
            self.spoken_before = before[len(words) :]
        return []

    def drop_rest(self) -> None:
        """Forget text that is not a complete piece yet."""
        self._cutter = SegmentCutter()

    def seen(self, dialogue: History) -> History:
        """What the model sees: the dialogue, or the reply's context and what has come since."""
        if self.context is None:
            return self.requests.seen(dialogue) if self.requests else dialogue
        seen = self.context.copy()
        for entry in dialogue:
            if entry.item_id not in self.before:
                seen.append(entry)
        return seen

    def segment(self, piece: str) -> Segment:
        """Make a piece part of the reply; it carries the white space before it.

        The first of another answer, behind a tool's result, carries none of its own.
        """
        if len(self.text) == self.asked_at and not piece[:1].isspace():
            piece = f" {piece}"
        shown = piece if self.text else piece.lstrip()
        self.text += shown
        return self._segment(shown, spoken(shown))

    def aside(self, text: str) -> Segment:
        """Words that sound, and are not part of the reply's text: they are no answer."""
        return self._segment("", spoken(text))

    def _segment(self, shown: str, spoken_text: str) -> Segment:
        self.segments += 1
        return Segment(self.turn_id, self.segments - 1, shown, spoken_text)
