"""Messages as people type them in haste: short forms, letters left out, drinks spelt as they sound.

It works on pieces, as `dlm.datagen.language.noise` does: arguments are copied as they are written.
"""

from __future__ import annotations

from random import Random

from dlm.datagen.language.mentions import FRAME
from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.spontaneous import SIDE
from dlm.datagen.language.tables import Lists, read

_TEXTED = read("texted", dict[str, Lists])
_SPELT = {wrong: word for word, options in _TEXTED["values"].items() for wrong in options}
_SLIP = 0.03
"""Share of words outside parameters that get a typing error."""


def spelt(drink: str) -> str:
    """A drink in lower case, spelt as on the menu."""
    return " ".join(_SPELT.get(word, word) for word in drink.lower().split())


def texted(rng: Random, pieces: list[Piece]) -> list[Piece]:
    """Pieces as somebody in a hurry types them."""
    return [Piece(_written(rng, p.text, p.slot in ("", SIDE, FRAME)), p.slot) for p in pieces]


def _written(rng: Random, text: str, plain: bool) -> str:
    known = _TEXTED["plain" if plain else "values"]
    share = 0.45 if plain else 0.25
    words = text.split(" ")
    for at, word in enumerate(words):
        if word in known and rng.random() < share:
            words[at] = rng.choice(known[word])
        elif plain and len(word) > 4 and word.isalpha() and rng.random() < _SLIP:
            i = rng.randrange(1, len(word) - 1)
            swapped = f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}"
            words[at] = rng.choice((swapped, word[:i] + word[i + 1 :]))
    return " ".join(words)
