"""How speech sounded just before it stopped: pitch, level and lengthening, in plain numpy.

English phrases that are over tend to end low, falling and soft; a speaker who is only looking for
the next word holds pitch and level. What follows from the numbers is `voice.hearing.end_of_turn`'s
matter.

Shapes: T samples, N analysis frames of 32 ms every 10 ms.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice.types import SAMPLE_RATE_HZ, Samples

WINDOW_MS = 1600
"""How much audio before the pause `measure` wants; more is cut off, less serves as well."""

_HOP = SAMPLE_RATE_HZ // 100
_FRAME = 512
_LOWEST_HZ, _HIGHEST_HZ = 70, 400
_LAGS = slice(SAMPLE_RATE_HZ // _HIGHEST_HZ, SAMPLE_RATE_HZ // _LOWEST_HZ + 1)
_VOICED_ABOVE = 0.55
_BELOW_PEAK_DB = 30.0
_TAIL = 15
"""Frames that count as the end: 150 ms."""
_FEWEST_VOICED = 5

_Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Prosody:
    """The end of a stretch of speech, beside the stretch as a whole.

    Attributes:
        pitch_st: Pitch of the last voiced 100 ms above the median, in semitones.
        slope_st: How far pitch rose over the last voiced 150 ms, in semitones.
        level_db: Level of the last 150 ms above the stretch's loud parts (90th percentile).
        decay_db: How far the level rose over the last 150 ms.
        held_ms: Length of the last unbroken voiced sound.
        voiced: Share of the last 150 ms that is voiced, in [0, 1].
    """

    pitch_st: float
    slope_st: float
    level_db: float
    decay_db: float
    held_ms: float
    voiced: float

    def vector(self) -> _Array:
        """The fields in order, (6,) float64."""
        return np.array(astuple(self))


def measure(samples: Samples) -> Prosody | None:
    """Measure the end of a stretch of speech; about 5 ms for 1.6 s.

    Args:
        samples: (T,) int16 at 16 kHz that end where speech ended.

    Returns:
        What was found, or None when there is too little voice to tell anything.
    """
    count = (len(samples) - _FRAME) // _HOP + 1
    if count < 2 * _FEWEST_VOICED:
        return None
    frames = _frames(samples[-(_FRAME + (min(count, WINDOW_MS // 10) - 1) * _HOP) :])
    level_db = 10 * np.log10(np.mean(frames**2, axis=1) + 1.0)
    pitch_st, strength = _pitch(frames)
    voiced = (strength > _VOICED_ABOVE) & (level_db > level_db.max() - _BELOW_PEAK_DB)
    if voiced.sum() < _FEWEST_VOICED:
        return None
    heard = pitch_st[voiced]
    end = np.flatnonzero(voiced)[-_TAIL:]
    return Prosody(
        pitch_st=_clipped(float(np.median(heard[-10:]) - np.median(heard)), 12),
        slope_st=_clipped(_rise(end, pitch_st[end]), 12),
        level_db=_clipped(float(level_db[-_TAIL:].mean() - np.quantile(level_db, 0.9)), 40),
        decay_db=_clipped(_rise(np.arange(_TAIL), level_db[-_TAIL:]), 40),
        held_ms=10.0 * _last_run(voiced),
        voiced=float(voiced[-_TAIL:].mean()),
    )


def _frames(samples: Samples) -> _Array:
    """(N, 512) float64, the last ending with the samples."""
    start = (len(samples) - _FRAME) % _HOP
    windows = np.lib.stride_tricks.sliding_window_view(samples[start:], _FRAME)[::_HOP]
    wide = windows.astype(np.float64)
    return np.asarray(wide - wide.mean(axis=1, keepdims=True))


def _pitch(frames: _Array) -> tuple[_Array, _Array]:
    """Pitch in semitones over 1 Hz, and how periodic each frame is, from its autocorrelation.

    The autocorrelation is divided by that of the window, which would otherwise favour short lags.
    Source: Boersma, "Accurate short-term analysis of the fundamental frequency" (1993).
    """
    window = np.hanning(_FRAME)
    correlation = _correlation(frames * window)[:, : _LAGS.stop]
    own = _correlation(window[None])[0, : _LAGS.stop]
    normal = correlation / np.maximum(correlation[:, :1], 1.0) / (own / own[0])
    candidates = normal[:, _LAGS]
    # A peak an octave down is as high as the true one; the shortest lag of nearly the best wins.
    good = candidates >= 0.9 * candidates.max(axis=1, keepdims=True)
    peaks = np.argmax(good, axis=1)
    rows = np.arange(len(frames))
    while True:
        onward = np.minimum(peaks + 1, candidates.shape[1] - 1)
        climbs = candidates[rows, onward] > candidates[rows, peaks]
        if not climbs.any():
            break
        peaks = np.where(climbs, onward, peaks)
    lags = peaks + _LAGS.start
    return 12 * np.log2(SAMPLE_RATE_HZ / lags), candidates[rows, peaks]


def _correlation(frames: _Array) -> _Array:
    power = np.abs(np.fft.rfft(frames, 2 * _FRAME, axis=1)) ** 2
    return np.asarray(np.fft.irfft(power, axis=1))


def _rise(at: NDArray[np.integer[Any]], values: _Array) -> float:
    """How far a straight line through the values rises over `_TAIL` frames."""
    if len(at) < 2:
        return 0.0
    centred = at - at.mean()
    return float((centred @ (values - values.mean())) / (centred @ centred) * _TAIL)


def _last_run(voiced: NDArray[np.bool_]) -> int:
    last = int(np.flatnonzero(voiced)[-1])
    breaks = np.flatnonzero(~voiced[:last])
    return last - (int(breaks[-1]) if breaks.size else -1)


def _clipped(value: float, bound: float) -> float:
    return max(-bound, min(bound, value))
