"""Finds in a corpus sentence the words that an argument should copy.

It also finds rows whose labels leave a value out. A corpus marks only what its own scheme has a
name for, so "weather boston" or "the garage lights" may come without a place or a room. If a word
is part of a marked value more often than not over all rows, then a row that has it outside its
values most likely has a value that nobody marked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Any

from dlm.datagen.language import spoken_values as spoken
from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.spoken_sums import evaluate
from dlm.datagen.language.words import CURRENCIES, UNITS
from dlm.language.spoken_numbers import number

Span = tuple[int, int]
"""Index of the first word and the index just past the last."""

Spans = dict[str, Span]

_LEAD = ("at", "on", "for", "by", "to", "from", "around", "the")
_NOW = datetime(2025, 6, 4, 10, 30)
_TODAY = date(2025, 6, 4)
_LONGEST = 9
_NO_WORD = re.compile(r"[^\w'%:.+*/-]|[.:](?!\d)")


def tokens(text: str) -> list[str]:
    """A sentence's words in lower case without punctuation."""
    return [_NO_WORD.sub("", w) for w in text.lower().split()]


def find(words: list[str], value: str) -> Span | None:
    """Where a value's words are in a sentence; None if they are not, or more than once."""
    wanted = tokens(value)
    size = len(wanted)
    found = [i for i in range(len(words) - size + 1) if words[i : i + size] == wanted]
    return (found[0], found[0] + size) if wanted and len(found) == 1 else None


def longest(words: list[str], reads: Callable[[str], object], most: int = _LONGEST) -> Span | None:
    """The longest run of at most ``most`` words that ``reads`` accepts; the first of equals."""
    for size in range(min(len(words), most), 0, -1):
        for start in range(len(words) - size + 1):
            if words[start] not in _LEAD and reads(" ".join(words[start : start + size])):
                return start, start + size
    return None


def duration(words: list[str]) -> Span | None:
    """The duration in a sentence, without an article before its number."""
    span = longest(words, spoken.duration)
    if (
        span
        and words[span[0]] in ("a", "an")
        and spoken.duration(" ".join(words[span[0] + 1 : span[1]]))
    ):
        return span[0] + 1, span[1]
    return span


def moment(words: list[str]) -> Span | None:
    """The moment in a sentence, including its day."""
    span = longest(words, lambda t: spoken.when(t, _NOW))
    if span and span[1] - span[0] == 1 and words[span[0]].isalpha():
        before = words[span[0] - 1] if span[0] else ""
        return span if before in ("at", "for", "by", "to") else None
    return span


def day(words: list[str]) -> Span | None:
    """The day in a sentence."""
    return longest(words, lambda t: not t.isdigit() and spoken.day(t, _TODAY))


def expression(words: list[str]) -> Span | None:
    """The arithmetic expression in a sentence, without "what is"."""
    span = longest(
        words,
        lambda t: (
            not t.startswith("what is") and not t.endswith("equal") and evaluate(t) is not None
        ),
        most=len(words),
    )
    return span if span and span[1] - span[0] >= 2 else None


def conversion(words: list[str], money: bool) -> Spans | None:
    """The amount and the two units or currencies of a conversion; None if one is missing."""
    names = CURRENCIES if money else UNITS
    singular = {n[:-1]: n for n in names if n.endswith("s")}
    joined = [i for i, w in enumerate(words) if w in names or w in singular]
    if len(joined) != 2 or words[joined[0]] == words[joined[1]]:
        return None
    source, target = joined
    if not _count(words, source):
        source, target = target, source
    first, second = ("from_currency", "to_currency") if money else ("from_unit", "to_unit")
    spans = {first: (source, source + 1), second: (target, target + 1)}
    count = _count(words, source)
    return {"amount": count, **spans} if count else None


def _count(words: list[str], before: int) -> Span | None:
    for start in range(max(0, before - 5), before):
        text = " ".join(words[start:before])
        if start and words[start - 1] in ("of", "half", "quarter"):
            return None
        article = words[start] in ("a", "an") and before - start > 1
        if (number(text) is not None and not article) or text in ("a", "an"):
            return start, before
    return None


def adjacent(spans: Iterable[Span | None]) -> Span | None:
    """Several spans as one, if they follow each other directly."""
    known = sorted(s for s in spans if s)
    if not known:
        return None
    for (_, end), (start, _) in pairwise(known):
        if end != start:
            return None
    return known[0][0], known[-1][1]


def pieces(text: str, spans: Spans) -> list[Piece] | None:
    """A sentence cut into pieces at its spans; None if spans overlap."""
    words = text.split()
    found: list[Piece] = []
    at = 0
    for slot, (start, end) in sorted(spans.items(), key=lambda item: item[1]):
        if start < at:
            return None
        found.append(Piece(" ".join(words[at:start])))
        found.append(Piece(" ".join(words[start:end]), slot))
        at = end
    found.append(Piece(" ".join(words[at:])))
    return [p for p in found if p.text]


Request = tuple[str, list[Piece]]
"""A tool, and the sentence in pieces whose slots are its parameters."""

_SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these my our your it is are was be does did have has me i you we in on"
        " off out at to of for from by with and or as up down over back about into onto all any",
    )
)
"""Words that do not identify a value; a span of nothing else is not one."""
_STATES = frozenset(("state",))
"""Parameters whose values may consist of such words."""
_MENTIONING = frozenset(("read_list",))
"""Tools whose requests name things that are not arguments: "are eggs on my list"."""


def complete(requests: Sequence[Request]) -> Iterator[bool]:
    """For each request, whether its labels seem complete.

    Args:
        requests: All requests, since they are judged by each other.
    """
    marked = all_marked([pieces for _, pieces in requests])
    for (tool, pieces), whole in zip(requests, marked, strict=True):
        values = [_telling([p.text]) for p in pieces if p.slot and p.slot not in _STATES]
        yield all(values) and (whole or tool in _MENTIONING)


def all_marked(sentences: Sequence[list[Piece]]) -> Iterator[bool]:
    """For each sentence, whether no word outside its values is mostly part of a value elsewhere.

    Args:
        sentences: All sentences, since they are judged by each other.
    """
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for pieces in sentences:
        inside.update(_telling(p.text for p in pieces if p.slot))
        outside.update(_telling(p.text for p in pieces if not p.slot))
    for pieces in sentences:
        left = _telling(p.text for p in pieces if not p.slot)
        yield all(inside[word] <= outside[word] for word in left)


def from_markers(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows whose slots can be trusted, including those that have none.

    If a source marks no values at all, the lack of slots means nothing: its rows of an intent for
    which other sources mark values are left out.
    """
    known = list(rows)
    markers = {row["source"] for row in known if row["slots"]}
    marked = {row["intent"] for row in known if row["slots"]}
    return [row for row in known if row["source"] in markers or row["intent"] not in marked]


def _telling(texts: Iterable[str]) -> set[str]:
    """The words of some texts that may identify a value."""
    bare = (word.strip(".,?!\"'") for text in texts for word in text.lower().split())
    return {word for word in bare if word} - _SMALL_WORDS
