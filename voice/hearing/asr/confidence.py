"""How far pocketsphinx's words can be trusted: the guard against speech outside the domain.

A decoder with a small language model turns whatever it hears into the words it knows. What gives
forced words away is not one score but four together: they follow each other in orders the language
model has not seen, cost much language-model score, fit the sound badly, and have near rivals. A
logistic model weighs these; it was fitted on public read speech (LibriSpeech, speechocean762,
Speech Commands) and on commands and orders, clean and with noise and rooms, decoded with both
shipped agents.

Cross-validated at the default threshold of 0.4, of what was recognised rightly 88 to 91% of clean
commands and orders pass, and of read sentences 92 to 100% are rejected. A request that would suit
the other agent passes half the time. What remains today is in benchmarks/results/ears.json.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LANGUAGE_WEIGHT = 6.5
_SCORE_SHIFT = 1024
"""pocketsphinx gives out language scores divided by this, as probabilities."""
_SMALLEST = 1e-300

_BIAS = -1.4301
_PER_LANGUAGE_SCORE = 0.1124
_PER_ORDER = 1.6774
_PER_POSTERIOR = 4.1368
_PER_SOUND_SCORE = 0.5713


@dataclass(frozen=True, slots=True)
class DecodedWord:
    """A word as the decoder found it.

    Attributes:
        frames: How long it lasts, in 10 ms.
        sound_score: Log likelihood of its sound against the best-fitting sounds, nats.
        language_score: Log probability after the words before it, nats.
        order: Words, itself included, that the language model had seen in this order: 1, 2 or 3.
        posterior: In [0, 1]: its share against rivals at the same time.
    """

    frames: int
    sound_score: float
    language_score: float
    order: int
    posterior: float


def confidence(words: Sequence[DecodedWord]) -> float:
    """Probability in [0, 1] that the words are right; 0 when there are none."""
    if not words:
        return 0.0
    frames = sum(word.frames for word in words)
    evidence = (
        _BIAS
        + _PER_LANGUAGE_SCORE * sum(word.language_score for word in words) / len(words)
        + _PER_ORDER * sum(word.order for word in words) / len(words)
        + _PER_POSTERIOR * min(word.posterior for word in words)
        + _PER_SOUND_SCORE * sum(word.sound_score for word in words) / frames
    )
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, evidence))))


def decoded_word(
    frames: int, sound: float, language: float, order: int, posterior: float
) -> DecodedWord:
    """A word from the probabilities that pocketsphinx gives out, taken back into nats.

    Args:
        frames: As `DecodedWord.frames`.
        sound: Likelihood of its sound against the best-fitting sounds; 1 is as good.
        language: Probability after the words before it, the decoder's scaling in it.
        order: As `DecodedWord.order`.
        posterior: As `DecodedWord.posterior`; rounding may leave it above 1.
    """
    return DecodedWord(
        frames,
        math.log(max(sound, _SMALLEST)),
        math.log(max(language, _SMALLEST)) * _SCORE_SHIFT / LANGUAGE_WEIGHT,
        order,
        min(1.0, posterior),
    )
