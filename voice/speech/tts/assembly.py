"""Turns a voice's audio into a segment's chunks: at the wanted speed, trimmed, with timed words.

It is the same for all voices. T and U are numbers of samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from voice.speech.tts.tempo import stretched
from voice.speech.tts.timing import AUDIBLE, WordStart, word_timings
from voice.types import Samples, Segment, SpeechChunk

SENTENCE_PAUSE_MS = 120.0
"""Silence after a segment that ends a sentence."""

CLAUSE_PAUSE_MS = 60.0
"""Silence after a segment that ends inside a sentence."""

_ATTACK_MS = 5
"""Kept before the first sound, because a consonant may begin softer than `AUDIBLE`."""

_UNREADABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""Voices stop reading at a null character, and lone surrogates cannot be encoded."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Part of a segment's audio as the voice made it, at its own pace.

    Attributes:
        samples: (T,) int16 mono.
        starts: Where words begin, counted from the first sample of the first piece.
    """

    samples: Samples
    starts: tuple[WordStart, ...] = ()


def readable(text: str) -> str:
    """The text with characters that no voice can read replaced by spaces; indices stay the same."""
    return _UNREADABLE.sub(" ", text)


def assemble(
    segment: Segment, sample_rate_hz: int, pieces: Iterable[Piece], speed: float = 1.0
) -> Iterator[SpeechChunk]:
    """The chunks of a segment at a speaking rate, without the silence at its start.

    The last chunk holds the pause after the segment and the timing of its words; it is empty if
    there was nothing to say.
    """
    trimmer = SilenceTrimmer(sample_rate_hz)
    audible: list[Samples] = []
    starts: list[WordStart] = []

    def sounds() -> Iterator[Samples]:
        for piece in pieces:
            starts.extend(piece.starts)
            yield piece.samples

    for sound in stretched(sounds(), sample_rate_hz, speed):
        samples = trimmer.push(sound)
        if len(samples):
            audible.append(samples)
            yield SpeechChunk(segment, samples, sample_rate_hz, last=False)
    ends_sentence = segment.spoken.rstrip().endswith((".", "!", "?"))
    pause_ms = SENTENCE_PAUSE_MS if ends_sentence else CLAUSE_PAUSE_MS
    pause = trimmer.finish(pause_ms / speed)
    shifted = [
        WordStart(word.spoken_char, max(0, round(word.sample / speed) - trimmer.dropped))
        for word in starts
    ]
    heard = np.concatenate(audible) if audible else pause
    words = word_timings(segment, heard, shifted)
    yield SpeechChunk(segment, pause, sample_rate_hz, last=True, words=words)


class SilenceTrimmer:
    """Trims silence from both ends of a segment's audio, which comes piece by piece.

    Args:
        sample_rate_hz: Rate of the audio.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._attack = sample_rate_hz * _ATTACK_MS // 1000
        self._rate = sample_rate_hz
        self._held = np.empty(0, np.int16)
        self._begun = False
        self.dropped = 0
        """Samples trimmed from the start so far."""

    def push(self, samples: Samples) -> Samples:
        """Add (T,) int16; return (U,) int16, the new audio up to the last sound so far."""
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
        """End the audio; return a pause, (U,) int16, which is empty if all the audio was silent."""
        if not self._begun:
            return np.empty(0, np.int16)
        pause = np.zeros(round(self._rate * pause_ms / 1000), np.int16)
        natural = self._held[: len(pause)]
        pause[: len(natural)] = natural
        self._held = np.empty(0, np.int16)
        return pause
