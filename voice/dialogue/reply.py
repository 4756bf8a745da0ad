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
from voice.understanding.confirmation import Question


class Phase(StrEnum):
    """How far a reply has come.

    Attributes:
        BEGUN: The model has not been asked: what the user said is not known yet.
        ASKED: The model is answering.
        TOOLS: Tools are running; their results will be told, or given to the model.
        HANDING_OVER: As `TOOLS`, but the client runs some of the calls; the reply ends, and the
            client asks for the next one.
        COMPLETE: The text is complete; its audio is being sent.
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
        REMARK: Of its own accord; it gives way to a reply that the client asks for.
        ALERT: As `REMARK`, but if it is stopped it is said again from the start, never resumed.
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
        options: The options in force, those of the agent and its step included.
        origin: Names the user's request that it serves; other replies to it have the same origin.
        occasion: Why it was begun.
        phase: How far it has come; `enter` moves it on.
        text: All text of the reply so far, as it is shown and kept.
        asked_at: Length of the text when the model was last asked.
        pending: Ids of calls that run here and have not answered.
        own_words: What tools have answered since either side last spoke, as sentences.
        told: Whether `own_words` have been said in place of the model's words.
        comment: The model's words that were replaced by `own_words`.
        calls_made: Number of calls, over all rounds of the tool loop.
        retries: Failed answers so far in this round.
        round_at: Length of the text before the first try of this round.
        spoken_before: What failed answers of this round, or a reply that was stopped, have said,
            which the next may repeat.
        wrote: Whether the model has written anything since it was last asked.
        status: How the reply ends, as far as is known.
        reason: For a status other than completed, as in `ReplyEnded`.
        context: What the model sees in place of the dialogue up to here; None for the dialogue.
        before: Ids of the dialogue's entries that the context replaces.
        missed: Words of the user's that no call has carried.
        question: The model's or the program's closing question; empty for none.
        asks_next: The closing question of the last tool that answered, used if `question` is empty.
        doubted: Doubtful calls that the user is asked about at the end of the reply.
        open: Calls of an earlier question that the user has neither agreed to nor replaced.
        unconfirmed: Calls that need a "yes".
        asks_first: The questions about them, which end the reply.
        answers: The question that was open when the user spoke.
        found: The call that looks the question up if the model calls no tool for it.
        agreed: Whether its calls are ones that the user agreed to or that patterns matched; no
            others follow for the same request.
        follows: A call of the turn before that is to be made again with another value.
        insists: Whether the model is now required to make the call that `follows` names.
        requests: The requests of the user's message, answered in turn; None for the whole message.
        segments: Number of segments spoken, asides included.
        base: The options before those of the agent and its step were applied.
        also: A call to make after those for the message's values, and a position or None. With a
            position the call is what the user said "yes" to, and is made only if the known values
            are still the same as there.
        carried: Whether the message has been read once more for another agent or a flow begun anew.
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
    unconfirmed: tuple[ToolCall, ...] = ()
    asks_first: str = ""
    answers: Question = field(default_factory=Question)
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
        """Whether any of it is spoken."""
        return self.options.speak and self.segments > 0

    @property
    def requires_call(self) -> bool:
        """Whether the client requires a call, and there is nothing else to show for the reply."""
        required = self.options.tool_choice not in ("auto", "none")
        return required and not (self.text or self.calls_made)

    def enter(self, phase: Phase) -> None:
        """Go on to a phase.

        Raises:
            ValueError: That phase cannot follow the current one.
        """
        if phase not in _NEXT[self.phase]:
            raise ValueError(f"reply phase: got {phase} behind {self.phase}")
        self.phase = phase

    def ask_again(self, own_words: str = "") -> None:
        """Begin to ask the model, for the first time, with tool results or as a retry.

        The tools' own words may also be said in place of asking it.
        """
        self.enter(Phase.ASKED)
        self.asked_at, self.wrote, self.comment = len(self.text), False, ""
        if not self.retries:
            self.round_at, self.spoken_before = self.asked_at, ""
            self.own_words, self.told = own_words, False

    def count_tokens(self, read: int, written: int) -> None:
        """Add the tokens of one model answer."""
        self.input_tokens += read
        self.output_tokens += written

    def count_calls(self, made: int) -> None:
        """Add the calls of a round; the round was good, so the retries start anew."""
        self.calls_made += made
        self.retries = 0

    def settle(self, call_id: str, asks_next: str) -> None:
        """A tool has answered; ``asks_next`` is its closing question, empty for none."""
        self.pending.discard(call_id)
        self.asks_next = asks_next

    def agree(self) -> None:
        """Note that the calls about to be made are all that the user wants."""
        self.agreed = True

    def see(self, context: History, before: frozenset[str]) -> None:
        """Let the model see a context in place of the entries ``before``."""
        self.context, self.before = context, before

    def take_apart(self, requests: Requests | None) -> None:
        """Answer the requests of the user's message in turn; None for the whole message."""
        self.requests = requests

    def follow(self, call: ToolCall | None) -> None:
        """Have a call of the turn before made again, with a value replaced by the message's."""
        self.follows = call

    def insist(self, calls: Sequence[ToolCall]) -> bool:
        """Whether to ask again for the call in `follows`, since the model called something else.

        True at most once.
        """
        strays = [call.name for call in calls] != [self.follows.name] if self.follows else False
        if not strays or self.insists or self.calls_made:
            return False
        self.insists = True
        return True

    @property
    def again(self) -> Request | None:
        """The current request if it consists of words left out before, else None."""
        current = self.requests.current if self.requests else None
        return current if current and current.again else None

    def also_call(self, call: ToolCall | None, at: Position | None = None) -> None:
        """Call something after the calls for the message's values; None for nothing more."""
        self.also = call, at

    def carry(self) -> None:
        """Note that the message is read once more, which happens only once."""
        self.carried, self.agreed = True, False

    @property
    def handed(self) -> bool:
        """Whether an agent without steps is answering a message that was handed to it."""
        return self.carried and self.requests is not None

    def go_on_as(self, options: SessionOptions) -> None:
        """Go on with the options of another agent or step."""
        self.options = options

    def next_request(self, dialogue: History) -> bool:
        """Go on with the next request of the user's message, if one is left."""
        if self.requests is None or not self.requests.left:
            return False
        self.requests, self.retries = self.requests.go_on(dialogue.last_id), 0
        self.agreed = False
        return True

    def miss(self, parts: Sequence[str]) -> None:
        """Keep words that no call has carried, to mention them at the end."""
        self.missed += tuple(parts)

    def ask_back(self, question: str) -> None:
        """Keep a question for the end; an empty one leaves the one before."""
        self.question = question or self.question

    def doubt(self, calls: Sequence[ToolCall]) -> None:
        """Keep doubtful calls, to ask about them at the end."""
        self.doubted += tuple(calls)

    def leave_open(self, calls: Sequence[ToolCall]) -> None:
        """Keep the calls of a question that is still open; none if there is none."""
        self.open = tuple(calls)

    def answer_to(self, question: Question) -> None:
        """Note the question that was open when the user spoke."""
        self.answers = question

    def hold(self, question: str, calls: Sequence[ToolCall]) -> str:
        """Keep calls that need a "yes", with the question about them, for the end.

        Returns:
            What is to be said at once: the question if it is about no calls.
        """
        if not calls:
            return question
        self.asks_first = f"{self.asks_first} {question}".lstrip()
        self.unconfirmed += tuple(calls)
        return ""

    def look_up(self, found: ToolCall | None) -> None:
        """Keep the call that looks the question up; None leaves the question to the model."""
        self.found = found

    def end_as(self, status: ReplyStatus, reason: str = "") -> None:
        """Set how the reply will have ended."""
        self.status, self.reason = status, reason

    def fail_round(self) -> None:
        """The model's answer was malformed or failed; text that was already spoken stays."""
        self.drop_rest()
        self.retries += 1
        self.spoken_before = self.text[self.round_at :]

    def push(self, delta: str) -> list[str]:
        """Take text in; returns the speakable pieces that are complete by now."""
        self.wrote = self.wrote or bool(delta.strip())
        return self._cutter.push(delta)

    def hear_out(self, delta: str) -> None:
        """Take in text that is not spoken, since the tools' own words replace it."""
        self.wrote = self.wrote or bool(delta.strip())
        self.comment += delta

    def tell(self) -> list[str]:
        """The tools' own words in speakable pieces; nothing the second time."""
        if self.told:
            return []
        self.told = True
        return self._cutter.push(self.own_words) + self.flush()

    def flush(self) -> list[str]:
        """The rest of the text at the end of an answer; the next answer starts afresh."""
        rest = self._cutter.flush()
        self._cutter = SegmentCutter()
        return rest

    def unrepeated(self, pieces: list[str]) -> list[str]:
        """The pieces, without leading ones that have been spoken before."""
        for index, piece in enumerate(pieces):
            words, before = piece.strip(), self.spoken_before.lstrip()
            if not words or not before.startswith(words):
                self.spoken_before = ""
                return pieces[index:]
            self.spoken_before = before[len(words) :]
        return []

    def drop_rest(self) -> None:
        """Drop text that does not yet make a complete piece."""
        self._cutter = SegmentCutter()

    def seen(self, dialogue: History) -> History:
        """What the model sees: the dialogue, or the reply's context and what has come since.

        Without a context, the requests take the place of the user's message.
        """
        if self.context is None:
            return self.requests.seen(dialogue) if self.requests else dialogue
        seen = self.context.copy()
        for entry in dialogue:
            if entry.item_id not in self.before:
                seen.append(entry)
        return seen

    def segment(self, piece: str) -> Segment:
        """Add a piece, with the white space before it, to the reply.

        The first piece of a further answer, after tool results, has none, so a blank is added.
        """
        if len(self.text) == self.asked_at and not piece[:1].isspace():
            piece = f" {piece}"
        shown = piece if self.text else piece.lstrip()
        self.text += shown
        return self._segment(shown, spoken(shown))

    def aside(self, text: str) -> Segment:
        """Words that are spoken but are no answer, and so not part of the reply's text."""
        return self._segment("", spoken(text))

    def _segment(self, shown: str, spoken_text: str) -> Segment:
        self.segments += 1
        return Segment(self.turn_id, self.segments - 1, shown, spoken_text)
