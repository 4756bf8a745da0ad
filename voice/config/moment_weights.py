"""How likely a message is a moment of each kind, by its words: a linear model, fitted to sentences.

It finds what no pattern thought of. The inputs are the words, pairs of neighbouring words, and
pieces of four letters, hashed. `benchmarks.voice.fit_moments` writes its weights.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WEIGHTS_FILE = Path(__file__).with_name("moments.npz")
KINDS = ("emergency", "self_harm", "abuse", "person")
BUCKETS = 2**15
"""D, the number of inputs."""
LONGEST = 60
"""Words of a message that are read, the last ones."""
_PIECE = 4
_MARGIN = 0.05
"""Log odds between a message that is of no kind and the threshold."""


TakenOff = tuple[tuple[NDArray[np.int64], NDArray[np.float32]], ...]
"""Inputs (N,) of messages that are of no kind, and log odds (K,) that these lose."""


def likely_kind(words: str, less: TakenOff = ()) -> str:
    """The kind of moment that a message is likely to be; empty for none.

    Args:
        words: Plain words, as of `voice.config.moments.plain_words`.
        less: As of `taken_off`.
    """
    found = inputs(words)
    if not len(found):
        return ""
    scores = _over(found, less)
    best = int(scores.argmax())
    return KINDS[best] if scores[best] > 0 else ""


def taken_off(messages: Iterable[str]) -> TakenOff:
    """What messages of no kind, and others by the inputs that they share, lose to be of none.

    One step of a passive-aggressive learner for each message that would be of a kind.
    """
    less: TakenOff = ()
    for found in map(inputs, messages):
        if len(found) and (over := _over(found, less)).max() > 0:
            less += ((found, np.maximum(over + _MARGIN, 0)),)
    return less


def _over(found: NDArray[np.int64], less: TakenOff) -> NDArray[np.float32]:
    """(K,) log odds of a message over the thresholds, by its inputs (N,)."""
    weights, bias, least = stored()
    scores = weights[found].sum(0) / np.sqrt(len(found)) + bias - least
    for other, lost in less:
        shared = len(np.intersect1d(found, other, assume_unique=True))
        scores -= shared / np.sqrt(len(found) * len(other)) * lost
    return np.asarray(scores, np.float32)


def inputs(words: str) -> NDArray[np.int64]:
    """(N,) numbers below `BUCKETS` of what a message has, each once."""
    features = _features(words.split()[-LONGEST:])
    return np.array(sorted({zlib.crc32(one.encode()) % BUCKETS for one in features}), np.int64)


def _features(words: list[str]) -> Iterator[str]:
    yield from words
    yield from (f"{one} {other}" for one, other in zip(["^", *words], [*words, "$"], strict=True))
    for word in words:
        if len(word) > _PIECE and re.fullmatch(r"[a-z']+", word):
            marked = f"<{word}>"
            yield from (f"~{marked[at : at + _PIECE]}" for at in range(len(marked) - _PIECE + 1))


@cache
def stored() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Weights (D, K), biases (K,) and thresholds (K,) of the kinds' log odds."""
    with np.load(WEIGHTS_FILE) as file:
        weights, bias, least = (file[name].astype(np.float32) for name in file.files)
    return weights, bias, least
