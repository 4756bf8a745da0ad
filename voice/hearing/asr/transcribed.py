"""A recording's words as a recogniser tells them."""

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
        """The word so much later."""
        return Word(self.text, self.start_s + seconds, self.end_s + seconds)

    def said(self, first: int) -> SaidWord:
        """The word in the session's audio, of which sample ``first`` is the first decoded one."""
        start, end = (first + round(s * SAMPLE_RATE_HZ) for s in (self.start_s, self.end_s))
        return SaidWord(self.text, start, end)


@dataclass(frozen=True, slots=True)
class Transcribed:
    """What was said in some audio.

    Attributes:
        text: As people are shown it; empty where nothing was understood.
        language: Its code.
        words: With their times, if they were asked for.
    """

    text: str
    language: str
    words: tuple[Word, ...] = ()
