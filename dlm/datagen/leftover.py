"""Rows of the corpora whose labels leave a value out, told by where their words stand elsewhere.

A corpus marks what its own scheme has a name for, so that "weather boston" or "the garage lights"
come without a place or a room. A word that the rows together mark as part of a value more often
than they leave it outside is, left outside, most likely part of a value that nobody marked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dlm.datagen.grammar import Piece

Request = tuple[str, list[Piece]]
"""A tool, and the sentence in pieces whose slots are its parameters."""

_SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these my our your it is are was be does did have has me i you we in on"
        " off out at to of for from by with and or as up down over back about into onto all any",
    )
)
"""Of no meaning to tell a value by; one made of them alone is none."""
_STATES = frozenset(("state",))
"""Parameters whose values may be such words."""
_MENTIONING = frozenset(("read_list",))
"""Tools whose requests name things that are no argument: "are eggs on my list"."""


def complete(requests: Sequence[Request]) -> Iterator[bool]:
    """Of each request, whether its labels seem to leave nothing out.

    Args:
        requests: All that there are, since they are judged by each other.
    """
    marked = all_marked([pieces for _, pieces in requests])
    for (tool, pieces), whole in zip(requests, marked, strict=True):
        values = [_words([p.text]) for p in pieces if p.slot and p.slot not in _STATES]
        yield all(values) and (whole or tool in _MENTIONING)


def all_marked(sentences: Sequence[list[Piece]]) -> Iterator[bool]:
    """Of each sentence, whether no word outside its values is mostly part of one elsewhere.

    Args:
        sentences: All that there are, since they are judged by each other.
    """
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for pieces in sentences:
        inside.update(_words(p.text for p in pieces if p.slot))
        outside.update(_words(p.text for p in pieces if not p.slot))
    for pieces in sentences:
        left = _words(p.text for p in pieces if not p.slot)
        yield all(inside[word] <= outside[word] for word in left)


def from_markers(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows whose slots can be believed, empty ones included.

    A source that marks no value anywhere tells nothing by marking none: where others mark values
    in rows of the same intent, its rows of that intent are left out.

    Args:
        rows: Of the utterance corpora, each with its ``source``, ``intent`` and ``slots``.
    """
    known = list(rows)
    markers = {row["source"] for row in known if row["slots"]}
    marked = {row["intent"] for row in known if row["slots"]}
    return [row for row in known if row["source"] in markers or row["intent"] not in marked]


def _words(texts: Iterable[str]) -> set[str]:
    """The words of some texts that mean something."""
    bare = (word.strip(".,?!\"'") for text in texts for word in text.lower().split())
    return {word for word in bare if word} - _SMALL_WORDS
