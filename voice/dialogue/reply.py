"""One reply in the making: its text, its segments and the tools it has called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from voice.dialogue.history import History
from voice.inputs import SessionOptions
from voice.llm.base import Prompt
from voice.speech.normalization import spoken
from voice.speech.segmenter import SegmentCutter
from voice.types import Message, Role, Segment, ToolSpec


@dataclass(slots=True)
class Reply:
    """What the conversation remembers of a reply until it has been heard.

    Attributes:
        origin: Names the request of the user's that it serves: another reply to the same has the
            same.
        text: All text of the reply so far, as it is shown and kept.
        pending: Ids of calls that run here and have not answered.
        asked_at: How long the text was when the model was asked last.
        results: What this reply's tools have answered.
        calls_made: Over all rounds of the tool loop.
        segments: How many have been spoken, those among them that are not part of the text.
        retries: Malformed answers so far in this round.
        round_at: How long the text was before the first try of this round.
        said: What malformed answers of this round have said, and the next need not say again.
        wrote: Whether the model has written anything since it was asked last.
        handed_over: Whether the last answer called tools of the client's.
        closed: Whether all that it will say has been said.
        failure: Why the reply failed; empty when it did not.
        cut: Whether the model's answer ended for being too long.
        waits: Whether the model has not been asked yet, because what the user said is not known.
        context: What the model sees in place of the dialogue up to here; None is the dialogue.
        before: Ids of the dialogue's entries that the context takes the place of.
    """

    reply_id: str
    item_id: str
    turn_id: int
    options: SessionOptions
    origin: str = ""
    text: str = ""
    asked_at: int = 0
    pending: set[str] = field(default_factory=set)
    results: list[str] = field(default_factory=list)
    calls_made: int = 0
    retries: int = 0
    round_at: int = 0
    said: str = ""
    wrote: bool = False
    handed_over: bool = False
    closed: bool = False
    failure: str = ""
    cut: bool = False
    waits: bool = False
    context: History | None = None
    before: frozenset[str] = frozenset()
    input_tokens: int = 0
    output_tokens: int = 0
    _cutter: SegmentCutter = field(default_factory=SegmentCutter)
    segments: int = 0

    def push(self, delta: str) -> list[str]:
        """Take text in; returns the speakable pieces that are complete by now."""
        self.wrote = self.wrote or bool(delta.strip())
        return self._cutter.push(delta)

    def flush(self) -> list[str]:
        """The rest of the text, at the end of an answer; the next answer begins anew."""
        rest = self._cutter.flush()
        self._cutter = SegmentCutter()
        return rest

    def unsaid(self, pieces: list[str]) -> list[str]:
        """The pieces less those with which a malformed answer has begun in the same words."""
        for index, piece in enumerate(pieces):
            words, said = piece.strip(), self.said.lstrip()
            if not words or not said.startswith(words):
                self.said = ""
                return pieces[index:]
            self.said = said[len(words) :]
        return []

    def drop_rest(self) -> None:
        """Forget text that is not a complete piece yet."""
        self._cutter = SegmentCutter()

    def seen(self, dialogue: History) -> History:
        """What the model sees: the dialogue, or the reply's context and what came behind it."""
        if self.context is None:
            return dialogue
        seen = self.context.copy()
        for entry in dialogue:
            if entry.item_id not in self.before:
                seen.append(entry)
        return seen

    def prompt(
        self, dialogue: History, tools: Sequence[ToolSpec], choice: str, max_history: int
    ) -> Prompt:
        """What the model is asked next.

        Args:
            dialogue: Of the conversation.
            tools: That run here.
            choice: As `SessionOptions.tool_choice`.
            max_history: Messages that the model sees.
        """
        options, seen = self.options, self.seen(dialogue)
        system = (Message(Role.SYSTEM, options.instructions),) if options.instructions else ()
        return Prompt(
            messages=system + seen.view(max_history),
            tools=(*tools, *options.client_tools),
            tool_choice=choice,
            effort=options.effort,
            max_tokens=options.max_reply_tokens,
        )

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

    def _segment(self, shown: str, said: str) -> Segment:
        self.segments += 1
        return Segment(self.turn_id, self.segments - 1, shown, said)
