"""How much of a reply its listener heard, judged from the sound itself.

The agent counts by its voice's timing. This count is independent of that: a recogniser aligns the
audio that arrived at the client with the words of the reply.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.voice.corpus import word_ends
from voice.prove.words import words
from voice.speech.normalization import spoken
from voice.types import Samples, samples_of_ms

TOLERANCE_MS = 100.0
"""How far off the recogniser's end of a word may be; a word that ends so near may count or not."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How many words of a reply's text were played to their end.

    Attributes:
        least: Words that were certainly played.
        likely: Words whose end, as found, was played.
        most: Words that may have been played.
    """

    least: int
    likely: int
    most: int

    def off(self, kept: str) -> int:
        """How many words too many were kept (negative: too few); 0 within the tolerance."""
        count = len(kept.split())
        return min(0, count - self.least) + max(0, count - self.most)


def heard_words(text: str, audio: Samples, played: int) -> Heard | None:
    """Count the words that were played.

    Args:
        text: The reply.
        audio: (T,) int16 at 16 kHz, all of the reply.
        played: Samples of it that were played.

    Returns:
        None where the words cannot be found in the audio.
    """
    shown = text.split()
    # How many spoken words each beginning of the text has: "84" is two.
    sizes = [len(words(spoken(" ".join(shown[:count])))) for count in range(1, len(shown) + 1)]
    ends = word_ends(audio, spoken(text))
    if not sizes or sizes != sorted(sizes) or sizes[-1] != len(ends):
        return None

    def count(until: int) -> int:
        return sum(size > 0 and ends[size - 1] <= until for size in sizes)

    slack = samples_of_ms(TOLERANCE_MS)
    return Heard(count(played - slack), count(played), count(played + slack))
