"""Words that the user said once and that serve one parameter of a call, not two.

A small model often gives the words of one parameter to the next as well. Once a value of a call is
complete, a later value of the same call may only be a span of words that are left. Words said twice
may serve twice, whichever of them were meant first. Where no words are left nothing is asked: a
call must always come to an end.

Stands beside a grammar and only takes away from it; what it leaves can always be completed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice

from dlm.language.chat_format import MarkedCalls

WAYS = 64
"""Ways to place the values of a call that are followed."""

KEPT_TEXTS = 64

# What a span is made of. A number and a contraction are one word each.
PIECES = re.compile(r"\d+(?:[.,:]\d+)+|\w+(?:['’]\w+)*|\s+|[^\w\s]")

_BETWEEN = b"\xff"


class Spans:
    """Where the spans of some texts begin and end, in bytes of all of them, one behind the other.

    Args:
        texts: What was said; a span is a run of `PIECES` of one of them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.said = _BETWEEN.join(text.encode() for text in texts)
        # By the start of a span, the end of its first word: no shorter span begins there.
        self.shortest: dict[int, int] = {}
        self.ends: set[int] = set()
        end = len(self.said)
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

    def places(self, begun: bytes) -> Iterator[tuple[int, int]]:
        """The shortest spans that begin with these bytes, which may be the whole of one."""
        at = self.said.find(begun)
        while at >= 0:
            if at in self.shortest:
                yield at, max(self.shortest[at], at + len(begun))
            at = self.said.find(begun, at + 1)


@functools.lru_cache(KEPT_TEXTS)
def spans_of(texts: tuple[str, ...]) -> Spans:
    """Spans of some texts; remembered, as each call of an answer asks for the same."""
    return Spans(texts)


Way = tuple[tuple[int, int], ...]
"""Disjoint spans, one for each value of a call so far."""


class DistinctSpans:
    """How far an answer has come, and which words the values of its last call have taken.

    Args:
        marks: How the answer spells calls.
        end: The token that ends it.
        spell: Bytes of a token.
        bound: By a tool's name the parameters whose values are spans, all as they are spelled.
        spans: What they are spans of; asked for when a call has a first such value.

    Attributes:
        binds: Whether a token that the grammar allows may have to be refused here.
    """

    def __init__(
        self,
        marks: MarkedCalls,
        end: int,
        spell: Callable[[int], bytes],
        bound: Mapping[bytes, frozenset[bytes]],
        spans: Callable[[], Spans],
    ) -> None:
        self._marks, self._end = marks, end
        self._spell, self._bound, self._spans = spell, bound, spans
        # The last mark, None before the first call, and what was spelled since.
        self._behind: int | None = None
        self._since = b""
        self._keys: frozenset[bytes] = frozenset()
        self._span = False
        self.binds = False
        self._ways: list[Way] = [()]

    def copy(self) -> DistinctSpans:
        """One that stands at the same place and goes on by itself."""
        # What changes is always put in place of what was.
        return copy(self)

    def fits(self, token: int) -> bool:
        """Whether a token that the grammar allows keeps to words that are left."""
        if not self.binds:
            return True
        if token == self._end or self._is_mark(token):
            return next(self._placed(), None) is not None
        return self._left((self._since + self._spell(token))[1:])

    def follow(self, token: int) -> None:
        """Go on with a token other than the end mark."""
        marks = self._marks
        if not self._is_mark(token):
            if self._behind is not None:
                self._since += self._spell(token)
            return
        if self._behind == marks.call:
            self._keys = self._bound.get(self._since, frozenset())
        elif self._span:
            # Where no words were left the value has taken none.
            self._ways = list(islice(self._placed(), WAYS)) or self._ways
        if token == marks.call:
            self._ways = [()]
        self._span = token == marks.value and self._since in self._keys
        self.binds = self._span and self._ways != [()] and self._left(b"")
        self._behind, self._since = token, b""

    def _is_mark(self, token: int) -> bool:
        marks = self._marks
        return token in (marks.call, marks.key, marks.value)

    def _left(self, begun: bytes) -> bool:
        """Whether a span that begins so is still to be had."""
        places = self._spans().places(begun)
        return any(_free(place, way) for place in places for way in self._ways)

    def _placed(self) -> Iterator[Way]:
        """The ways to place the values of the call, the one that stands there now included."""
        spans, value = self._spans(), self._since[1:]
        for start, end in spans.places(value):
            if end == start + len(value) and end in spans.ends:
                yield from ((*way, (start, end)) for way in self._ways if _free((start, end), way))


def _free(place: tuple[int, int], way: Way) -> bool:
    return all(place[1] <= start or end <= place[0] for start, end in way)
