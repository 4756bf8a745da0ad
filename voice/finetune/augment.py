"""Degrades speech as the way to a recogniser does: noise, rooms, the telephone, level.

Everything is drawn from the generator that is passed, so the same seed makes the same clip. Audio
is (T,) float32 at 16 kHz, full scale 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import soxr
from numpy.typing import NDArray

from voice.audio import mulaw_from_samples, samples_from_mulaw
from voice.types import SAMPLE_RATE_HZ

Audio = NDArray[np.float32]

_TELEPHONE_HZ = 8000
_ROOM, _NOISE, _TELEPHONE = 0.45, 0.7, 0.25
"""Shares of clips in a room, in noise and on the telephone."""
_SNR_DB = (0.0, 25.0)
_LEVEL_DBFS = (-40.0, -14.0)
_NOISE_LEVEL_DBFS = (-70.0, -25.0)
_REVERBERATION_S = (0.15, 0.7)
_VOICES = (3, 8)
_FFT_STEP = 4000
"""Lengths are rounded up to multiples of this: large prime factors make a transform slow."""


def degraded(audio: Audio, others: Sequence[Audio], rng: np.random.Generator) -> Audio:
    """The clip as a microphone or a telephone might deliver it, with length and timing unchanged.

    Args:
        audio: (T,) speech, silence after it included.
        others: Other clips, for babble; at least one.
        rng: Random generator.
    """
    if rng.random() < _ROOM:
        audio = in_room(audio, rng)
    if rng.random() < _NOISE:
        snr_db = rng.uniform(*_SNR_DB)
        audio = audio + scaled(noise(len(audio), others, rng), _rms(audio) * 10 ** (-snr_db / 20))
    audio = scaled(audio, 10 ** (rng.uniform(*_LEVEL_DBFS) / 20))
    return by_telephone(audio) if rng.random() < _TELEPHONE else np.clip(audio, -1, 1)


def without_speech(samples: int, others: Sequence[Audio], rng: np.random.Generator) -> Audio:
    """Silence, or noise in which nobody speaks to the agent, (samples,)."""
    if rng.random() < 0.15:
        return np.zeros(samples, np.float32)
    audio = scaled(noise(samples, others, rng), 10 ** (rng.uniform(*_NOISE_LEVEL_DBFS) / 20))
    return by_telephone(audio) if rng.random() < _TELEPHONE else audio


def noise(samples: int, others: Sequence[Audio], rng: np.random.Generator) -> Audio:
    """Babble of several voices, or coloured noise that rises and falls, with knocks, (samples,)."""
    if rng.random() < 0.4:
        count = int(rng.integers(*_VOICES, endpoint=True))
        voices = [
            _looped(others[int(rng.integers(len(others)))], samples, rng) for _ in range(count)
        ]
        babble: Audio = sum(voices, np.zeros(samples, np.float32))
        return in_room(babble, rng)
    spectrum = np.fft.rfft(rng.standard_normal(samples))
    frequency = np.maximum(np.arange(len(spectrum)) / samples * SAMPLE_RATE_HZ, 40.0)
    spectrum *= frequency ** -rng.uniform(0, 1.2)
    if rng.random() < 0.3:
        low = rng.uniform(50, 3000)
        spectrum[(frequency < low) | (frequency > low * rng.uniform(1.5, 8))] *= 0.1
    audio = np.fft.irfft(spectrum, samples)
    knots = rng.uniform(0.2, 1.0, size=2 + samples // (SAMPLE_RATE_HZ // 2))
    audio *= np.interp(np.linspace(0, len(knots) - 1, samples), np.arange(len(knots)), knots)
    for _ in range(int(rng.poisson(samples / SAMPLE_RATE_HZ / 3))):
        audio += _knock(samples, rng) * float(np.std(audio)) * rng.uniform(2, 12)
    return np.asarray(audio, np.float32)


def in_room(audio: Audio, rng: np.random.Generator) -> Audio:
    """The audio as heard in a room, by direct sound and decaying reverberation; same length."""
    seconds = rng.uniform(*_REVERBERATION_S)
    taps = round(seconds * SAMPLE_RATE_HZ)
    response = rng.standard_normal(taps) * 10 ** (-3 * np.arange(taps) / taps)
    response[: round(rng.uniform(0.001, 0.012) * SAMPLE_RATE_HZ)] = 0
    response *= 10 ** (-rng.uniform(-3, 9) / 20) / np.sqrt(np.sum(response**2))
    response[0] = 1
    size = -(-(len(audio) + taps) // _FFT_STEP) * _FFT_STEP
    heard = np.fft.irfft(np.fft.rfft(audio, size) * np.fft.rfft(response, size), size)
    return scaled(np.asarray(heard[: len(audio)], np.float32), _rms(audio))


def by_telephone(audio: Audio) -> Audio:
    """The audio after a telephone: 8 kHz, 300 to 3,400 Hz, mu-law, and back to 16 kHz."""
    narrow = soxr.resample(np.clip(audio, -1, 1), SAMPLE_RATE_HZ, _TELEPHONE_HZ)
    spectrum = np.fft.rfft(narrow)
    frequency = np.fft.rfftfreq(len(narrow), 1 / _TELEPHONE_HZ)
    spectrum[(frequency < 300) | (frequency > 3400)] = 0
    narrow = np.clip(np.fft.irfft(spectrum, len(narrow)), -1, 1)
    coded = samples_from_mulaw(mulaw_from_samples(np.asarray(narrow * 32767, np.int16)))
    wide = soxr.resample(coded.astype(np.float32) / 32768, _TELEPHONE_HZ, SAMPLE_RATE_HZ)
    missing = max(len(audio) - len(wide), 0)
    return np.pad(wide, (0, missing))[: len(audio)].astype(np.float32)


def scaled(audio: Audio, rms: float) -> Audio:
    """The audio with another root mean square; silence stays silence."""
    return np.asarray(audio * (rms / max(_rms(audio), 1e-9)), np.float32)


def _rms(audio: Audio) -> float:
    return float(np.sqrt(np.mean(np.square(audio)))) if len(audio) else 0.0


def _looped(clip: Audio, samples: int, rng: np.random.Generator) -> Audio:
    turned = np.roll(clip, int(rng.integers(max(len(clip), 1))))
    return scaled(np.resize(turned, samples), float(rng.uniform(0.3, 1.0)))


def _knock(samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Something that falls or is put down: noise of 20 to 150 ms that dies away."""
    length = min(samples, round(rng.uniform(0.02, 0.15) * SAMPLE_RATE_HZ))
    start = int(rng.integers(samples - length + 1))
    heard = np.zeros(samples)
    heard[start : start + length] = rng.standard_normal(length) * np.exp(
        -5 * np.arange(length) / length
    )
    return heard
