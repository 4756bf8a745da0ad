"""Which words are names, by the order in which Whisper's vocabulary learned its pieces.

One that has " Prague" and no " prague" has met the word as a name. English.
"""

from __future__ import annotations

from functools import cache

from voice.hearing.asr.packaged import read_file
from voice.understanding.english import VERBS

_NAMED_FROM = 8
"""How much earlier the vocabulary must have met the word with a capital than without."""


@cache
def is_name(word: str) -> bool:
    """Whether a word, in lower case, is hardly ever written without a capital.

    >>> is_name("prague"), is_name("monday"), is_name("summer"), is_name("may")
    (True, True, False, False)
    """
    name, plain = _ranks().get(f"Ġ{word.capitalize()}"), _ranks().get(f"Ġ{word}")
    if name is None or len(word) < 3 or word in VERBS:
        return False
    return plain is None or name * _NAMED_FROM < plain


def is_word(word: str) -> bool:
    """Whether a word, in lower case, is a common one."""
    return f"Ġ{word}" in _ranks()


@cache
def _ranks() -> dict[str, int]:
    """Pieces of words, and when the vocabulary learned them."""
    pieces = read_file("tiny.en-short", "vocabulary.txt").decode().split("\n")
    return {piece: rank for rank, piece in enumerate(pieces)}
