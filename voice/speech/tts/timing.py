"""When each written word of a segment ends in its audio.

A voice reports where some of the spoken words begin, or none; the time in between is divided by
syllables. It is the same for all voices.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from voice.speech.normalization import spoken_words
from voice.types import Samples, Segment, WordTiming

_VOWELS = re.compile(r"[aeiouyáàâäéèêëíìîïóòôöúùûü]+", re.IGNORECASE)
AUDIBLE = 150
"""An int16 sample of at least this amplitude counts as sound (-47 dBFS)."""

_PAUSES = {",": 0.6, ";": 0.8, ":": 0.8, ".": 1.5, "!": 1.5, "?": 1.5}
"""What a mark adds to a word's length, in syllables."""


@dataclass(frozen=True, slots=True)
class WordStart:
    """Where a spoken word begins.

    Attributes:
        spoken_char: Index in ``Segment.spoken`` of one of the word's characters.
        sample: Index of its first sample in the audio that the voice made for the segment.
    """

    spoken_char: int
    sample: int


def word_timings(
    segment: Segment, audio: Samples, starts: Sequence[WordStart] = ()
) -> tuple[WordTiming, ...]:
    """The end of each written word that is spoken, in order.

    Args:
        segment: ``spoken`` may differ from what `voice.speech.normalization` makes of ``text``.
        audio: (T,) int16, the whole segment as it will be heard.
        starts: Known beginnings of words, counted from ``audio[0]``, in any order.
    """
    words = _align(segment)
    boundaries = _boundaries(words, len(audio), starts)
    ends = [sound_end(audio, start, end) for start, end in pairwise(boundaries)]
    return _written_ends(words, ends)


def estimated_timings(segment: Segment, total_samples: int) -> tuple[WordTiming, ...]:
    """As `word_timings`, from the length of the audio alone."""
    words = _align(segment)
    return _written_ends(words, _boundaries(words, total_samples, ())[1:])


def syllables(word: str) -> float:
    """Approximate length of a spoken word in syllables, including the pause of a mark after it."""
    vowels = len(_VOWELS.findall(word.rstrip("eE,;:.!?")))
    # Scripts without Latin vowels have about one syllable in two letters.
    spoken = vowels or (1.0 if word.isascii() else max(1.0, len(word) / 2))
    return spoken + _PAUSES.get(word[-1:], 0.0)


@dataclass(frozen=True, slots=True)
class _Word:
    spoken_char: int
    end_char: int
    syllables: float


def _align(segment: Segment) -> list[_Word]:
    """Each spoken word with the end of the written word that it belongs to."""
    matches = list(re.finditer(r"\S+", segment.spoken))
    words = spoken_words(segment.text)
    if [word.text for word in words] == [match.group() for match in matches]:
        ends = [word.end_char for word in words]
    else:
        written = [match.end() for match in re.finditer(r"\S+", segment.text)]
        if not written:
            return []
        # It is unknown which word became which, so they are aligned proportionally.
        count = len(matches)
        ends = [written[((index + 1) * len(written) - 1) // count] for index in range(count)]
    return [
        _Word(match.start(), end, syllables(match.group()))
        for match, end in zip(matches, ends, strict=True)
    ]


def _boundaries(words: list[_Word], total: int, starts: Sequence[WordStart]) -> list[int]:
    """Where each word begins, and where the last ends: len(words) + 1 non-decreasing samples."""
    if not words:
        return []
    chars = [word.spoken_char for word in words]
    anchors = {0: 0}
    for start in sorted(starts, key=lambda start: start.spoken_char):
        index = bisect.bisect_right(chars, start.spoken_char) - 1
        if index > 0 and index not in anchors:
            anchors[index] = start.sample
    before = list(accumulate((word.syllables for word in words), initial=0.0))
    known: list[tuple[int, int]] = []
    for index, sample in sorted(anchors.items()):
        if sample <= total and (not known or sample >= known[-1][1]):
            known.append((index, sample))
    known.append((len(words), total))
    positions = np.interp(
        before, [before[index] for index, _ in known], [sample for _, sample in known]
    )
    return [round(position) for position in positions]


def _written_ends(words: list[_Word], ends: Sequence[int]) -> tuple[WordTiming, ...]:
    timings = []
    for index, (word, end) in enumerate(zip(words, ends, strict=True)):
        if index + 1 == len(words) or words[index + 1].end_char != word.end_char:
            timings.append(WordTiming(word.end_char, end))
    return tuple(timings)


def sound_end(samples: Samples, start: int, end: int) -> int:
    """Index just past the last audible sample of samples[start:end]; ``end`` if all is silent."""
    sounding = np.flatnonzero(np.abs(samples[start:end].astype(np.int32)) >= AUDIBLE)
    return start + int(sounding[-1]) + 1 if len(sounding) else end
