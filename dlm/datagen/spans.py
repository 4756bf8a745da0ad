"""Finding in a corpus sentence the words that an argument should copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime
from itertools import pairwise

from dlm.datagen import said
from dlm.datagen.arithmetic import evaluate
from dlm.datagen.grammar import Piece
from dlm.datagen.words import CURRENCIES, UNITS

Span = tuple[int, int]
"""First word and the one past the last."""

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
    """Where a value's words stand in a sentence; None where they do not, or stand twice."""
    wanted = tokens(value)
    size = len(wanted)
    found = [i for i in range(len(words) - size + 1) if words[i : i + size] == wanted]
    return (found[0], found[0] + size) if wanted and len(found) == 1 else None


def longest(words: list[str], reads: Callable[[str], object], most: int = _LONGEST) -> Span | None:
    """The longest run of at most so many words that ``reads`` accepts; the first of equals."""
    for size in range(min(len(words), most), 0, -1):
        for start in range(len(words) - size + 1):
            if words[start] not in _LEAD and reads(" ".join(words[start : start + size])):
                return start, start + size
    return None


def duration(words: list[str]) -> Span | None:
    """The duration in a sentence, an article before its number left out."""
    span = longest(words, said.duration)
    if (
        span
        and words[span[0]] in ("a", "an")
        and said.duration(" ".join(words[span[0] + 1 : span[1]]))
    ):
        return span[0] + 1, span[1]
    return span


def moment(words: list[str]) -> Span | None:
    """The time to ring in a sentence, its day included."""
    span = longest(words, lambda t: said.when(t, _NOW))
    if span and span[1] - span[0] == 1 and words[span[0]].isalpha():
        before = words[span[0] - 1] if span[0] else ""
        return span if before in ("at", "for", "by", "to") else None
    return span


def day(words: list[str]) -> Span | None:
    """The day in a sentence."""
    return longest(words, lambda t: not t.isdigit() and said.day(t, _TODAY))


def expression(words: list[str]) -> Span | None:
    """The sum in a sentence: what reads as one, "what is" left out."""
    span = longest(
        words,
        lambda t: (
            not t.startswith("what is") and not t.endswith("equal") and evaluate(t) is not None
        ),
        most=len(words),
    )
    return span if span and span[1] - span[0] >= 2 else None


def conversion(words: list[str], money: bool) -> Spans | None:
    """An amount, what it is in, and what it should be in; amount missing when none is said."""
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
        if (said.number(text) is not None and not article) or text in ("a", "an"):
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
    """A sentence cut into pieces at its spans; None where spans overlap."""
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
