"""How much of a reply its listener heard, from the sound itself.

The agent's own count comes from its voice's timing. This one is independent of it: the audio that
arrived at the client is aligned with the words of the reply by a recogniser.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.voice.corpus import word_ends
from voice.prove.words import words
from voice.speech.normalization import spoken
from voice.types import Samples, samples_of_ms

TOLERANCE_MS = 100.0
"""How far the recogniser's end of a word may be off; a word that ends so near may count or not."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Words of a reply's text that were played to their end.

    Attributes:
        least: Those that surely were.
        likely: Those whose end, as found, was played.
        most: Those that may have been.
    """

    least: int
    likely: int
    most: int

    def off(self, kept: str) -> int:
        """How many words too many (or, negative, too few) were kept; 0 within the tolerance."""
        count = len(kept.split())
        return min(0, count - self.least) + max(0, count - self.most)


def heard_words(text: str, audio: Samples, played: int) -> Heard | None:
    """Count the words that were played.

    Args:
        audio: (T,) int16 at 16 kHz, all of the reply's.
        played: Samples of it that sounded.

    Returns:
        None where the words cannot be found in the audio.
    """
    shown = text.split()
    # How many spoken words the first so many of the text are: "84" is two.
    sizes = [len(words(spoken(" ".join(shown[:count])))) for count in range(1, len(shown) + 1)]
    ends = word_ends(audio, spoken(text))
    if not sizes or sizes != sorted(sizes) or sizes[-1] != len(ends):
        return None

    def count(until: int) -> int:
        return sum(size > 0 and ends[size - 1] <= until for size in sizes)

    slack = samples_of_ms(TOLERANCE_MS)
    return Heard(count(played - slack), count(played), count(played + slack))
