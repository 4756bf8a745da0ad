"""Values for the parameters of written functions: their schema, wording and JSON value.

A parameter's kind has a short notation: ``city`` is a list of ``data/written.toml`` (if its name
begins with ``code_``, ``#`` is any digit and ``@`` any capital letter); ``1..20`` is an integer and
``0.5..9.5`` a number with at most as many decimals; ``km=kilometers|mi=miles`` are options with
their words; ``flag`` is true or false; ``[city]`` is an array, and ``[1..9]2`` an array of two;
``date``, ``isodate``, ``birthday`` and ``time`` are what they say. A string is always as written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import Any

from dlm.datagen.language.tables import Lists
from dlm.datagen.tools.catalog import Spec
from dlm.language.spoken_numbers import words_of

FLAG = "flag"
DATES = frozenset(("date", "isodate", "birthday", "time"))
_RANGE = re.compile(r"(-?[\d.]+?)\.\.(-?[\d.]+)")
_ARRAY = re.compile(r"\[(.+)\](\d*)")
_FORMS = ("%Y-%m-%d", "%Y-%m-%d", "%B %-d, %Y", "%-d %B %Y", "%B %-d", "%m/%d/%Y", "%b %-d, %Y")
RELATIVE = ("tomorrow", "today", "next Monday", "next Friday", "this Saturday")
"""Days that take no "on"."""
_TRIES = 12

Drawn = tuple[str, Any]
"""What is written, and its value."""


@cache
def choices(kind: str) -> dict[str, tuple[str, ...]]:
    """Option → how it may be said; empty if a kind has no options."""
    if "|" not in kind:
        return {}
    parted = (option.partition("=") for option in kind.split("|"))
    return {name: tuple(said.split("/")) if said else (name,) for name, _, said in parted}


@cache
def bounds(kind: str) -> tuple[float, float, int] | None:
    """The bounds of a range and its number of decimals; None for other kinds."""
    found = _RANGE.fullmatch(kind)
    if found is None:
        return None
    decimals = max(len(part.partition(".")[2]) for part in found.groups())
    return float(found[1]), float(found[2]), decimals


def schema(kind: str) -> Spec:
    """The JSON schema of a kind."""
    if array := _ARRAY.fullmatch(kind):
        return {"type": "array", "items": schema(array[1])}
    if options := choices(kind):
        return {"type": "string", "enum": list(options)}
    if limits := bounds(kind):
        return {"type": "number" if limits[2] else "integer"}
    return {"type": "boolean" if kind == FLAG else "string"}


@dataclass(slots=True)
class Draw:
    """Draws the values of one row, no value twice if possible.

    Attributes:
        lower: Whether everything is written in lower case.
        apart: Whether arrays of numbers are written without "and", as there are several of them.
    """

    rng: Random
    lists: Lists
    lower: bool = False
    apart: bool = False
    used: set[str] = field(default_factory=set)
    _own: set[str] = field(default_factory=set)
    # Length of every array of numbers in a call.
    _count: int = 3
    _day: date | None = None
    _form: str = ""

    def begin(self, apart: bool = False) -> None:
        """Begin another call, which may have the options of the previous one."""
        self.apart = apart
        self._own = set()
        self._count = self.rng.choice((3, 4, 5, 5, 6, 7))

    def draw(self, kind: str) -> Drawn:
        """A value that was not drawn before, or at least not for this call, if one is found."""
        kept: Drawn | None = None
        for _ in range(_TRIES):
            text, value = self._any(kind)
            drawn = {text.lower(), json.dumps(value).lower()}
            if self.used.isdisjoint(drawn):
                kept = text, value
                break
            if kept is None and self._own.isdisjoint(drawn):
                kept = text, value
        text, value = kept or (text, value)
        drawn = {text.lower(), json.dumps(value).lower()}
        self.used |= drawn
        self._own |= drawn
        return text, value

    def preset(self, kind: str, words: str) -> Drawn:
        """A value that a phrasing itself has: ``value:words``, or the words of a string."""
        value, _, said = words.partition(":")
        if kind == FLAG:
            return said, value == "true"
        return (said, value) if said else (words, words)

    def _any(self, kind: str) -> Drawn:
        rng = self.rng
        if array := _ARRAY.fullmatch(kind):
            return self._array(array[1], int(array[2] or 0))
        if options := choices(kind):
            option = rng.choice(list(options))
            return self._cased(rng.choice(options[option])), option
        if limits := bounds(kind):
            return self._number(*limits)
        if kind in DATES:
            text = self._cased(self._time() if kind == "time" else self._date(kind))
        else:
            text = rng.choice(self.lists[kind])
            text = self._cased(_inscribed(text, rng) if kind.startswith("code_") else text)
        return text, text

    def _cased(self, text: str) -> str:
        return text.lower() if self.lower else text

    def _array(self, kind: str, count: int) -> Drawn:
        rng = self.rng
        numbers = bounds(kind)
        count = count or (self._count if numbers else rng.choice((2, 2, 3, 3, 4)))
        items = [self.draw(kind) for _ in range(count)]
        if numbers:
            texts = [json.dumps(value) for _, value in items]
            text = ", ".join(texts)
            form = rng.random()
            if form < (0.8 if self.apart else 0.4):
                text = f"[{text}]"
            elif form < 0.7 and not self.apart:
                text = f"{', '.join(texts[:-1])} and {texts[-1]}"
        else:
            text = enumerated(rng, [said for said, _ in items])
        return text, [value for _, value in items]

    def _number(self, low: float, high: float, decimals: int) -> Drawn:
        rng = self.rng
        if not decimals:
            whole = rng.randint(int(low), int(high))
            if whole >= 10000 and rng.random() < 0.35:
                return f"{whole:,}", whole
            spelled = 2 <= whole <= 12 and low > 0 and rng.random() < 0.12
            return words_of(whole) if spelled else str(whole), whole
        value = round(rng.uniform(low, high), rng.randint(0 if high - low > 4 else 1, decimals))
        value = int(value) if value == int(value) else value
        return json.dumps(value), value

    def _date(self, kind: str) -> str:
        rng = self.rng
        if kind == "birthday":
            born = date(1940, 1, 1) + timedelta(days=rng.randrange(25000))
            return born.strftime(rng.choice(_FORMS[:4]))
        if self._day is None:
            self._day = date(2023, 1, 1) + timedelta(days=rng.randrange(1400))
            self._form = rng.choice(_FORMS)
            if kind == "date" and rng.random() < 0.3:
                return rng.choice(RELATIVE)
        else:
            self._day += timedelta(days=rng.randint(1, 14))
        return self._day.strftime("%Y-%m-%d" if kind == "isodate" else self._form)

    def _time(self) -> str:
        rng = self.rng
        hour, minute = rng.randint(1, 12), rng.choice((0, 0, 15, 30, 45))
        half = rng.choice(("AM", "PM", "am", "pm"))
        return rng.choice((
            f"{hour}:{minute:02d} {half}", f"{hour + 9}:{minute:02d}", f"{hour} {half}",
        ))  # fmt: skip


def enumerated(rng: Random, said: list[str]) -> str:
    """Some words as a list: "a, b and c"."""
    if len(said) == 1:
        return said[0]
    joint = ", and " if len(said) > 2 and rng.random() < 0.4 else " and "
    return ", ".join(said[:-1]) + joint + said[-1]


def _inscribed(text: str, rng: Random) -> str:
    made = (
        str(rng.randint(1, 9)) if c == "#" else chr(rng.randint(65, 90)) if c == "@" else c
        for c in text
    )
    return "".join(made)
