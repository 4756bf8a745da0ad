"""Words to search by, in English: those of a question that are not in every other sentence."""

from __future__ import annotations

import re

MOST_WORDS = 32
"""Longest query: for two thousand words an index takes many seconds, and is locked."""
_STOP_WORDS = """
a about am an and any anything are at be been by can could did do does for from had has have how
i in is it me my of on or our say should tell that the their there this to was we were what when
where which who whose will with would you your
"""


def content_words(text: str) -> list[str]:
    """The first words of a text that are no stop words, each once, in lower case."""
    stops = _STOP_WORDS.split()
    said = re.findall(r"\w+", re.sub(r"['’](?:s|re|ll|ve|m|d)\b", "", text.lower()))
    return [word for word in dict.fromkeys(said) if word not in stops][:MOST_WORDS]


def phrase_query(words: list[str], joint: str = " OR ") -> str:
    """An expression of SQLite's FTS5 for words."""
    return joint.join(f'"{word}"' for word in words)
