"""Takes silence off both ends of a segment's audio while it streams by.

Knows nothing of text. T is a number of samples.
"""

from __future__ import annotations

import numpy as np

from voice.types import Samples

AUDIBLE = 150
"""Amplitude of int16 from which a sample counts as sound (-47 dB of full scale)."""

_ATTACK_MS = 5


class SilenceTrimmer:
    """Samples in, samples out: none before the first sound, silence only once sound follows it.

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
        """Take (T,) int16 more; returns what is known to be kept, possibly nothing."""
        held = np.concatenate([self._held, samples])
        sounding = np.flatnonzero(np.abs(held.astype(np.int32)) >= AUDIBLE)
        if not self._begun:
            # The start of a consonant is softer than AUDIBLE: a few ms before it are kept.
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
        """The audio is over: returns a pause of that length, or nothing if all was silent."""
        if not self._begun:
            return np.empty(0, np.int16)
        pause = np.zeros(round(self._rate * pause_ms / 1000), np.int16)
        natural = self._held[: len(pause)]
        pause[: len(natural)] = natural
        self._held = np.empty(0, np.int16)
        return pause


def sound_end(samples: Samples, start: int, end: int) -> int:
    """Index just past the last audible sample of samples[start:end]; ``end`` if all is silent."""
    sounding = np.flatnonzero(np.abs(samples[start:end].astype(np.int32)) >= AUDIBLE)
    return start + int(sounding[-1]) + 1 if len(sounding) else end
