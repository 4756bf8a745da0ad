"""Whether a reply's numbers come from somewhere: the last guard against a made-up time or price."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[a-z]+")


@lru_cache(maxsize=1)
def _number_words() -> dict[str, str]:
    from num2words import num2words

    words = {num2words(n): str(n) for n in [*range(2, 21), *range(30, 100, 10)]}
    return {**words, "hundred": "100", "thousand": "1000"}


def numbers(text: str) -> set[str]:
    """Numbers in a text, as digits or words; "one" is left out, for it is often no number."""
    words = _number_words()
    lowered = text.lower()
    found = {match.replace(",", "") for match in _NUMBER.findall(lowered)}
    return found | {words[word] for word in _WORD.findall(lowered) if word in words}


def is_grounded(text: str, sources: Iterable[str]) -> bool:
    """Whether every number of a text stands in one of the sources."""
    known: set[str] = {"1"}
    for source in sources:
        known |= numbers(source)
    return numbers(text) <= known
