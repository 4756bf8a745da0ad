"""Words that tell an intent's sentences from those of others: what a tool for it might be called.

A corpus names an intent once; developers name one and the same tool in many ways, most of them
words that its users say. So the names are taken from the sentences themselves.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

LONGEST = 3
"""Words of a phrase."""
_LEAST = 0.18
"""Share of an intent's sentences times the logarithm of how few intents use the word: what a word
must have at least. It leaves out words of one sentence and words of everywhere."""
_RARE = 0.01
"""Share of an intent's sentences from which on it counts as using a word."""
_WORD = re.compile(r"[a-z]{3,}")
_SMALL_WORDS = """
about after again all and any anything are been before being but can could did didn does doesn
doing don for from get gets getting give going got had has have having hey her here him his how
into its just know let like looking may maybe might mine must need needs not now off okay one
onto our out over please really right say says see seem she should show since some someone
something such take tell than thank thanks that the their them then there these they thing think
this those through told too trying until use using very wait want wanna was way well went were
what whats when where which while who whose why will with won would yeah yes yet you your
"""
_SMALL = frozenset(_SMALL_WORDS.split())
"""Words that no tool is named after."""


def phrases(sentences: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """For each intent what its sentences tell in at most `LONGEST` words, in the order said.

    Args:
        sentences: Intent → its sentences, without the values of slots.

    Returns:
        Intent → distinct phrases with underscores between words, the commonest first; an intent
        without telling words is left out.
    """
    shares = {intent: _shares(texts) for intent, texts in sentences.items()}
    users = Counter(w for found in shares.values() for w, s in found.items() if s >= _RARE)
    told: dict[str, tuple[str, ...]] = {}
    for intent, texts in sentences.items():
        weights = {
            word: share * math.log(len(sentences) / users[word])
            for word, share in shares[intent].items()
            if share >= _RARE
        }
        found = Counter(filter(None, (_phrase(text, weights) for text in texts)))
        if found:
            told[intent] = tuple(phrase for phrase, _ in found.most_common())
    return told


def _shares(sentences: Iterable[str]) -> dict[str, float]:
    held = [set(_WORD.findall(text.lower())) for text in sentences]
    counts = Counter(w for h in held for w in h if w not in _SMALL)
    return {word: n / len(held) for word, n in counts.items()}


def _phrase(text: str, weights: Mapping[str, float]) -> str:
    said = [w for w in dict.fromkeys(_WORD.findall(text.lower())) if weights.get(w, 0.0) >= _LEAST]
    best = sorted(said, key=lambda w: -weights[w])[:LONGEST]
    return "_".join(w for w in said if w in best)
