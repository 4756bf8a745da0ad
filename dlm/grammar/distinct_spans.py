"""Keeps the values of a call from being copied from the same words of a text.

A small model often copies the words of one parameter for the next as well. Once a value of a call
is complete, a later value of the same call may only be a span of unused words. Words that occur
twice may be used twice, in any order. Where no unused words are left every span is allowed: a call
must always come to an end.

So it is with numbers: once one of a call is a numeral of the user's message, a later number of the
same call is another numeral, as long as there is one that fits. A number that the message labels
(``width=4``) is that one.

It restricts a grammar further; the tokens that it leaves can always be completed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import islice

from dlm.language.chat_format import MarkedCalls

ASSIGNMENTS = 64
"""Assignments of a call's values to spans that are followed, at most."""

KEPT_TEXTS = 64

# Pieces of a span: a number and a contraction are one word each.
PIECES = re.compile(r"\d+(?:[.,:]\d+)+|\w+(?:['’]\w+)*|\s+|[^\w\s]")

# A numeral that JSON writes as it stands in a text.
_NUMERAL = re.compile(r"(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?", re.ASCII)

_BETWEEN = b"\xff"


class Spans:
    """Where the spans of some texts begin and end, in bytes of the joined texts.

    Args:
        texts: A span is a run of `PIECES` of one of them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.text = _BETWEEN.join(text.encode() for text in texts)
        # Start of a span → end of its first word: no shorter span begins there.
        self.shortest: dict[int, int] = {}
        self.ends: set[int] = set()
        end = len(self.text)
        for text in reversed(texts):
            word: int | None = None
            for piece in reversed(PIECES.findall(text)):
                start = end - len(piece.encode())
                self.ends.add(end)
                if piece.isspace():
                    word = None
                elif any(letter.isalpha() or letter.isdecimal() for letter in piece):
                    word = end
                if word is not None:
                    self.shortest[start] = word
                end = start
            end -= len(_BETWEEN)

    def first_word(self, start: int) -> bytes:
        """The word that a span begins with."""
        return self.text[start : self.shortest[start]]

    def places(self, prefix: bytes) -> Iterator[tuple[int, int]]:
        """The shortest spans that begin with these bytes, which may be a whole span."""
        at = self.text.find(prefix)
        while at >= 0:
            if at in self.shortest:
                yield at, max(self.shortest[at], at + len(prefix))
            at = self.text.find(prefix, at + 1)


@functools.lru_cache(KEPT_TEXTS)
def spans_of(texts: tuple[str, ...]) -> Spans:
    """Spans of some texts; cached, because each call of an answer needs the same."""
    return Spans(texts)


def numerals_of(text: str) -> list[str]:
    """The numerals of a text that JSON writes as they stand there, as often as they do."""
    return [piece for piece in PIECES.findall(text) if _NUMERAL.fullmatch(piece)]


def labelled(numerals: Sequence[str], text: str, name: str) -> str | None:
    """The numeral that a text gives to a name in so many words: ``name=4``, ``name is 4``."""
    found = re.search(rf"(?i)\b{re.escape(name)}(?: ?[:=] ?| is )(\d[\d.]*)", text)
    value = found[1].rstrip(".") if found else None
    return value if value in numerals else None


@dataclass(frozen=True, slots=True)
class Numerals:
    """What a number may be: numerals of the texts, as they stand there.

    Attributes:
        texts: At least one.
        certain: Whether it must be one of them, whatever other numbers of the call are.
    """

    texts: frozenset[bytes]
    certain: bool = False


Assignment = tuple[tuple[int, int], ...]
"""Disjoint spans, one for each value of a call so far."""


class DistinctSpans:
    """The state of an answer, and the words that the values of its last call use.

    Args:
        marks: How the answer spells calls.
        end: The token that ends it.
        spell: Bytes of a token.
        bound: Tool's name → its parameters that are bound, as they are spelled: with None those
            whose values are spans, else with the numerals that a number may be.
        spans: Gives the spans; called when a call has a first such value.

    Attributes:
        binds: Whether a token that the grammar allows may be refused here.
    """

    def __init__(
        self,
        marks: MarkedCalls,
        end: int,
        spell: Callable[[int], bytes],
        bound: Mapping[bytes, Mapping[bytes, Numerals | None]],
        spans: Callable[[], Spans],
    ) -> None:
        self._marks, self._end = marks, end
        self._spell, self._bound, self._spans = spell, bound, spans
        # The last mark, None before the first call, and the text behind it.
        self._mark: int | None = None
        self._text = b""
        self._keys: Mapping[bytes, Numerals | None] = {}
        self._span = False
        # What the value may be, where it is a number.
        self._numerals: Numerals | None = None
        # Whether an earlier number of the call is a numeral of the texts.
        self._copied_number = False
        self.binds = False
        self._assignments: list[Assignment] = [()]

    def copy(self) -> DistinctSpans:
        """An independent copy in the same state."""
        # Attributes are replaced and never changed in place.
        return copy(self)

    def fits(self, token: int) -> bool:
        """Whether a token that the grammar allows keeps to unused words."""
        if not self.binds:
            return True
        if token == self._end or self._is_mark(token):
            return next(self._assigned(), None) is not None
        return self._has_span((self._text + self._spell(token))[1:])

    def follow(self, token: int) -> None:
        """Go on with a token other than the end mark."""
        marks = self._marks
        if not self._is_mark(token):
            if self._mark is not None:
                self._text += self._spell(token)
            return
        if self._mark == marks.call:
            self._keys = self._bound.get(self._text, {})
        elif self._span:
            # Where no unused words were left the value uses none.
            found = list(islice(self._assigned(), ASSIGNMENTS))
            self._copied_number |= bool(found) and self._numerals is not None
            self._assignments = found or self._assignments
        if token == marks.call:
            self._assignments, self._copied_number = [()], False
        self._span = token == marks.value and self._text in self._keys
        self._numerals = self._keys[self._text] if self._span else None
        self.binds = self._span and self._is_restricted() and self._has_span(b"")
        self._mark, self._text = token, b""

    def _is_restricted(self) -> bool:
        """Whether the value that begins may not use all words, if any are left for it."""
        if self._numerals is None:
            return self._assignments != [()]
        return self._numerals.certain or self._copied_number

    def _is_mark(self, token: int) -> bool:
        marks = self._marks
        return token in (marks.call, marks.key, marks.value)

    def _has_span(self, prefix: bytes) -> bool:
        """Whether an unused span begins with these bytes."""
        return any(
            _unused(place, one) for place in self._places(prefix) for one in self._assignments
        )

    def _places(self, prefix: bytes) -> Iterator[tuple[int, int]]:
        """Where the value that begins with these bytes may stand, as `Spans.places`."""
        spans = self._spans()
        for start, end in spans.places(prefix):
            if self._numerals is None or spans.first_word(start) in self._numerals.texts:
                yield start, end

    def _assigned(self) -> Iterator[Assignment]:
        """Assignments of the call's values to spans, the value being written included."""
        spans, value = self._spans(), self._text[1:]
        for start, end in self._places(value):
            if end == start + len(value) and end in spans.ends:
                for one in self._assignments:
                    if _unused((start, end), one):
                        yield (*one, (start, end))


def _unused(place: tuple[int, int], assignment: Assignment) -> bool:
    return all(place[1] <= start or end <= place[0] for start, end in assignment)
