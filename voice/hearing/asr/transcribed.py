"""What a recogniser returns for a recording."""

from __future__ import annotations

from dataclasses import dataclass

from voice.types import SAMPLE_RATE_HZ, SaidWord


@dataclass(frozen=True, slots=True)
class Word:
    """A word, and where it begins and ends in the audio that was decoded, in seconds."""

    text: str
    start_s: float
    end_s: float

    def later(self, seconds: float) -> Word:
        """The word, moved later by some seconds."""
        return Word(self.text, self.start_s + seconds, self.end_s + seconds)

    def within(self, start_s: float, end_s: float) -> Word:
        """The part of the word between two times, which may be empty."""
        start, end = (min(max(time, start_s), end_s) for time in (self.start_s, self.end_s))
        return Word(self.text, start, end)

    def said(self, first: int) -> SaidWord:
        """The word with its place in the session's audio; ``first`` is the first decoded sample."""
        start, end = (first + round(s * SAMPLE_RATE_HZ) for s in (self.start_s, self.end_s))
        return SaidWord(self.text, start, end)


@dataclass(frozen=True, slots=True)
class Transcribed:
    """What was said in some audio.

    Attributes:
        text: The written text; empty if nothing was understood.
        language: Code of its language.
        words: The words with their times, if times were asked for.
        confidence: Mean probability of its tokens, in [0, 1].
        tokens: The recogniser's tokens, before numbers became figures; empty if it has none.
    """

    text: str
    language: str
    words: tuple[Word, ...] = ()
    confidence: float = 1.0
    tokens: tuple[int, ...] = ()
