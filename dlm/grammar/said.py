"""Restricts values of a JSON schema to what texts say, so that a small model chooses one of those.

Strings become spans, numbers those that were said, and days and times those that the texts name.
JSON Schema can only list them, so they are listed. Where the schema restricts a value further, only
those that fit are listed; if none fits, that part of the schema stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from dlm.grammar.distinct_spans import APOSTROPHES, PIECES
from dlm.grammar.schemas import rewritten
from dlm.language.schema import options, told_of
from dlm.language.spoken_numbers import is_unread, numbers_in
from dlm.language.written_dates import dates_in, times_in

SPAN_PIECES = 24
"""Longest span of a text in JSON, in pieces: words and what stands between them."""
MOST_SPANS = 1000
LONGEST_SPAN = 200
"""In characters: a text without spaces has few pieces, which may be long."""

_AROUND = ".,;:!?\"'`()[]<>{}“”‘’«»"
_DEFINED = "x-said"
_REMARKS = {"type", "title", "description", "default", "examples", "x-as-said"}

Accepts = Callable[[Mapping[str, Any]], Callable[[Any], bool]]
"""Returns, for a schema, a function that tells whether a value is valid under it."""


@dataclass(frozen=True, slots=True)
class Said:
    """What some texts say, without duplicates.

    Attributes:
        spans: Words between spaces, and runs of pieces; the longer the texts, the shorter the runs.
        numbers: Numbers in words or figures; empty if the texts also say some that cannot be read.
        words: The number of words.
        texts: All the texts.
        formatted: For the ``format`` of a string, the days or times in that format.
    """

    spans: tuple[str, ...]
    numbers: tuple[int | float, ...]
    words: int
    texts: tuple[str, ...]
    formatted: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Said:
        """What some texts say."""
        pieces = [PIECES.findall(text) for text in texts]
        longest = max(1, min(SPAN_PIECES, MOST_SPANS // max(1, sum(map(len, pieces)))))
        # Whole words as well: a code may have more pieces than a run.
        words = (word.strip(_AROUND) for text in texts for word in text.split())
        several = (run for one in pieces for run in runs(one, longest))
        found = (one for one in chain(words, several) if 0 < len(one) <= LONGEST_SPAN)
        read = [] if any(map(is_unread, texts)) else list(map(numbers_in, texts))
        numbers = islice((value for one in read for value, _, _ in one), MOST_SPANS)
        return cls(
            tuple(dict.fromkeys(islice(found, MOST_SPANS))),
            tuple(dict.fromkeys(map(json.loads, numbers))),
            sum(len(text.split()) for text in texts),
            tuple(texts),
            _formatted(texts),
        )

    def of_kind(self, kind: str, shape: Any = None) -> Sequence[str | int | float]:
        """The values for a JSON type: a string, of some format perhaps, an integer or a number."""
        if kind != "string":
            return self.numbers
        known = self.formatted.get(shape, ()) if isinstance(shape, str) else ()
        if shape == "date" and known:
            return known
        return tuple(dict.fromkeys((*known, *self.spans)))

    def with_days(self, days: Sequence[str]) -> Said:
        """A copy with these days as the ones that were said."""
        return replace(self, formatted={**self.formatted, "date": days})


def _formatted(texts: Sequence[str]) -> dict[str, Sequence[str]]:
    # Joined, because the year of a date may stand in another message.
    dates = dates_in("\n".join(texts))
    times = [time for text in texts for time in times_in(text)]
    both = (f"{day}T{time}" for day in dates for time in times)
    return {"date": dates, "time": times, "date-time": list(islice(both, MOST_SPANS))}


def runs(pieces: Sequence[str], longest: int = SPAN_PIECES) -> Iterator[str]:
    """Runs of pieces of a text that begin and end with a word."""
    for start, end in places(pieces, longest):
        yield "".join(pieces[start:end])


def places(pieces: Sequence[str], longest: int) -> Iterator[tuple[int, int]]:
    """The places of such runs: indices of the first piece and of the one after the last."""
    for start, first in enumerate(pieces):
        if first[0] in APOSTROPHES or not any(letter.isalnum() for letter in first):
            continue
        for end in range(start, min(start + longest, len(pieces))):
            if any(letter.isalnum() for letter in pieces[end]):
                yield start, end + 1


def with_said(schema: Mapping[str, Any], said: Said, accepts: Accepts) -> dict[str, Any]:
    """A schema whose strings and numbers are limited to what was said; listed in its ``$defs``."""
    if not said.spans:
        return dict(schema)

    def listed(node: dict[str, Any]) -> Mapping[str, Any]:
        kinds = node.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if options(node) or not isinstance(kinds, list):
            return node
        if kinds == ["array"] and "maxItems" not in node:
            # No list can have more items than there are words.
            return {**node, "maxItems": _at_least(node.get("minItems"), said.words)}
        if kinds == ["object"] and not {"properties", "maxProperties"} & node.keys():
            return {**node, "maxProperties": _at_least(node.get("minProperties"), said.words)}
        kind, *others = [one for one in kinds if one != "null"] or [None]
        if others or kind not in ("string", "integer", "number"):
            return node
        values: dict[str, Any] = {"$ref": f"#/$defs/{_DEFINED}"}
        if kind != "string" or not node.keys() <= _REMARKS:
            fits = accepts({**node, "type": kind})
            values = {"enum": [one for one in said.of_kind(kind, node.get("format")) if fits(one)]}
            if not values["enum"]:
                return node
        # Not as options of the parameter, which would become part of the prompt.
        made = {**told_of(node), "type": kind, "oneOf": [values]}
        return {"anyOf": [made, {"type": "null"}]} if "null" in kinds else made

    made: dict[str, Any] = rewritten(schema, listed)
    return {**made, "$defs": {**made.get("$defs", {}), _DEFINED: {"enum": list(said.spans)}}}


def _at_least(least: Any, number: int) -> int:
    # The grammar reports a minimum that is not a number.
    return max(least, number) if isinstance(least, int) else number
