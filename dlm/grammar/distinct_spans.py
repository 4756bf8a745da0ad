"""Keeps the values of a call from being copied from the same words of a text.

A small model often copies the words of one parameter for the next as well. Once a value of a call
is complete, a later value of the same call may only be a span of unused words. Words that occur
twice may be used twice, in any order. Where no unused words are left every span is allowed: a call
must always come to an end.

So it is with numbers, which are among those that were said, in words or figures, as long as one
that fits is left. A number that the message labels (``width=4``) is that one, or one of those where
it labels several, and so is a string that it labels in quotes (``title="Blue"``). Where a text says
numbers that are not read here ("two thirds"), or a number seems to be computed ("total"), it is
free unless another one of the call was copied.

A value that a reader must be able to read is a span that it reads, where there is one. An optional
one is left out where there is none: its parameter cannot be begun.

It restricts a grammar further; the tokens that it leaves can always be completed.
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
"""Assignments of a call's values to spans that are followed, at most."""

KEPT_TEXTS = 64

# Pieces of a span: an address, a number and a contraction are one word each; a genitive is two, as
# "Anna" may be meant by "Anna's".
PIECES = re.compile(
    r"\w[\w.+-]{0,63}@\w[\w-]{0,62}(?:\.\w[\w-]{0,62})+|https?://[^\s<>\"]*[\w/]|\d+(?:[.,:]\d+)+"
    r"|\w+(?:['’](?!s\b)\w+)*|(?<=\w)['’]s\b|\s+|[^\w\s]"
)

APOSTROPHES = "'’"
"""With these no span begins."""

_BETWEEN = b"\xff"

Place = tuple[int, int]
"""Where a span begins and ends, in bytes of the joined texts."""


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
        """Where a whole span stands."""
        at = self.text.find(span)
        while at >= 0:
            if at in self.shortest and at + len(span) in self.ends:
                yield at, at + len(span)
            at = self.text.find(span, at + 1)

    def places(self, prefix: bytes) -> Iterator[Place]:
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


@functools.lru_cache(KEPT_TEXTS)
def numbers_of(texts: tuple[str, ...]) -> Mapping[str, Sequence[Place]]:
    """The numbers that some texts say, as JSON writes them, and where they stand in `Spans`."""
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
    """The numbers that a text gives to a name in so many words: ``name=4``, ``name is 4``.

    What it gives to a longer one of other names ("old name") is none of them.
    """
    ends = _labelled_at(text, name, others)
    return frozenset(value for value, start, _ in numbers_in(text) if start in ends)


def quoted(text: str, name: str, others: Iterable[str] = ()) -> frozenset[str]:
    """The strings that a text gives to a name in quotes: ``name="Anna"``, ``name: 'Anna'``."""
    found = (_QUOTED.match(text, end) for end in _labelled_at(text, name, others))
    return frozenset(one[2].strip() for one in found if one and one[2].strip())


def _labelled_at(text: str, name: str, others: Iterable[str]) -> set[int]:
    """Where what a text gives to a name begins."""
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
    """What a value may be, and where it is said.

    Attributes:
        find: Brings the values, and for each where it stands. It is called when a call may have the
            value, and again for each token.
        certain: Whether it must be one of them, whatever other values of the call are.
        numbers: Whether they are numbers.
        needed: Whether the value is left out where no unused one is left.
    """

    find: Callable[[Spans], Mapping[bytes, Sequence[Place]]]
    certain: bool = False
    numbers: bool = False
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Parameters:
    """A tool's parameters, as they are spelled, in the order in which calls have them.

    Attributes:
        names: All of them.
        required: Those that every call has.
        values: Those that are bound: with None to any span, else to candidates.
    """

    names: tuple[bytes, ...] = ()
    required: frozenset[bytes] = frozenset()
    values: Mapping[bytes, Candidates | None] = field(default_factory=dict)

    @property
    def leaves_out(self) -> bool:
        """Whether a parameter may not be begun for want of candidates."""
        return any(one is not None and one.needed for one in self.values.values())

    def behind(self, name: bytes | None) -> Iterator[bytes]:
        """The parameters that may come next behind one; None is the beginning of a call."""
        start = 0 if name is None else self.names.index(name) + 1
        for following in self.names[start:]:
            yield following
            if following in self.required:
                return


Assignment = tuple[Place, ...]
"""Disjoint spans, one for each value of a call so far."""


class DistinctSpans:
    """The state of an answer, and the words that the values of its last call use.

    Args:
        marks: How the answer spells calls.
        end: The token that ends it.
        spell: Bytes of a token.
        bound: Tool's name, as it is spelled → its parameters, where some are bound.
        spans: Gives the spans; called when a call has a first such value.

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
        # The last mark, None before the first call, and the text behind it.
        self._mark: int | None = None
        self._text = b""
        self._parameters = _NONE
        # The parameter of the value, or of the value before; those that may be written now.
        self._name: bytes | None = None
        self._open: tuple[bytes, ...] = ()
        self._span = False
        # What the value may be, where that is more than any span.
        self._candidates: Candidates | None = None
        # Whether an earlier number of the call is one of the texts.
        self._copied_number = False
        self._restricted = False
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
        """Go on with a token other than the end mark."""
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
        """Take the words of the value that is complete."""
        # Where no unused words were left the value uses none.
        found = list(islice(self._assigned(), ASSIGNMENTS))
        numbers = self._candidates is not None and self._candidates.numbers
        self._copied_number |= bool(found) and numbers
        self._assignments = found or self._assignments

    def _goes_on_with_name(self, token: int) -> bool:
        """Whether a token goes on with the name of a parameter that may be written."""
        if not self._open:
            return True
        if token == self._marks.value:
            return self._text in self._open
        begun = self._text + self._spell(token)
        return any(name.startswith(begun) for name in self._open)

    def _opened(self) -> tuple[bytes, ...]:
        """The parameters that may be written next, behind the tool's name or a value."""
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
        """Whether the value that begins may not use all words, if any are left for it."""
        if self._candidates is None:
            return self._assignments != [()]
        return self._candidates.certain or self._copied_number

    def _is_mark(self, token: int) -> bool:
        marks = self._marks
        return token in (marks.call, marks.key, marks.value)

    def _has_span(self, prefix: bytes, candidates: Candidates | None) -> bool:
        """Whether an unused span begins with these bytes."""
        return any(
            _unused(place, one)
            for place in self._places(prefix, candidates)
            for one in self._assignments
        )

    def _places(self, prefix: bytes, candidates: Candidates | None) -> Iterator[Place]:
        """Where the value that begins with these bytes may stand, as `Spans.places`."""
        spans = self._spans()
        if candidates is None:
            yield from spans.places(prefix)
            return
        for value, places in candidates.find(spans).items():
            if value.startswith(prefix):
                yield from places

    def _assigned(self) -> Iterator[Assignment]:
        """Assignments of the call's values to spans, the value being written included."""
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
