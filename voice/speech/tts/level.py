"""One loudness for all voices: a gain for each, found from what it says when it is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voice.types import Samples, Segment, SpeechChunk

if TYPE_CHECKING:
    from voice.speech.tts import Synthesizer

LEVEL_DBFS = -22.0
"""Mean power of speech against full scale; peaks lie 15 to 22 dB above."""

_SILENT_DB = 35.0
"""Frames this far below the loudest are pauses."""


def speech_level(samples: Samples, sample_rate_hz: int) -> float:
    """Mean power of (T,) int16 speech without its pauses, in dB of full scale; -inf for silence."""
    frame = sample_rate_hz // 50
    frames = samples[: len(samples) // frame * frame].reshape(-1, frame).astype(np.float64)
    power = np.mean(frames**2, axis=1)
    if not power.any():
        return -np.inf
    loud = power[power > power.max() / 10 ** (_SILENT_DB / 10)]
    return float(10 * np.log10(loud.mean() / 2**30))


class LevelledSynthesizer:
    """A voice as loud as every other.

    Args:
        synthesizer: The voice itself.
        sample: (T,) int16 of it, some seconds of speech.
    """

    def __init__(self, synthesizer: Synthesizer, sample: Samples) -> None:
        level = speech_level(sample, synthesizer.sample_rate_hz)
        self.name = synthesizer.name
        self.sample_rate_hz = synthesizer.sample_rate_hz
        self._synthesizer = synthesizer
        self._gain = 10 ** ((LEVEL_DBFS - level) / 20) if np.isfinite(level) else 1.0

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """See `voice.speech.tts.Synthesizer.synthesize`."""
        for chunk in self._synthesizer.synthesize(segment, speed):
            louder = np.clip(chunk.samples * self._gain, -32768, 32767)
            yield replace(chunk, samples=louder.astype(np.int16))
