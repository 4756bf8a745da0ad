"""How likely a pause is the end of the turn, by words, model and voice: a network of a few units.

Its inputs are few and each is something by itself, since the recordings it is fitted to are few.
Where one can only speak for an end, or only against it, the network cannot turn it round: the
weights of the first `RISING` inputs are never negative, nor are those of the units. What is not
known yet has an input that says nothing. The weights are in `turn_end_network.npz`;
``python -m benchmarks.voice.fit_endings`` fits them.

Shapes: F inputs, U units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice.hearing.completeness import Completeness, reads_complete
from voice.hearing.prosody import Prosody

Array = NDArray[np.floating[Any]]

WEIGHTS_FILE = Path(__file__).with_suffix(".npz")
RISING = 5
"""The first inputs: more of them never makes an end less likely."""
INPUTS = 7
OPINION_RANGE = (-10.0, 2.0)
"""Log odds of the model beyond which more says no more."""
SURE_ENOUGH = 0.85
"""Log odds of the recogniser's confidence above which nothing is doubtful."""

_LEAST_SURE = -3.15
_VOICE_RANGE = 2.0
_PROSODY = (-0.0777, 0.0147, -0.0261, 0.0199, -0.0011, -0.2496)
_PROSODY_AT = (-2.1, -0.8, -14.8, -11.5, 184.2, 0.6)


def inputs_of(
    text: str, sure: float, opinion: float | None = None, prosody: Prosody | None = None
) -> Array:
    """What is known of a pause as the network's inputs, each around one.

    Args:
        text: What was understood up to the pause, not empty.
        sure: The recogniser's confidence in the last words of it, in [0, 1].
        opinion: The language model's probability that the message ends here; None while unknown.
        prosody: How the speech before the pause sounded; None while unknown.

    Returns:
        (F,): whether the text reads complete; whether it does not read incomplete; the opinion;
        confidence; the voice's evidence; whether the opinion is unknown; how many words there are.
    """
    reads = reads_complete(text)
    lowest, highest = OPINION_RANGE
    thought = 0.0 if opinion is None else max(lowest, min(highest, log_odds(opinion))) + 3
    doubt = max(_LEAST_SURE, min(SURE_ENOUGH, log_odds(sure))) - SURE_ENOUGH
    spoken = max(-_VOICE_RANGE, min(_VOICE_RANGE, voice_evidence(prosody)))
    return np.array(
        [
            float(reads is Completeness.COMPLETE),
            -float(reads is Completeness.INCOMPLETE),
            thought / 4,
            doubt / 2,
            spoken,
            float(opinion is None),
            math.log1p(len(text.split())) - 1.5,
        ]
    )


def score(inputs: Array, weights: Mapping[str, Array]) -> Array:
    """Log odds that the turn is over.

    Args:
        inputs: (..., F), see `inputs_of`.
        weights: See `load`.

    Returns:
        (...,).
    """
    units = np.tanh(inputs @ weights["into"] + weights["bias"])
    return np.asarray(units @ weights["out"] + inputs @ weights["past"] + weights["at"])


@cache
def load(path: Path = WEIGHTS_FILE) -> Mapping[str, Array]:
    """The weights: `into` (F, U) and `bias` (U,) of the units, `out` (U,), `past` (F,), `at` ()."""
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def voice_evidence(prosody: Prosody | None) -> float:
    """Log odds that speech is over by how it sounded, among adults who read short sentences.

    Source: the logistic regression of ``benchmarks.voice.fit_endings --voice``.
    """
    if prosody is None:
        return 0.0
    return float((prosody.vector() - _PROSODY_AT) @ _PROSODY)


def log_odds(probability: float) -> float:
    """ln(p / (1 - p)), finite for every p in [0, 1]."""
    inside = max(1e-9, min(1 - 1e-9, probability))
    return math.log(inside / (1 - inside))
