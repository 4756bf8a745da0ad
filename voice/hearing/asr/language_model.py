"""A trigram model of what an agent expects to hear, made from its example phrases.

Each phrase counts the same however many values its slots have: a slot's values share the phrase's
weight. Smoothing is Witten and Bell's, because it stays sound on the fractional counts this gives.
It knows nothing of audio or pronunciation.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

Gram = tuple[str, ...]

_PHRASE_WEIGHT = 12.0
_EXPANSIONS = 120
_SLOT = re.compile(r"\{(\w+)\}")


def words_of(text: str) -> list[str]:
    """Lower-case words of a phrase, apostrophes kept, other punctuation dropped."""
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)*'?", text.lower().replace("’", "'"))


def expand(
    phrases: Sequence[str], values: Mapping[str, Sequence[str]]
) -> Iterator[tuple[list[str], float]]:
    """Fill the slots of each phrase.

    Args:
        phrases: Phrases with ``{slot}`` places.
        values: Slot → its values.

    Yields:
        Words of one filled phrase, and its weight. The same input always gives the same output.

    Raises:
        ValueError: A phrase names a slot that has no values.
    """
    chosen = random.Random(0)
    for phrase in phrases:
        slots = _SLOT.findall(phrase)
        missing = [slot for slot in slots if not values.get(slot)]
        if missing:
            raise ValueError(f"phrase {phrase!r}: got slot {missing[0]!r}; expected one of values")
        decks = [_Deck(values[slot], chosen) for slot in slots]
        count = min(_EXPANSIONS, math.prod(len(values[slot]) for slot in slots))
        count = max(count, *(len(values[slot]) for slot in slots), 1) if slots else 1
        for _ in range(count):
            filled = iter([deck.draw() for deck in decks])
            words = words_of(_SLOT.sub(lambda _match, it=filled: next(it), phrase))  # type: ignore[misc]
            if words:
                yield words, _PHRASE_WEIGHT / count


class _Deck:
    """Values in random order, each once before any comes again."""

    def __init__(self, values: Sequence[str], chosen: random.Random) -> None:
        self._values = values
        self._chosen = chosen
        self._left: list[str] = []

    def draw(self) -> str:
        if not self._left:
            self._left = list(self._values)
            self._chosen.shuffle(self._left)
        return self._left.pop()


def arpa(sentences: Iterable[tuple[Sequence[str], float]]) -> str:
    """An ARPA trigram model of weighted sentences, with Witten-Bell smoothing by interpolation.

    Args:
        sentences: Words and weight of each sentence.

    Returns:
        The text of an ARPA file.

    Raises:
        ValueError: There are no sentences.

    Source:
        Witten and Bell 1991; Chen and Goodman 1998, section 2.5.
    """
    counts: list[Counter[Gram]] = [Counter(), Counter(), Counter()]
    for words, weight in sentences:
        padded = ("<s>", *words, "</s>")
        for order in (1, 2, 3):
            for start in range(len(padded) - order + 1):
                counts[order - 1][padded[start : start + order]] += weight  # type: ignore[assignment]
    if not counts[0]:
        raise ValueError("got no sentences; expected at least one phrase")
    probabilities, backoffs = _smooth(counts)
    return _format(probabilities, backoffs)


def _smooth(
    counts: list[Counter[Gram]],
) -> tuple[list[dict[Gram, float]], dict[Gram, float]]:
    """Probability of each gram seen, and what a history leaves for grams not seen after it."""
    del counts[0][("<s>",)]
    total = sum(counts[0].values())
    probabilities: list[dict[Gram, float]] = [
        {gram: count / total for gram, count in counts[0].items()}
    ]
    backoffs: dict[Gram, float] = {}
    for order in (2, 3):
        mass: defaultdict[Gram, float] = defaultdict(float)
        types: Counter[Gram] = Counter()
        for gram, count in counts[order - 1].items():
            mass[gram[:-1]] += count
            types[gram[:-1]] += 1
        lower = probabilities[-1]
        here = {}
        for gram, count in counts[order - 1].items():
            history = gram[:-1]
            backoffs[history] = types[history] / (mass[history] + types[history])
            here[gram] = (
                count / (mass[history] + types[history]) + backoffs[history] * lower[gram[1:]]
            )
        probabilities.append(here)
    return probabilities, backoffs


def _format(probabilities: list[dict[Gram, float]], backoffs: dict[Gram, float]) -> str:
    lines = ["\\data\\"]
    probabilities[0][("<s>",)] = 1e-99
    lines += [f"ngram {order}={len(grams)}" for order, grams in enumerate(probabilities, 1)]
    for order, grams in enumerate(probabilities, 1):
        lines += ["", f"\\{order}-grams:"]
        for gram, probability in sorted(grams.items()):
            line = f"{math.log10(probability):.4f} {' '.join(gram)}"
            if order < 3:
                line += f" {math.log10(backoffs.get(gram, 1.0)):.4f}"
            lines.append(line)
    return "\n".join([*lines, "", "\\end\\", ""])
