"""Makes the speech chunks of a segment from a voice's audio: silence trimmed, words timed.

Knows nothing of any particular voice. T and U are numbers of samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from voice.speech.tts.timing import AUDIBLE, WordStart, word_timings
from voice.types import Samples, Segment, SpeechChunk

SENTENCE_PAUSE_MS = 120.0
"""Silence after a segment that ends a sentence."""

CLAUSE_PAUSE_MS = 60.0
"""Silence after a segment that ends inside a sentence."""

_ATTACK_MS = 5
"""Kept before the first sound: the start of a consonant is softer than `AUDIBLE`."""

_UNREADABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""Voices stop reading at a null character, and lone surrogates cannot be encoded."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some audio of a segment as its voice made it.

    Attributes:
        samples: (T,) int16 mono.
        starts: Beginnings of words, counted from the first sample of the first piece.
    """

    samples: Samples
    starts: tuple[WordStart, ...] = ()


def readable(text: str) -> str:
    """The text with spaces for characters that no voice can read; indices stay the same."""
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


class SilenceTrimmer:
    """Takes silence off both ends of a segment's audio, of which it is given a piece at a time.

    Args:
        sample_rate_hz: Rate of what is pushed.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._attack = sample_rate_hz * _ATTACK_MS // 1000
        self._rate = sample_rate_hz
        self._held = np.empty(0, np.int16)
        self._begun = False
        self.dropped = 0
        """Samples taken off the start so far."""

    def push(self, samples: Samples) -> Samples:
        """Take (T,) int16 more; returns (U,) int16: from the first sound to the last one so far."""
        held = np.concatenate([self._held, samples])
        sounding = np.flatnonzero(np.abs(held.astype(np.int32)) >= AUDIBLE)
        if not self._begun:
            keep_from = (
                int(sounding[0]) - self._attack if len(sounding) else len(held) - self._attack
            )
            keep_from = max(0, keep_from)
            held = held[keep_from:]
            sounding = sounding - keep_from
            self.dropped += keep_from
            self._begun = bool(len(sounding))
        end = int(sounding[-1]) + 1 if len(sounding) else 0
        self._held = held[end:]
        return held[:end]

    def finish(self, pause_ms: float) -> Samples:
        """The audio is over: returns (U,) int16, a pause; empty if all the audio was silent."""
        if not self._begun:
            return np.empty(0, np.int16)
        pause = np.zeros(round(self._rate * pause_ms / 1000), np.int16)
        natural = self._held[: len(pause)]
        pause[: len(natural)] = natural
        self._held = np.empty(0, np.int16)
        return pause
