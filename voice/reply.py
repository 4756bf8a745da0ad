"""One reply in the making: its text, its segments and the tools it has called."""

from __future__ import annotations

from dataclasses import dataclass, field

from voice.normalize import spoken
from voice.sentences import SegmentCutter
from voice.turns import SessionOptions
from voice.types import Segment


@dataclass(slots=True)
class Reply:
    """What the conversation remembers of a reply until it has been heard.

    Attributes:
        origin: Names the request of the user's that it serves: another reply to the same has the
            same.
        text: All text of the reply so far, as it is shown and kept.
        pending: Ids of calls that run here and have not answered.
        results: What this reply's tools have answered.
        calls_made: Over all rounds of the tool loop.
        segments: How many have been spoken, those among them that are not part of the text.
        retries: Malformed answers so far in this round.
        handed_over: Whether the last answer called tools of the client's.
        closed: Whether all that it will say has been said.
        failure: Why the reply failed; empty when it did not.
        cut: Whether the model's answer ended for being too long.
    """

    reply_id: str
    item_id: str
    turn_id: int
    options: SessionOptions
    origin: str = ""
    text: str = ""
    pending: set[str] = field(default_factory=set)
    results: list[str] = field(default_factory=list)
    calls_made: int = 0
    retries: int = 0
    handed_over: bool = False
    closed: bool = False
    failure: str = ""
    cut: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    _cutter: SegmentCutter = field(default_factory=SegmentCutter)
    segments: int = 0

    def push(self, delta: str) -> list[str]:
        """Take text in; returns the speakable pieces that are complete by now."""
        return self._cutter.push(delta)

    def flush(self) -> list[str]:
        """The rest of the text, at the end of an answer; the next answer begins anew."""
        rest = self._cutter.flush()
        self._cutter = SegmentCutter()
        return rest

    def drop_rest(self) -> None:
        """Forget text that is not a complete piece yet."""
        self._cutter = SegmentCutter()

    def segment(self, piece: str) -> Segment:
        """Make a piece part of the reply; it carries the white space before it."""
        shown = piece if self.text else piece.lstrip()
        self.text += shown
        return self._segment(shown, spoken(shown))

    def aside(self, text: str) -> Segment:
        """Words that sound, and are not part of the reply's text: they are no answer."""
        return self._segment("", spoken(text))

    def _segment(self, shown: str, said: str) -> Segment:
        self.segments += 1
        return Segment(self.turn_id, self.segments - 1, shown, said)
