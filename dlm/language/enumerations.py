"""Reads enumerations in a text: "milk, eggs and bread", "4, 8 and 15", "2 lamps and 3 chairs".

It reads English, and knows nothing of schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dlm.language.spoken_numbers import numbers_in

Row = tuple[str, tuple[int | float, ...]]
"""A thing and its numbers: "2 lamps at 30" is ("lamps", (2, 30))."""

_Part = tuple[str, str, tuple[int | float, ...]]
"""What a part of a text names before its first number and after it, and the part's numbers."""

_END = "."
_SEPARATORS = re.compile(r"[,;\n]|\band\b|\bor\b|&", re.IGNORECASE)
_NEXT = re.compile(r"(?P<comma>, ?(?!and\b|or\b))|,? (?P<last>and|or|&) ", re.IGNORECASE)
_BETWEEN_NUMBERS = re.compile(r" ?(?:[,/]|\n[-*]?|,? (?:and|or|&)\b) ?", re.IGNORECASE)
_PARTS = re.compile(r"[;\n]|,(?!\d)|\b(?:and|plus)\b|&|\.(?=\s|$)", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*)*")
_WORDS = re.compile(r"\w[\w'’-]*(?: \w[\w'’-]*)*")
# Words that end the name of a thing: what follows tells about it.
_AROUND = frozenset((
    "a", "an", "the", "and", "or", "of", "at", "for", "from", "to", "in", "on", "with", "by",
    "per", "each", "is", "are", "was", "were", "has", "have", "had", "cost", "costs", "came",
    "come", "will", "please", "who", "which", "that", "as", "if", "when", "but", "x", "times",
    "i", "we", "you", "it", "they", "want", "need", "bought", "ordered", "order", "not", "no",
))  # fmt: skip
_NAMES_BEFORE = re.compile(rf"(?:{_NAME.pattern}, )*{_NAME.pattern}(?:, |,? (?:and|or|&) )$")
_LINES = re.compile(r"(?:^[ \t]*[-*•] .+(?:\n|\Z))+", re.MULTILINE)
_THING = r"[^\s,;:.]+(?: [^\s,;:.]+){0,3}"
_TOLD = re.compile(rf": ((?:{_THING}, )+{_THING})(?=[.;\n]|$)")
"""The list after a label: "Colours: red, green, blue"."""
_LONGEST_BEFORE = 200
_LONGEST = 4
"""Most words of an item."""
_NOTHING = re.compile(
    r"(?:\b(?:no|not|without|never|neither|nor|any|zero)|n['’]t) (?:any )?$", re.IGNORECASE
)
_NO_ITEM = re.compile(r"(?:no|none|nothing|nobody|without)\b", re.IGNORECASE)


def items(text: str) -> list[str]:
    """The items of an enumeration in words; the text itself if it has only separators."""
    found = [item.strip(" \t-*•") for item in _SEPARATORS.split(text)]
    return [item for item in found if item] or [text]


def is_none(span: str, text: str) -> bool:
    """Whether a span says none, or a text negates it everywhere: "there were no complaints"."""
    starts = [found.start() for found in re.finditer(re.escape(span), text)]
    denied = [_NOTHING.search(text[max(0, start - 16) : start]) for start in starts]
    return _NO_ITEM.match(span) is not None or (bool(denied) and all(denied))


def extended(span: str, text: str) -> str:
    """A span, extended to the whole enumeration that it stands in or begins."""
    start = text.find(span)
    if start < 0:
        return span
    end = start + len(span)
    if lines := _lines(text, start, end):
        return lines
    if told := _TOLD.match(text, end):
        return told[1]
    before = _NAMES_BEFORE.search(text[max(0, start - _LONGEST_BEFORE) : start])
    # "In Paris, Anna and Bo" does not list three names.
    if before and _NAME.match(span) and (_NAME.fullmatch(span) or before[0].count(",") > 1):
        start -= len(before[0])
    return text[start : max(end, _end(span, text, end))]


def _end(span: str, text: str, at: int) -> int:
    """Where the enumeration that a span begins ends; 0 if the span begins none."""
    # If the span is a name, only names follow.
    item = _NAME if _NAME.fullmatch(items(span)[-1]) else _WORDS
    while joint := _NEXT.match(text, at):
        found = item.match(text, joint.end())
        # "Without" and "no" begin what is not part of the list.
        if not found or _NO_ITEM.match(found[0]) or not (made := _thing(found[0])):
            break
        at = joint.end() + len(made)
        if joint["last"]:
            return at
    # Without "and" or "or" before its last item, it may not be an enumeration at all.
    return 0


def _lines(text: str, start: int, end: int) -> str:
    """The list of lines with bullets that a place is in; empty if it is in none."""
    found = (one for one in _LINES.finditer(text) if one.start() <= start and end <= one.end())
    return next((one[0] for one in found if "\n" in one[0].strip()), "")


def _thing(text: str) -> str:
    """The thing that some words name at their beginning, in at most four words."""
    said = text.split(" ")
    articles = said[0].lower() in ("a", "an", "the")
    ends = (at for at, word in enumerate(said) if word.lower() in _AROUND and (at or not articles))
    return " ".join(said[: min(next(ends, _LONGEST), _LONGEST)]).rstrip(".")


def listed_numbers(text: str) -> list[list[int | float]]:
    """The enumerations of at least two numbers in a text."""
    found: list[list[int | float]] = [[]]
    said = [(json.loads(value), start, end) for value, start, end in numbers_in(text)]
    for at, (value, start, _) in enumerate(said):
        if at and not _BETWEEN_NUMBERS.fullmatch(text, said[at - 1][2], start):
            found.append([])
        found[-1].append(value)
    return [one for one in found if len(one) > 1]


def listed_rows(text: str, numbers: int) -> list[Row]:
    """The longest enumeration of things with ``numbers`` numbers each; empty if there is none."""
    best: list[Row] = []
    row: list[_Part] = []
    # In "a, and b", nothing stands between two separators.
    for part in (*filter(str.strip, _PARTS.split(text)), _END):
        said = list(numbers_in(part))
        apart = all(one[2] <= other[1] for one, other in pairwise(said))
        if len(said) == numbers and apart and part is not _END:
            behind, before = _behind(part[said[0][2] :]), _before(part[: said[0][1]])
            row.append((before, behind, tuple(json.loads(value) for value, _, _ in said)))
        else:
            best, row = max(best, _rows(row), key=len), []
    return best if len(best) > 1 else []


def _rows(parts: Sequence[_Part]) -> list[Row]:
    for names in ([behind for _, behind, _ in parts], [before for before, _, _ in parts]):
        # If all are alike it is a unit and no name: "41 years and 29 years".
        if all(names) and len(set(names)) == len(names):
            return [(name, said) for name, (_, _, said) in zip(names, parts, strict=True)]
    return []


def _behind(text: str) -> str:
    """The thing that the words right after a number name."""
    first = next(_runs(text), "")
    return first if first and text.lstrip(" x×").startswith(first) else ""


def _before(text: str) -> str:
    """The thing that the last words before a number name."""
    return ["", *_runs(text)][-1]


def _runs(text: str) -> Iterator[str]:
    """Runs of words that may name a thing."""
    run: list[str] = []
    for word in [*re.findall(r"[^\W\d_][\w'’-]*|\S", text), ""]:
        if word and word[0].isalpha() and word.lower() not in _AROUND:
            run.append(word)
        elif run:
            yield " ".join(run)
            run = []
