"""How much a short stretch of speech sounds like a word that asks the speaker to go on.

A small convolutional network hears its log-mel spectrum as a whole, without knowing any words:
what a recogniser takes a lone "right" or "mm-hmm" for depends on its vocabulary. The weights are in
`backchannel_sound.npz`; ``python -m benchmarks.voice.fit_backchannels`` fits them.

Shapes: T samples, N analysis frames of 32 ms every 10 ms, M mel bands, C channels, K classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice.types import SAMPLE_RATE_HZ, Samples, samples_of_ms

Array = NDArray[np.float32]

WEIGHTS_FILE = Path(__file__).with_suffix(".npz")
BANDS = 24
FRAMES = 100
LAYERS = ("first", "second", "third")
STRIDES = (2, 2, 1)
SHORTEST_MS = 120
"""Of less than that nothing is said: any scrap of a word sounds like any other."""
LONGEST_MS = 1000
"""What is longer is no single word, and none of the network's business."""
BEFORE_MS = 100
"""Audio before the detected start that is heard as well: a soft first sound."""
AFTER_MS = 60
"""Audio behind the detected end that is heard as well: the last sound of "right" comes behind a gap
that counts as silence."""

_HOP = SAMPLE_RATE_HZ // 100
_FRAME = 512
_LOWEST_HZ, _HIGHEST_HZ = 80.0, 7000.0
_PREEMPHASIS = 0.97
_FLOOR = 1e3
"""Added to the power in each band: silence of any depth looks alike."""
_SCALE = 5.0


def asks_to_go_on(heard: Samples, speech: int, silence: int) -> float | None:
    """Log odds that a short stretch of speech asks the speaker to go on; about 2 ms.

    Args:
        heard: (T,) int16 at 16 kHz up to now.
        speech: How many samples of it are the speech.
        silence: How many samples have followed the speech; the first `AFTER_MS` of them count.

    Returns:
        None for speech of less than `SHORTEST_MS`, or more than `LONGEST_MS`.
    """
    if not is_short(speech):
        return None
    end = len(heard) - silence
    first = max(0, end - speech - samples_of_ms(BEFORE_MS))
    return log_odds(spectrum(heard[first : end + samples_of_ms(AFTER_MS)]), load())


def is_short(speech: int) -> bool:
    """Whether so many samples of speech may be a single word."""
    return samples_of_ms(SHORTEST_MS) <= speech <= samples_of_ms(LONGEST_MS)


def log_odds(inputs: Array, weights: Mapping[str, Array]) -> float:
    """Log odds that a (FRAMES, M) spectrum is of a class that asks to go on."""
    scores, agrees = network(inputs, weights), weights["agrees"] > 0
    return _log_sum(scores[agrees]) - _log_sum(scores[~agrees])


@cache
def load(path: Path = WEIGHTS_FILE) -> Mapping[str, Array]:
    """The weights: for each layer a kernel and a bias, and which classes ask to go on."""
    with np.load(path) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}


def spectrum(samples: Samples) -> Array:
    """(FRAMES, M) float32: the last second's log-mel spectrum about its mean over time.

    Shorter audio is taken to follow on silence.
    """
    wide = samples[-(_FRAME + (FRAMES - 1) * _HOP) :].astype(np.float64)
    wide = np.pad(wide, (max(0, _FRAME - len(wide)), 0))
    sharp = np.append(wide[:1], wide[1:] - _PREEMPHASIS * wide[:-1])
    frames = np.lib.stride_tricks.sliding_window_view(sharp, _FRAME)[::_HOP]
    power = np.abs(np.fft.rfft(frames * np.hanning(_FRAME), axis=1)) ** 2
    level = np.log(power @ _mel_bands().T + _FLOOR)
    level = (level - level.mean(axis=0)) / _SCALE
    silence = np.repeat(level.min(axis=0)[None], FRAMES - len(level), axis=0)
    return np.concatenate([silence, level]).astype(np.float32)


def network(inputs: Array, weights: Mapping[str, Array]) -> Array:
    """(K,) scores of one (FRAMES, M) spectrum, before the softmax."""
    found = inputs
    for name, stride in zip(LAYERS, STRIDES, strict=True):
        kernel = weights[f"{name}.weight"]
        windows = np.lib.stride_tricks.sliding_window_view(found, kernel.shape[2], axis=0)[::stride]
        flat = windows.reshape(len(windows), -1) @ kernel.reshape(len(kernel), -1).T
        found = np.maximum(flat + weights[f"{name}.bias"], 0)
    pooled = np.concatenate([found.mean(axis=0), found.max(axis=0)])
    return np.asarray(weights["out.weight"] @ pooled + weights["out.bias"])


@cache
def _mel_bands() -> NDArray[np.float64]:
    """(M, bins) triangles that are evenly spaced on the mel scale."""

    def mel(hz: float) -> float:
        return float(2595 * np.log10(1 + hz / 700))

    edges = 700 * (10 ** (np.linspace(mel(_LOWEST_HZ), mel(_HIGHEST_HZ), BANDS + 2) / 2595) - 1)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bins = np.arange(_FRAME // 2 + 1) * SAMPLE_RATE_HZ / _FRAME
    rising, falling = (bins - low) / (middle - low), (high - bins) / (high - middle)
    return np.asarray(np.maximum(0, np.minimum(rising, falling)))


def _log_sum(scores: NDArray[Any]) -> float:
    top = scores.max()
    return float(top + np.log(np.exp(scores - top).sum()))
