"""Phrases: text with ``(a|b)`` choices, ``[optional]`` parts and ``{slots}``.

A slot may have its own words: ``{quantity=two}``. A template expands into pieces, so that what
fills a slot stays known after noise has been applied. The module also tells which phrasings are
orders, and puts polite words around them. Tools are not known here.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import NamedTuple

from dlm.datagen.language.wording import WORDING


class Piece(NamedTuple):
    """Some words of an utterance; ``slot`` is what they fill, empty for the template's own."""

    text: str
    slot: str = ""


_Sequence = list["str | Piece | list[_Sequence]"]


class Template:
    """One compiled template.

    Args:
        source: The template's text; whitespace between parts is not significant.

    Raises:
        ValueError: Brackets are not balanced.
    """

    __slots__ = ("_root", "slots", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.slots: frozenset[str]
        names: set[str] = set()
        self._root, _ = _parse(source, 0, "", names)
        self.slots = frozenset(names)

    def expand(self, rng: Random) -> list[Piece]:
        """One random reading of the template: its pieces in order, slots still empty."""
        pieces: list[Piece] = []
        _expand(self._root[rng.randrange(len(self._root))], rng, pieces)
        return pieces


@cache
def template(source: str) -> Template:
    """A compiled template, cached."""
    return Template(source)


def fill(source: str, rng: Random, fields: dict[str, str]) -> str:
    """A random reading of ``source`` with its slots replaced by ``fields``.

    Raises:
        KeyError: The reading has a slot that ``fields`` lacks.
    """
    parts = [fields[p.slot] if p.slot else p.text for p in template(source).expand(rng)]
    return tidy("".join(parts))


_ORDER_WORDS = """
give set check add stop remind remove turn put forget get make read tell convert start begin alert
run show shut wake program help ping remember go jot tick open calculate search find pull
"""
_ORDERS = frozenset(_ORDER_WORDS.split())


def is_order(source: str) -> bool:
    """Whether a phrasing is an order: marked with "!", or beginning with a known verb."""
    first = source.lstrip("([").replace("|", " ").replace(")", " ").split(" ")[0]
    return source.startswith("!") or first in _ORDERS


def parameter_of(slot: str) -> tuple[str, str]:
    """A slot's parameter and the number of its call: "item2" is ("item", "2")."""
    name = slot.rstrip("0123456789")
    return name, slot[len(name) :]


def tidy(text: str) -> str:
    """Collapse whitespace, and remove the spaces before punctuation that empty options left."""
    text = " ".join(text.split())
    return text.replace(" ,", ",").replace(" .", ".").replace(" ?", "?").replace(" !", "!")


def _parse(source: str, at: int, closing: str, names: set[str]) -> tuple[list[_Sequence], int]:
    options: list[_Sequence] = [[]]
    text: list[str] = []

    def flush() -> None:
        if text:
            options[-1].append("".join(text))
            text.clear()

    while at < len(source):
        char = source[at]
        if char == closing:
            break
        if char in ")]":
            raise ValueError(f"template must be balanced, got {source!r}")
        at += 1
        if char in "([":
            flush()
            inner, at = _parse(source, at, ")" if char == "(" else "]", names)
            if at >= len(source):
                raise ValueError(f"template must be balanced, got {source!r}")
            at += 1
            options[-1].append(inner if char == "(" else [*inner, *([] for _ in inner)])
        elif char == "{":
            flush()
            end = source.index("}", at)
            name, _, words = source[at:end].partition("=")
            if not words:
                names.add(name)
            options[-1].append(Piece(words, name))
            at = end + 1
        elif char == "|":
            flush()
            options.append([])
        else:
            text.append(char)
    flush()
    return options, at


def _expand(sequence: _Sequence, rng: Random, pieces: list[Piece]) -> None:
    for node in sequence:
        if isinstance(node, str):
            pieces.append(Piece(node))
        elif isinstance(node, Piece):
            pieces.append(node)
        else:
            _expand(node[int(rng.random() * len(node))], rng, pieces)


def polite(rng: Random, pieces: list[Piece]) -> list[Piece]:
    """An order, half of the time with words before or after it."""
    roll = rng.random()
    if roll < 0.35:
        return [Piece(f"{rng.choice(WORDING.before_orders)} "), *pieces]
    if roll < 0.5:
        return [*pieces, Piece(f" {rng.choice(WORDING.after_orders)}")]
    return pieces
