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
    """

    text: str
    language: str
    words: tuple[Word, ...] = ()
