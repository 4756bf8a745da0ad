"""Makes up words that the model cannot know, so that it has to copy them."""

from __future__ import annotations

from random import Random

from dlm.datagen.language.words import WORDS

_CONSONANTS, _VOWELS = "bcdfghklmnprstvwz", "aeiou"
_BLENDED = ("noun", "adjective", "item", "name", "place", "surname", "company", "drink")
"""Lists whose words blends are made of."""


def salad(rng: Random) -> str:
    """One to three random words, some of them made up, which can only be copied."""
    roll = rng.random()
    if roll < 0.3:
        return pseudo_word(rng)
    if roll < 0.75:
        return f"{rng.choice(WORDS['adjective'])} {rng.choice(WORDS['noun'])}"
    joint = rng.choice(("of", "for", "under"))
    return f"{rng.choice(WORDS['noun'])} {joint} {rng.choice(WORDS['noun'])}"


def blend(rng: Random) -> str:
    """The beginning of one word and the end of another, which looks like an unknown word."""
    first, last = (rng.choice(WORDS[rng.choice(_BLENDED)]).split()[0].lower() for _ in range(2))
    return first[: rng.randint(2, max(2, len(first) - 1))] + last[-rng.randint(2, 4) :]


def pseudo_word(rng: Random) -> str:
    """A pronounceable word of two or three syllables that means nothing."""
    return "".join(
        rng.choice(_CONSONANTS) + rng.choice(_VOWELS) + rng.choice(("", "", "n", "r", "l", "s"))
        for _ in range(rng.randint(2, 3))
    )
