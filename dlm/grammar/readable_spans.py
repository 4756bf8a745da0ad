"""Finds the spans of texts that a reader can read, for parameters whose values must be readable.

It knows nothing of tokens or of what readers read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from dlm.grammar.distinct_spans import PIECES
from dlm.grammar.said import places
from dlm.language.messages import Reader

READ_PIECES = 23
"""Like `dlm.grammar.said.SPAN_PIECES`, for what a reader reads: twelve words and the spaces."""

_REFERRING = re.compile(
    r"\b(?:it|its|that|this|them|those|these|one|ones|both|the same)\b|^\W*no\b", re.IGNORECASE
)


def readable(texts: Sequence[str], reader: Reader) -> list[str]:
    """The spans of some texts, of at most twelve words, that a reader can read."""
    found = [span for text in texts for span in _read(text, reader.read, reader.whole)]
    if found or reader.hardly is None:
        return found
    return [span for text in texts for span in _read(text, reader.hardly, reader.whole)]


def _read(text: str, read: Callable[[str], object], whole: bool) -> list[str]:
    pieces = PIECES.findall(text)
    meant: dict[tuple[int, int], object] = {}
    for start, end in places(pieces, READ_PIECES):
        meaning = read("".join(pieces[start:end]))
        if meaning is not None:
            meant[start, end] = meaning
    kept = [one for one in meant if not (whole and _is_part(one, meant))]
    return ["".join(pieces[start:end]) for start, end in kept]


def _is_part(place: tuple[int, int], meant: Mapping[tuple[int, int], object]) -> bool:
    """Whether a span is part of one that means something else."""
    start, end = place
    return any(
        outer[0] <= start and end <= outer[1] and meaning != meant[place]
        for outer, meaning in meant.items()
    )


def refers_back(text: str) -> bool:
    """Whether words of a text may refer to something that was named before it."""
    return _REFERRING.search(text) is not None
