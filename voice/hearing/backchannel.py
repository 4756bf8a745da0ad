"""Whether something said while the agent speaks is a backchannel or is meant to interrupt it.

"Mm-hmm" and "right" tell the speaker to go on. The same words are answers when the agent has just
asked something. Single words are hard to recognise, so the evidence of the recognised words and
that of the sound are added as log odds. The words are English. The sound is judged by a small
convolutional network over the log-mel spectrum. It knows no words, because what a recogniser makes
of a lone "right" or "mm-hmm" depends on its vocabulary. Its weights are in `backchannel.npz`;
``python -m benchmarks.voice.fit_backchannels`` fits them.

Shapes: T samples, N analysis frames of 32 ms every 10 ms, M mel bands, C channels, K classes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice.types import SAMPLE_RATE_HZ, Samples, samples_of_ms

UNDERSTOOD, UNDERSTOOD_ELSE = 7.0, -2.0
GUESSED, GUESSED_ELSE = 3.0, 1.0
"""Log odds that words add to those of the sound: words that are backchannels, and others.
Set on the tuning half of benchmarks/voice/interruptions.py. Guesses count little: most are wrong.
"""


def _phrases(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


_HUMS = _phrases(
    "mm|mmm|mhm|mmhm|mm hm|mm hmm|mhmm|mmhmm|hm|hmm|hmmm|hum|uh|uh huh|uhhuh|um|ah|aha|oh|ooh|wow"
    "|huh|er"
)
_AGREEING = _phrases(
    "right|okay|ok|yeah|yes|yep|yup|sure|good|great|nice|cool|fine|exactly|true|really|indeed"
    "|i see|got it|of course|all right|alright|that's right|sounds good|very good|oh okay|oh yeah"
    "|i know|makes sense|perfect"
)

_PARTING = _phrases(
    "bye|goodbye|good bye|good night|see you|see you later|later|take care|thanks|thank you"
)


def is_parting(text: str) -> bool:
    """Whether the words say goodbye, or agree to one, and nothing else."""
    words = _words(text)
    return bool(words) and _is_made_of(words, _HUMS | _AGREEING | _PARTING)


def is_backchannel(text: str, answering: bool = False) -> bool:
    """Whether the words do no more than tell the speaker to go on.

    Args:
        text: All the words; case and punctuation do not matter.
        answering: Whether the agent has asked something; then only hums are backchannels.

    Returns:
        False for empty text too.
    """
    words = _words(text)
    return bool(words) and _is_made_of(words, _HUMS if answering else _HUMS | _AGREEING)


def interrupts(
    text: str,
    answering: bool = False,
    guess: str = "",
    sound_odds: float | None = None,
) -> bool:
    """Whether a sound made while the agent speaks is meant to stop it.

    Args:
        text: What was recognised.
        answering: See `is_backchannel`.
        guess: Doubtful words, used where `text` is empty. A "right" amid noise may be guessed as
            "not right", so one backchannel among these words is enough.
        sound_odds: Log odds, judged by the sound, that it is a backchannel; None if unknown.
            Ignored if the agent has asked something, because an answer sounds the same.
    """
    words, guessed = _words(text), _words(guess)
    if sound_odds is not None and not answering and (words or guessed):
        return sound_odds + _by_words(words, guessed) < 0
    if words:
        return not is_backchannel(text, answering)
    return bool(guessed) and not _any_backchannel(guessed, answering)


def _by_words(words: list[str], guessed: list[str]) -> float:
    """Log odds, judged by the words, that they are a backchannel."""
    if words:
        return UNDERSTOOD if _is_made_of(words, _HUMS | _AGREEING) else UNDERSTOOD_ELSE
    return GUESSED if _any_backchannel(guessed) else GUESSED_ELSE


def _any_backchannel(words: list[str], answering: bool = False) -> bool:
    return any(is_backchannel(word, answering) for word in words)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower().replace("’", "'").replace("-", " "))


def _is_made_of(words: list[str], phrases: frozenset[str]) -> bool:
    """Whether the words are a sequence of the phrases, such as "okay right".

    Phrases of more than three words are not found.
    """
    reached = {0}
    for end in range(1, len(words) + 1):
        starts = reached.intersection(range(end - 3, end))
        if any(" ".join(words[start:end]) in phrases for start in starts):
            reached.add(end)
    return len(words) in reached


Array = NDArray[np.float32]

WEIGHTS_FILE = Path(__file__).with_suffix(".npz")
BANDS = 24
FRAMES = 100
LAYERS = ("first", "second", "third")
STRIDES = (2, 2, 1)
SHORTEST_MS = 120
"""Shorter speech is not judged: scraps of words all sound alike."""
LONGEST_MS = 1000
"""Longer speech is not a single word."""
BEFORE_MS = 100
"""Audio before the detected start that the network also gets, for a soft first sound."""
AFTER_MS = 60
"""Audio after the detected end that it also gets: the "t" of "right" follows a gap that counts as
silence."""

_HOP = SAMPLE_RATE_HZ // 100
_FRAME = 512
_LOWEST_HZ, _HIGHEST_HZ = 80.0, 7000.0
_PREEMPHASIS = 0.97
_FLOOR = 1e3
"""Added to the power in each band, so that all silence looks alike, however deep."""
_SCALE = 5.0


def sound_log_odds(samples: Samples, speech: int, silence: int) -> float | None:
    """Log odds that a short stretch of speech is a backchannel; takes about 2 ms.

    Args:
        samples: (T,) int16 at 16 kHz, up to the current position.
        speech: Length of the speech, in samples.
        silence: Number of samples after the speech; the network gets the first `AFTER_MS` of them.

    Returns:
        None for speech shorter than `SHORTEST_MS` or longer than `LONGEST_MS`.
    """
    if not is_short(speech):
        return None
    end = len(samples) - silence
    first = max(0, end - speech - samples_of_ms(BEFORE_MS))
    return log_odds(spectrum(samples[first : end + samples_of_ms(AFTER_MS)]), load())


def is_short(speech: int) -> bool:
    """Whether speech of this many samples may be a single word."""
    return samples_of_ms(SHORTEST_MS) <= speech <= samples_of_ms(LONGEST_MS)


def log_odds(inputs: Array, weights: Mapping[str, Array]) -> float:
    """Log odds that a (FRAMES, M) spectrum belongs to one of the backchannel classes."""
    scores, agrees = network(inputs, weights), weights["agrees"] > 0
    return _log_sum(scores[agrees]) - _log_sum(scores[~agrees])


@cache
def load() -> Mapping[str, Array]:
    """The weights: for each layer a kernel and a bias, and which classes are backchannels."""
    with np.load(WEIGHTS_FILE) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}


def spectrum(samples: Samples) -> Array:
    """The log-mel spectrum of the last second, less its mean over time: (FRAMES, M) float32.

    Shorter audio is padded in front with its quietest level.
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
    """Class scores of a (FRAMES, M) spectrum, before the softmax: (K,)."""
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
    """Triangular filters, evenly spaced on the mel scale: (M, bins)."""

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
