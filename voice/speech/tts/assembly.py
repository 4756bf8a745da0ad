"""Makes the speech chunks of a segment from what a voice gives: trimmed, with its words timed.

Knows nothing of any particular voice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from voice.speech.tts.timing import WordStart, word_timings
from voice.speech.tts.trim import SilenceTrimmer
from voice.types import Samples, Segment, SpeechChunk

SENTENCE_PAUSE_MS = 120.0
"""Silence after a segment that ends a sentence."""

CLAUSE_PAUSE_MS = 60.0
"""Silence after a segment that its sentence goes on from."""

_UNREADABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""Voices stop reading at a null, and lone surrogates cannot be encoded."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some audio of a segment as its voice made it.

    Attributes:
        samples: (T,) int16 mono.
        starts: Word beginnings learned with it, counted from the first sample of the first piece.
    """

    samples: Samples
    starts: tuple[WordStart, ...] = ()


def readable(text: str) -> str:
    """The text with what no voice can be given made into spaces; indices stay the same."""
    return _UNREADABLE.sub(" ", text)


def assemble(
    segment: Segment, sample_rate_hz: int, pieces: Iterable[Piece]
) -> Iterator[SpeechChunk]:
    """The chunks of a segment: sound at once in the first, and one that is last.

    The last chunk holds the pause after the segment and the timing of its words; it is empty where
    there was nothing to say.
    """
    trimmer = SilenceTrimmer(sample_rate_hz)
    audible: list[Samples] = []
    starts: list[WordStart] = []
    for piece in pieces:
        starts.extend(piece.starts)
        samples = trimmer.push(piece.samples)
        if len(samples):
            audible.append(samples)
            yield SpeechChunk(segment, samples, sample_rate_hz, last=False)
    ends_sentence = segment.spoken.rstrip().endswith((".", "!", "?"))
    pause = trimmer.finish(SENTENCE_PAUSE_MS if ends_sentence else CLAUSE_PAUSE_MS)
    shifted = [
        WordStart(start.spoken_char, max(0, start.sample - trimmer.dropped)) for start in starts
    ]
    heard = np.concatenate(audible) if audible else pause
    words = word_timings(segment, heard, shifted)
    yield SpeechChunk(segment, pause, sample_rate_hz, last=True, words=words)
