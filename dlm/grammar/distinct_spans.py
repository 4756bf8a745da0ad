"""Keeps the values of a call from being copied from the same words of a text.

A small model often copies the words of one parameter for the next as well. Once a value of a call
is complete, a later value of the same call may only be a span of unused words. Words that occur
twice may be used twice, in any order. If no unused words are left, every span is allowed, because a
call must always come to an end.

Numbers are treated likewise: they are chosen from those that were said, in words or figures, as
long as a fitting one is left. If the message labels a number (``width=4``), the value is that
number, or one of those if it labels several; the same holds for a string labelled in quotes
(``title="Blue"``). If a text says numbers that are not read here ("two thirds"), or a number seems
to be computed ("total"), the number is free unless an earlier number of the call was copied.

A value that must be readable by a reader is a span that it can read, if there is one. If there is
none, an optional parameter of that kind is left out: it cannot be begun.

This restricts a grammar further; what it leaves can always be completed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import islice

from dlm.language.chat_format import MarkedCalls
from dlm.language.spoken_numbers import numbers_in

ASSIGNMENTS = 64
"""Most assignments of a call's values to spans that are tracked."""

KEPT_TEXTS = 64

# Pieces of a span: an address, a number and a contraction are one piece each. A genitive is two,
# because "Anna's" may mean "Anna".
PIECES = re.compile(
    r"\w[\w.+-]{0,63}@\w[\w-]{0,62}(?:\.\w[\w-]{0,62})+|https?://[^\s<>\"]*[\w/]|\d+(?:[.,:]\d+)+"
    r"|\w+(?:['’](?!s\b)\w+)*|(?<=\w)['’]s\b|\s+|[^\w\s]"
)

APOSTROPHES = "'’"
"""No span begins with one of these."""

_BETWEEN = b"\xff"

Place = tuple[int, int]
"""Start and end of a span, in bytes of the joined texts."""


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
                if word is not None and piece[0] not in APOSTROPHES:
                    self.shortest[start] = word
                end = start
            end -= len(_BETWEEN)

    def occurrences(self, span: bytes) -> Iterator[Place]:
        """All places of a whole span."""
        at = self.text.find(span)
        while at >= 0:
            if at in self.shortest and at + len(span) in self.ends:
                yield at, at + len(span)
            at = self.text.find(span, at + 1)

    def places(self, prefix: bytes) -> Iterator[Place]:
        """The shortest span at each place where these bytes begin one; they may be a whole span."""
        at = self.text.find(prefix)
        while at >= 0:
            if at in self.shortest:
                yield at, max(self.shortest[at], at + len(prefix))
            at = self.text.find(prefix, at + 1)


@functools.lru_cache(KEPT_TEXTS)
def spans_of(texts: tuple[str, ...]) -> Spans:
    """The spans of some texts; cached, because every call of an answer needs the same."""
    return Spans(texts)


@functools.lru_cache(KEPT_TEXTS)
def numbers_of(texts: tuple[str, ...]) -> Mapping[str, Sequence[Place]]:
    """The numbers that some texts say, as JSON writes them, and their places in `Spans`."""
    found: dict[str, list[Place]] = {}
    base = 0
    for text in texts:
        for value, start, end in numbers_in(text):
            before = base + len(text[:start].encode())
            place = before, before + len(text[start:end].encode())
            found.setdefault(value, []).append(place)
        base += len(text.encode()) + len(_BETWEEN)
    return found


def labelled(text: str, name: str, others: Iterable[str] = ()) -> frozenset[str]:
    """The numbers that a text explicitly gives to a name: ``name=4``, ``name is 4``.

    Those given to a longer name among ``others`` that ends with it ("old name") do not count.
    """
    ends = _labelled_at(text, name, others)
    return frozenset(value for value, start, _ in numbers_in(text) if start in ends)


def quoted(text: str, name: str, others: Iterable[str] = ()) -> frozenset[str]:
    """The strings that a text explicitly gives to a name: ``name="Anna"``, ``name: 'Anna'``."""
    found = (_QUOTED.match(text, end) for end in _labelled_at(text, name, others))
    return frozenset(one[2].strip() for one in found if one and one[2].strip())


def _labelled_at(text: str, name: str, others: Iterable[str]) -> set[int]:
    """The positions right behind the labels of a name in a text."""
    ends = {found.end() for found in _labels(name).finditer(text)}
    for other in others:
        if other.endswith(f" {name}"):
            ends -= {found.end() for found in _labels(other).finditer(text)}
    return ends


@functools.lru_cache(KEPT_TEXTS)
def _labels(name: str) -> re.Pattern[str]:
    words = "[ _-]?".join(map(re.escape, name.split()))
    return re.compile(rf"(?i)\b{words}(?:[\"'`]? ?[:=] ?| is )[$€£]?")


_QUOTED = re.compile(r"([\"'`])(.+?)\1(?!\w)")


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a value may be, and where it was said.

    Attributes:
        find: Returns the candidates with their places. Called when the call may have the value, and
            again for each of its tokens.
        certain: Whether the value must be a candidate, whatever the call's other values are.
        numbers: Whether the candidates are numbers.
        needed: Whether the parameter is left out if no unused candidate is left.
    """

    find: Callable[[Spans], Mapping[bytes, Sequence[Place]]]
    certain: bool = False
    numbers: bool = False
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Parameters:
    """A tool's parameters, as answers spell them, in the order in which calls have them.

    Attributes:
        names: All parameters.
        required: The parameters that every call has.
        values: The bound parameters with their candidates; None stands for any span.
    """

    names: tuple[bytes, ...] = ()
    required: frozenset[bytes] = frozenset()
    values: Mapping[bytes, Candidates | None] = field(default_factory=dict)

    @property
    def leaves_out(self) -> bool:
        """Whether a parameter is left out if it has no candidates."""
        return any(one is not None and one.needed for one in self.values.values())

    def behind(self, name: bytes | None) -> Iterator[bytes]:
        """The parameters that may follow one; None stands for the beginning of a call."""
        start = 0 if name is None else self.names.index(name) + 1
        for following in self.names[start:]:
            yield following
            if following in self.required:
                return


Assignment = tuple[Place, ...]
"""Disjoint spans, one for each value of a call so far."""


class DistinctSpans:
    """The state of an answer, and the words that the values of its current call use.

    Args:
        marks: How the answer spells calls.
        end: The token that ends the answer.
        spell: Returns the bytes of a token.
        bound: For each tool with bound parameters, by its name as spelled, its parameters.
        spans: Returns the spans; called when a call has its first bound value.

    Attributes:
        binds: Whether a token that the grammar allows may be refused here.
    """

    def __init__(
        self,
        marks: MarkedCalls,
        end: int,
        spell: Callable[[int], bytes],
        bound: Mapping[bytes, Parameters],
        spans: Callable[[], Spans],
    ) -> None:
        self._marks, self._end = marks, end
        self._spell, self._bound, self._spans = spell, bound, spans
        # The last mark (None before the first call), and the text behind it.
        self._mark: int | None = None
        self._text = b""
        self._parameters = _NONE
        # The parameter of the current or previous value; the parameters that may be written now.
        self._name: bytes | None = None
        self._open: tuple[bytes, ...] = ()
        self._span = False
        # What the value may be; None if it is not restricted beyond being a span.
        self._candidates: Candidates | None = None
        # Whether an earlier number of the call was copied from the texts.
        self._copied_number = False
        self._restricted = False
        self.binds = False
        self._assignments: list[Assignment] = [()]

    def copy(self) -> DistinctSpans:
        """An independent copy in the same state."""
        # A shallow copy is enough: attributes are replaced, never changed in place.
        return copy(self)

    def fits(self, token: int) -> bool:
        """Whether a token that the grammar allows keeps values to unused words and candidates."""
        if not self.binds:
            return True
        if self._mark == self._marks.key:
            return self._goes_on_with_name(token)
        if token == self._marks.key and not self._opened():
            return False
        if not self._restricted:
            return True
        if token == self._end or self._is_mark(token):
            return next(self._assigned(), None) is not None
        return self._has_span((self._text + self._spell(token))[1:], self._candidates)

    def follow(self, token: int) -> None:
        """Consume a token other than the end mark."""
        marks = self._marks
        if not self._is_mark(token):
            if self._mark is not None:
                self._text += self._spell(token)
            if self._mark == marks.call:
                self.binds = self._bound.get(self._text, _NONE).leaves_out
            return
        if self._mark == marks.call:
            self._parameters, self._name = self._bound.get(self._text, _NONE), None
        elif self._span:
            self._assign()
        if token == marks.call:
            self._assignments, self._copied_number = [()], False
        if token == marks.value:
            self._name = self._text
        self._span = token == marks.value and self._text in self._parameters.values
        self._candidates = self._parameters.values[self._text] if self._span else None
        self._mark, self._text = token, b""
        self._restricted = (
            self._span and self._is_restricted() and self._has_span(b"", self._candidates)
        )
        leaves_out = token != marks.call and self._parameters.leaves_out
        self._open = self._opened() if leaves_out and token == marks.key else ()
        self.binds = self._restricted or leaves_out

    def _assign(self) -> None:
        """Mark the words of the completed value as used."""
        # If no unused words were left, the value uses none.
        found = list(islice(self._assigned(), ASSIGNMENTS))
        numbers = self._candidates is not None and self._candidates.numbers
        self._copied_number |= bool(found) and numbers
        self._assignments = found or self._assignments

    def _goes_on_with_name(self, token: int) -> bool:
        """Whether a token continues the name of a parameter that may be written."""
        if not self._open:
            return True
        if token == self._marks.value:
            return self._text in self._open
        begun = self._text + self._spell(token)
        return any(name.startswith(begun) for name in self._open)

    def _opened(self) -> tuple[bytes, ...]:
        """The parameters that may follow the tool's name or the current value."""
        if self._mark == self._marks.call:
            parameters = self._bound.get(self._text, _NONE)
            return tuple(name for name in parameters.behind(None) if self._can_be(name, parameters))
        here = self
        if self._mark == self._marks.value and self._span:
            here = self.copy()
            here._assign()
        parameters = self._parameters
        following = parameters.behind(self._name)
        return tuple(name for name in following if here._can_be(name, parameters))

    def _can_be(self, name: bytes, parameters: Parameters) -> bool:
        candidates = parameters.values.get(name)
        if candidates is None or not candidates.needed:
            return True
        return self._has_span(b"", candidates)

    def _is_restricted(self) -> bool:
        """Whether the value that begins here is limited to what is unused, if anything is left."""
        if self._candidates is None:
            return self._assignments != [()]
        return self._candidates.certain or self._copied_number

    def _is_mark(self, token: int) -> bool:
        marks = self._marks
        return token in (marks.call, marks.key, marks.value)

    def _has_span(self, prefix: bytes, candidates: Candidates | None) -> bool:
        """Whether an unused span, or candidate, begins with these bytes."""
        return any(
            _unused(place, one)
            for place in self._places(prefix, candidates)
            for one in self._assignments
        )

    def _places(self, prefix: bytes, candidates: Candidates | None) -> Iterator[Place]:
        """The places of values that begin with these bytes, as in `Spans.places`."""
        spans = self._spans()
        if candidates is None:
            yield from spans.places(prefix)
            return
        for value, places in candidates.find(spans).items():
            if value.startswith(prefix):
                yield from places

    def _assigned(self) -> Iterator[Assignment]:
        """Assignments of the call's values to spans, including the value being written."""
        spans, value = self._spans(), self._text[1:]
        if self._candidates is not None:
            places = self._candidates.find(spans).get(value, ())
        else:
            places = [
                (start, end)
                for start, end in spans.places(value)
                if end == start + len(value) and end in spans.ends
            ]
        for place in places:
            for one in self._assignments:
                if _unused(place, one):
                    yield (*one, place)


_NONE = Parameters()


def _unused(place: Place, assignment: Assignment) -> bool:
    return all(place[1] <= start or end <= place[0] for start, end in assignment)
