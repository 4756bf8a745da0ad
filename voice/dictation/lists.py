"""Turns spoken numbering into lines: "agenda one, budget two, party three, any other business".

At least three entries, numbered in order from the first, make a list; numbers that count something
("one dog, two cats") do not. The words are English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_LETTERS = ("a", "b", "c", "d", "e", "f", "g", "h")
_FIGURES = tuple(f"{number}." for number in range(1, 10))
_FAMILIES = (
    (_CARDINALS, _FIGURES), (_ORDINALS, _FIGURES), (_LETTERS, tuple(f"{one})" for one in _LETTERS)),
)  # fmt: skip
"""Numbers of entries as spoken, and as written."""
_LEAST = 3
_DASH = re.compile(r"(?:^|(?<=[.?!:,\n]))\s{0,20}(?:dash|hyphen),? (?=\w)", re.I)
_HEAD = r"(?:number |step |point |item )?"
_IN_A_PHRASE = re.compile(
    r"(?:^|\s)(?:the|a|an|my|your|at|to|by|in|of|for|than|is|was|came|number|about|these|those|last"
    r"|every|each|and|or|page|room|chapter)$",
    re.I,
)
_COUNTING = re.compile(
    r" +(?:of|or|and|to|times|more|hundred|thousand|million|\w+(?<!s)s"
    rf"|zero|oh|{'|'.join(_CARDINALS)})\b",
    re.I,
)


def with_lists(text: str) -> str:
    r"""The text with each spoken list entry on a line of its own.

    >>> with_lists("Agenda. One, budget. Two, party. Three, any other business.")
    'Agenda.\n1. budget.\n2. party.\n3. any other business.'
    """
    if len(_DASH.findall(text)) > 1:
        return _DASH.sub("\n- ", text)
    for names, signs in _FAMILIES:
        marks = _marks(text, names)
        gaps = (text[one.end() : two.start()] for one, two in pairwise(marks))
        # "The code, one, two, three" lists nothing.
        if len(marks) >= _LEAST and all(gap.strip(" ,") for gap in gaps):
            return _in_lines(text, marks, signs)
    return text


def _marks(text: str, names: Sequence[str]) -> list[re.Match[str]]:
    """The match of each entry's number, as far as the numbers come in order."""
    found: list[re.Match[str]] = []
    for name in names:
        mark = _mark(text, found[-1].end() if found else 0, name)
        if mark is None:
            break
        found.append(mark)
    return found


def _mark(text: str, start: int, name: str) -> re.Match[str] | None:
    """The next place where a number opens an entry: between marks, or among words that allow it."""
    pattern = re.compile(rf"(?:^|(?<=\s))(?:and )?{_HEAD}{name}\b(?P<mark>[,:.]?)(?= \w)", re.I)
    for mark in pattern.finditer(text, start):
        before = text[max(0, mark.start() - 30) : mark.start()].rstrip(" ")
        if mark["mark"] and before[-1:] in (*".:;,?!\n", ""):
            return mark
        fits = not _IN_A_PHRASE.search(before) and not _COUNTING.match(text, mark.end())
        if len(name) > 1 and fits and before:
            return mark
    return None


def _in_lines(text: str, marks: Sequence[re.Match[str]], signs: Sequence[str]) -> str:
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    entries = (text[mark.end() : end].strip(" ,") for mark, end in zip(marks, ends, strict=True))
    head = text[: marks[0].start()].rstrip(" ,")
    lines = [f"{sign} {entry}" for sign, entry in zip(signs, entries, strict=False)]
    return "\n".join([head, *lines] if head else lines)
