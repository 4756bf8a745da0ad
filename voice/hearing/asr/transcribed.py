"""A recording's words as a recogniser tells them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word, and where it begins and ends in the audio that was decoded, in seconds."""

    text: str
    start_s: float
    end_s: float

    def later(self, seconds: float) -> Word:
        """The word so much later."""
        return Word(self.text, self.start_s + seconds, self.end_s + seconds)


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
