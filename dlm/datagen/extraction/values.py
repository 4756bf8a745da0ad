"""Values in the texts of structured answers: how each is written, and what it is in JSON.

The tables are in ``data/extraction.toml``. Texts and schemas are not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from dlm.datagen.language.phrases import template
from dlm.datagen.language.spoken_values import MONTHS, WEEKDAYS, ordinal_of
from dlm.datagen.language.tables import read
from dlm.datagen.language.words import WORDS
from dlm.datagen.values.made_up import blend, pseudo_word
from dlm.language.spoken_numbers import words_of


@dataclass(frozen=True, slots=True)
class _Table:
    instructions: tuple[str, ...]
    questions: tuple[str, ...]
    systems: tuple[str, ...]
    descriptions: tuple[str, ...]
    parents: tuple[str, ...]
    greetings: tuple[str, ...]
    remarks: tuple[str, ...]
    casual: dict[str, str]
    lists: dict[str, tuple[str, ...]]
    forms: dict[str, tuple[str, ...]]


class Given(NamedTuple):
    """What fills a slot: its text, its value in JSON, and the currency if it is an amount."""

    text: str
    value: Any
    currency: str = ""


TABLE = read("extraction", _Table)
CURRENCIES = {"USD": ("$", "dollars"), "EUR": ("€", "euros"), "GBP": ("£", "pounds")}


class Draw:
    """Draws what fills the slots of one row, nothing twice if possible."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        # If a text may have dates in figures, those for a schema's date format are in figures too;
        # otherwise the format would seem to mean another date.
        self.figures = rng.random() < 0.6
        self.digits = rng.random() < 0.75
        self.code = rng.choice(list(CURRENCIES))
        self._seen: set[str] = set()

    def given(self, kind: str, options: dict[str, tuple[str, ...]]) -> Given:
        """A value of a kind, or one of the options."""
        for _ in range(20):
            made = self._given(kind, options)
            if made.text.lower() not in self._seen:
                break
        self._seen.add(made.text.lower())
        return made

    def _given(self, kind: str, options: dict[str, tuple[str, ...]]) -> Given:
        if options:
            option = self.rng.choice(list(options))
            said = self.rng.choice(options[option])
            return Given(said, option == "true" if option in ("true", "false") else option)
        head, *numbers = kind.split()
        if head == "many":
            return self._many(numbers[0])
        if head == "ints":
            low, high = map(int, numbers)
            found = self.rng.sample(range(low, high), self.rng.choice((2, 3, 3, 4, 5)))
            return Given(self.enumerated(list(map(str, found))), found)
        if head == "int":
            low, high = map(int, numbers)
            value = self.rng.randint(low, high)
            spelled = value < 100 and (value < 13 or self.rng.random() < 0.2) and not self.digits
            return Given(words_of(value) if spelled else self._figures(value), value)
        if head == "num":
            share = round(self.rng.uniform(*map(float, numbers)), 1)
            return Given(str(share), plain_number(share))
        if head == "money":
            return self._money(*map(float, numbers))
        if head == "isodate":
            return self._date()
        text = self.word(kind)
        return Given(text, text)

    def word(self, symbol: str) -> str:
        """Text for a symbol of the tables."""
        rng = self.rng
        if symbol in TABLE.forms:
            # Expanded here, because every value comes this way.
            parts = template(rng.choice(TABLE.forms[symbol])).expand(rng)
            return "".join(self.word(part.slot) if part.slot else part.text for part in parts)
        if symbol in TABLE.lists:
            return rng.choice(TABLE.lists[symbol])
        made = _MADE.get(symbol)
        return made(rng, self.figures) if made else rng.choice(WORDS[symbol])

    def _many(self, symbol: str) -> Given:
        rng = self.rng
        found = list(dict.fromkeys(self.word(symbol) for _ in range(rng.choice((1, 2, 3, 3, 4)))))
        return Given(self.enumerated(found), found)

    def enumerated(self, items: list[str]) -> str:
        """Items as an enumeration in a sentence."""
        last = self.rng.choice((" and ", " and ", " and ", ", and ", ", "))
        return last.join([", ".join(items[:-1]), items[-1]]) if items[1:] else items[0]

    def _figures(self, value: int) -> str:
        return f"{value:,}" if value > 9999 and self.rng.random() < 0.5 else str(value)

    def _money(self, low: float, high: float) -> Given:
        rng, whole = self.rng, self.rng.random() < 0.5
        value = rng.randint(int(low), int(high)) + (0 if whole else rng.choice(CENTS) / 100)
        text = f"{value:,.2f}" if not whole else f"{value:,}" if rng.random() < 0.7 else f"{value}"
        sign, name = CURRENCIES[self.code]
        form = rng.choice(("{s}{v}", "{s}{v}", "{v} {n}", "{v} {n}", "{v} {c}", "{c} {v}"))
        said = form.format(s=sign, v=text, n=name, c=self.code)
        return Given(said, plain_number(value), self.code)

    def _date(self) -> Given:
        rng = self.rng
        year, month, day = rng.randint(2019, 2029), rng.randint(1, 12), rng.randint(1, 28)
        value = f"{year}-{month:02d}-{day:02d}"
        if self.figures:
            return Given(value, value)
        name = MONTHS[month - 1].title()
        forms = (f"{day} {name} {year}", f"{name} {day}, {year}", f"{day} {name[:3]} {year}")
        return Given(rng.choice(forms), value)


CENTS = (50, 90, 99, 95, 25, 75, 10, 5, 49, 80)


def plain_number(value: float) -> float | int:
    """A number rounded to two decimals, an int if it is whole."""
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded


def _day(rng: Random, figures: bool) -> str:
    number, month = rng.randint(1, 28), rng.choice(MONTHS).title()
    roll = rng.random()
    if roll < 0.3:
        return rng.choice(WEEKDAYS).title()
    if roll < 0.5:
        named = f"next {rng.choice(WEEKDAYS).title()}"
        return rng.choice(("tomorrow", "today", named, f"the {ordinal_of(number)} of {month}"))
    if figures and roll < 0.65:
        return f"{rng.randint(2020, 2028)}-{MONTHS.index(month.lower()) + 1:02d}-{number:02d}"
    forms = (
        f"{month} {number}",
        f"{number} {month}",
        f"{rng.choice(WEEKDAYS).title()} {number} {month}",
    )
    return rng.choice(forms)


def _clock(rng: Random, _: bool) -> str:
    hour, minute, half = rng.randint(1, 12), rng.choice((0, 0, 15, 30, 45, 10, 20)), rng.random()
    if half < 0.35:
        return f"{rng.randint(6, 22)}:{minute:02d}"
    shown = f"{hour}:{minute:02d}" if minute else str(hour)
    return shown + rng.choice((" am", " pm", "pm", "am", " pm", " AM", " PM"))


_MADE: dict[str, Callable[[Random, bool], str]] = {
    "day": _day,
    "clock": _clock,
    "digit": lambda rng, _: str(rng.randint(0, 9)),
    "first_digit": lambda rng, _: str(rng.randint(1, 9)),
    "letter": lambda rng, _: rng.choice("ABCDEFGHKLMNPRSTUVWXYZ"),
    "pseudo": lambda rng, _: pseudo_word(rng).title(),
    "blend": lambda rng, _: blend(rng).title(),
    "month": lambda rng, _: rng.choice(MONTHS).title(),
    "weekday": lambda rng, _: rng.choice(WEEKDAYS).title(),
    "lower_name": lambda rng, _: rng.choice(WORDS["name"]).lower(),
    "lower_surname": lambda rng, _: rng.choice(WORDS["surname"]).lower().replace("'", ""),
}
