"""Search words for a full-text index, from English questions: all but the most common words."""

from __future__ import annotations

import re

MOST_WORDS = 32
"""Longest query: for two thousand words an index takes many seconds and is locked meanwhile."""
_STOP_WORDS = """
a about again am an and any anything are at be been by can could did do does for from had has have
how i in is it me my of on or our please say should tell that the their there this to was we were
what when where which who whose will with would you your
"""
_STOPS = frozenset(_STOP_WORDS.split())
_JOINED = {"wifi": "wi fi", "email": "e mail"}
"""A word → the two words that an index makes of it where it is written with a hyphen."""


def content_words(text: str) -> list[str]:
    """The first `MOST_WORDS` words of a text that are not stop words, each once, in lower case."""
    text = text.lower()
    for joined, parted in _JOINED.items():
        text = re.sub(rf"\b{parted.replace(' ', '[- ]')}(?=s?\b)", joined, text)
    said = re.findall(r"\w+", re.sub(r"['’](?:s|re|ll|ve|m|d)\b", "", text))
    return [word for word in dict.fromkeys(said) if word not in _STOPS][:MOST_WORDS]


def phrase_query(words: list[str], joint: str = " OR ") -> str:
    """A query of SQLite's FTS5 for some words."""
    both = ((word, _JOINED.get(word)) for word in words)
    return joint.join(
        f'("{word}" OR "{parted}")' if parted else f'"{word}"' for word, parted in both
    )
