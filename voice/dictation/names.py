"""Tells which words are names, by the order in which Whisper's vocabulary learned its tokens.

A vocabulary with " Prague" but no " prague" has met the word as a name. The words are English.
"""

from __future__ import annotations

from functools import cache

from voice.hearing.asr.packaged import read_file
from voice.understanding.english import VERBS

_NAMED_FROM = 8
"""A name's rank with a capital must be this many times lower than its rank without."""


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
    """Whether a word, given in lower case, is a common one."""
    return f"Ġ{word}" in _ranks()


@cache
def _ranks() -> dict[str, int]:
    """Token → its rank in the order in which the vocabulary learned them."""
    pieces = read_file("tiny.en-short", "vocabulary.txt").decode().split("\n")
    return {piece: rank for rank, piece in enumerate(pieces)}
