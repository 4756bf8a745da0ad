"""Whether a reply's numbers have a source: the last guard against a made-up time or price."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CLOCK = re.compile(r"(?<![\d:.,])(\d{1,2}):(\d\d)(?!\d)")
_DATE = re.compile(r"(?<!\d)\d{4}-(\d\d)-(\d\d)(?!\d)")
_WORD = re.compile(r"[a-z]+")


@lru_cache(maxsize=1)
def _number_words() -> dict[str, str]:
    from num2words import num2words

    words = {num2words(n): str(n) for n in [*range(2, 21), *range(30, 100, 10)]}
    return {**words, "hundred": "100", "thousand": "1000"}


def numbers(text: str) -> set[str]:
    """Numbers in a text, in digits or words; "one" is ignored, since it is often no number."""
    words = _number_words()
    lowered = text.lower()
    found = {match.replace(",", "") for match in _NUMBER.findall(lowered)}
    return found | {words[word] for word in _WORD.findall(lowered) if word in words}


def _retold(source: str) -> Iterator[str]:
    """The numbers with which people say what programs write.

    "19:30" is said as 7:30, "2026-05-03" has a 3, and a JSON list has a length.
    """
    for hour, minute in _CLOCK.findall(source):
        yield f"{int(hour) % 12 or 12}:{minute}"
    yield from (day.lstrip("0") for date in _DATE.findall(source) for day in date)
    if source.lstrip()[:1] in ("[", "{"):
        try:
            yield from map(str, _lengths(json.loads(source)))
        except (ValueError, RecursionError):
            return


def _lengths(value: object) -> Iterator[int]:
    """Lengths of all lists in a JSON value."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, list):
        yield len(value)
    for part in parts:
        yield from _lengths(part)


def is_grounded(text: str, sources: Iterable[str]) -> bool:
    """Whether every number in a text is in one of the sources, or is another form of one there."""
    known: set[str] = {"1"}
    for source in sources:
        known |= numbers(source)
        known.update(_retold(source))
    return numbers(text) <= known
