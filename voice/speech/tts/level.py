"""Makes all voices equally loud, by a gain measured on each when it is loaded."""

from __future__ import annotations

import numpy as np

from voice.types import Samples

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


def gain(samples: Samples, sample_rate_hz: int) -> float:
    """The factor that brings (T,) int16 speech to `LEVEL_DBFS`; 1 for silence."""
    level = speech_level(samples, sample_rate_hz)
    return float(10 ** ((LEVEL_DBFS - level) / 20)) if np.isfinite(level) else 1.0


def amplified(samples: Samples, factor: float) -> Samples:
    """(T,) int16 samples multiplied by a factor, clipped to the range of int16."""
    louder: Samples = np.clip(samples * factor, -32768, 32767).astype(np.int16)
    return louder
