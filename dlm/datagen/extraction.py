"""Structured answers: a message or a paragraph, and the values that a schema asks for.

A kind of document has texts with slots, and fields that fill them. A row is one text, in formal or
casual spelling, perhaps with a remark beside it; some of the fields are asked for, under names that
vary, and the rest stands between. An answer has the layout of `dlm.engine.json_call`: the schema is
declared as a tool, of nested objects by paths, and the answer is its call. Strings are spans of the
text, a list of words is one span that enumerates them, and what the text does not tell is left out.

Kinds of documents and names of fields are held out. The tables are ``data/extraction*.toml``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, NamedTuple

from dlm.datagen.descriptions import synonyms
from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.made_up import blend, pseudo_word
from dlm.datagen.phrases import Piece, fill, template, tidy
from dlm.datagen.spoken_values import MONTHS, WEEKDAYS, ordinal_of
from dlm.datagen.tables import read
from dlm.datagen.words import WORDS
from dlm.datagen.world import capital
from dlm.engine.json_call import DESCRIPTION, NAME
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


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document.

    Attributes:
        what: It tells of, as instructions name it.
        texts: Its slots are fields, and kinds of values that nobody asks for.
        fields: Kind of value and names, as ``data/extraction.toml`` describes.
    """

    what: str
    texts: tuple[str, ...]
    fields: dict[str, str]


class Field(NamedTuple):
    """What may be asked for: the kind of its values, its names, and how each option is said."""

    kind: str
    names: tuple[str, ...]
    options: dict[str, tuple[str, ...]]


class Given(NamedTuple):
    """What fills a slot: how it is said, its value in JSON, and the currency of an amount."""

    text: str
    value: Any
    currency: str = ""


class Asked(NamedTuple):
    """A field of a schema: its path, its schema, whether it must be given, and its value if told.

    Attributes:
        nullable: Whether the client's schema has null for what is not told.
        said: The span of the text that stands for the value.
    """

    path: tuple[str, ...]
    schema: dict[str, Any]
    required: bool
    nullable: bool
    told: bool
    value: Any
    said: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """A text and what a schema asks for.

    Attributes:
        schema: The client's.
        answer: The object that is right.
        row: Of the training data.
    """

    schema: dict[str, Any]
    answer: dict[str, Any]
    row: dict[str, Any]


_TABLE = read("extraction", _Table)
_FILES = ("trade", "travel", "people", "work", "public", "brief")
KINDS: dict[str, Kind] = {
    name: kind
    for file in _FILES
    for name, kind in read(f"extraction_{file}", dict[str, Kind]).items()
}
_CURRENCIES = {"USD": ("$", "dollars"), "EUR": ("€", "euros"), "GBP": ("£", "pounds")}
_BRACKETS = str.maketrans("<>", "()")
_CASUAL = re.compile(rf"\b(?:{'|'.join(map(re.escape, _TABLE.casual))})\b")
_OPTIONAL, _UNTOLD, _NESTED, _DESCRIBED = 0.15, 0.3, 0.08, 0.35
"""Shares of fields that may be left out, of untold fields that are asked for, of nested rows, and
of rows whose fields are described."""


@cache
def kinds(split: str) -> tuple[str, ...]:
    """The kinds of documents of a split."""
    return tuple(name for name in KINDS if unseen(name) == (split == "heldout"))


@cache
def field_of(source: str) -> Field:
    """A field as the tables write it: ``kind: names``, or ``option=said/said | …: names``."""
    kind, _, names = source.rpartition(": ")
    options = {}
    if "=" in kind:
        pairs = (one.split("=") for one in kind.split(" | "))
        options = {name.strip(): tuple(said.strip().split("/")) for name, said in pairs}
    return Field(kind, tuple(names.split(", ")), options)


def names_of(field: Field, split: str) -> tuple[str, ...]:
    """The names that a field may have in a split."""
    shown = tuple(name for name in field.names if not held_out(f"field {name}"))
    return (split == "train" and shown) or field.names


@cache
def common_names() -> frozenset[str]:
    """Names of fields in so many kinds of documents that they say little."""
    fields = (field_of(source) for kind in KINDS.values() for source in kind.fields.values())
    times = Counter(name for field in fields for name in field.names)
    return frozenset(name for name, number in times.items() if number >= _COMMON)


_COMMON = 6


class _Draw:
    """Draws what fills the slots of one row, nothing twice."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        # Where a text has a date in figures, one in words cannot be meant by a date's format.
        self.figures = rng.random() < 0.6
        self.digits = rng.random() < 0.75
        self.code = rng.choice(list(_CURRENCIES))
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
            return Given(self._enumerated(list(map(str, found))), found)
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
        """Text of a symbol of the tables."""
        rng = self.rng
        if symbol in _TABLE.forms:
            # An explicit loop, because every value comes this way.
            parts = template(rng.choice(_TABLE.forms[symbol])).expand(rng)
            return "".join(self.word(part.slot) if part.slot else part.text for part in parts)
        if symbol in _TABLE.lists:
            return rng.choice(_TABLE.lists[symbol])
        made = _MADE.get(symbol)
        return made(rng, self.figures) if made else rng.choice(WORDS[symbol])

    def _many(self, symbol: str) -> Given:
        rng = self.rng
        found = list(dict.fromkeys(self.word(symbol) for _ in range(rng.choice((1, 2, 3, 3, 4)))))
        return Given(self._enumerated(found), found)

    def _enumerated(self, items: list[str]) -> str:
        last = self.rng.choice((" and ", " and ", " and ", ", and ", ", "))
        return last.join([", ".join(items[:-1]), items[-1]]) if items[1:] else items[0]

    def _figures(self, value: int) -> str:
        return f"{value:,}" if value > 9999 and self.rng.random() < 0.5 else str(value)

    def _money(self, low: float, high: float) -> Given:
        rng, whole = self.rng, self.rng.random() < 0.5
        value = rng.randint(int(low), int(high)) + (0 if whole else rng.choice(_CENTS) / 100)
        text = f"{value:,.2f}" if not whole else f"{value:,}" if rng.random() < 0.7 else f"{value}"
        sign, name = _CURRENCIES[self.code]
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


_CENTS = (50, 90, 99, 95, 25, 75, 10, 5, 49, 80)


def plain_number(value: float) -> float | int:
    """A number as JSON writes it shortest."""
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


def write(rng: Random, split: str) -> dict[str, Any]:
    """A row of the training data."""
    return extraction(rng, split).row


def extraction(rng: Random, split: str) -> Extraction:
    """A text, a schema, and the answer."""
    kind = KINDS[rng.choice(kinds(split))]
    fields = {name: field_of(source) for name, source in kind.fields.items()}
    while True:
        draw = _Draw(rng)
        pieces = template(rng.choice(kind.texts)).expand(rng)
        given = {p.slot: p for p in pieces if p.slot}
        drawn = {slot: draw.given(*_kind(slot, fields)) for slot in given}
        chosen = {name for name, field in fields.items() if field.options}
        text, said = _text(rng, pieces, drawn, chosen)
        asked = _asked(rng, split, fields, drawn, said)
        if any(one.told for one in asked):
            return _extraction(rng, kind.what, text, asked)


def _kind(slot: str, fields: dict[str, Field]) -> tuple[str, dict[str, tuple[str, ...]]]:
    field = fields.get(slot)
    if field is None:
        return slot if " " in slot else slot.rstrip("0123456789"), {}
    return field.kind, field.options


def _text(
    rng: Random, pieces: Iterable[Piece], drawn: dict[str, Given], chosen: Container[str]
) -> tuple[str, dict[str, str]]:
    """The text, and how each slot is said in it; ``chosen`` are those of options."""
    roll = rng.random()
    casual, lower = roll < 0.25, roll < 0.15
    said = {slot: one.text.lower() if lower else one.text for slot, one in drawn.items()}
    text = ""
    for piece in pieces:
        words = said[piece.slot] if piece.slot else _own(piece.text, casual, lower)
        if words.lower().startswith(_NO_ON):
            text = text.removesuffix("on ")
        begins = text.rstrip(" ")[-1:] in ("", ".", "!", "?", "\n")
        # Of a value that is copied no letter may change.
        text += capital(words) if begins and not casual and piece.slot in chosen else words
    text = _lines(text)
    if rng.random() < 0.18:
        text = f"{_own(rng.choice(_TABLE.greetings), casual, lower)} {text}"
    if rng.random() < 0.2:
        end = "" if casual or text[-1] in ".!?" else "."
        text += f"{end} {_own(rng.choice(_TABLE.remarks), casual, lower)}"
    if casual and rng.random() < 0.5:
        text = text.removesuffix(".")
    return text, said


_NO_ON = ("tomorrow", "today", "next ")
"""Days that no "on" stands before."""


def _own(text: str, casual: bool, lower: bool) -> str:
    """Words of a text that are no value, as they are spelled."""
    text = text.translate(_BRACKETS)
    text = text.lower() if lower else text
    return _CASUAL.sub(lambda found: _TABLE.casual[found[0]], text) if casual else text


def _lines(text: str) -> str:
    return "\n".join(map(tidy, text.split("\n")))


def _asked(
    rng: Random, split: str, fields: dict[str, Field], drawn: dict[str, Given], said: dict[str, str]
) -> list[Asked]:
    """Some of the fields that the text tells, and perhaps some that it does not."""
    told = [name for name, field in fields.items() if _slot(name, field) in drawn]
    other = [name for name in fields if name not in told]
    alike = {_kind(slot, fields)[0].split()[0] for slot in drawn}
    names = rng.sample(told, rng.randint(min(1, len(told)), min(6, len(told))))
    names += [name for name in other if rng.random() < _UNTOLD][:2]
    if rng.random() < 0.5:
        names = [name for name in fields if name in names]
    parent = (rng.choice(_TABLE.parents),) if rng.random() < _NESTED and len(names) > 1 else ()
    nested = rng.randint(1, len(names)) if parent else 0
    style = rng.choice(_STYLES)
    described = Random(repr(said)).random() < _DESCRIBED
    asked, used = [], set()
    for number, name in enumerate(names):
        field = fields[name]
        free = [one for one in names_of(field, split) if one not in used and one not in parent]
        if name in other and field.kind.split()[0] in alike:
            # "date" is no name for one of two dates where the other is told.
            free = [one for one in free if one not in common_names()]
        if not free:
            continue
        shown = rng.choice(free)
        used.add(shown)
        slot = _slot(name, field)
        one = drawn.get(slot)
        required = one is not None and rng.random() >= _OPTIONAL
        schema, value = _schema(rng, field, one, style)
        if described and (about := synonyms(field.names, shown)):
            schema["description"] = about[0]
        nullable = not required and schema.get("type") != "array" and rng.random() < 0.5
        path = (*(parent if number < nested else ()), shown)
        asked.append(
            Asked(path, schema, required, nullable, one is not None, value, said.get(slot, ""))
        )
    return asked


_STYLES = (str, str, str, str.upper, lambda text: text.replace(" ", "_"))
"""How options are written."""


def _slot(name: str, field: Field) -> str:
    """The slot that tells a field: a currency stands with its amount."""
    return field.kind.removeprefix("currency ") if field.kind.startswith("currency ") else name


def _schema(rng: Random, field: Field, one: Given | None, style: Any) -> tuple[dict[str, Any], Any]:
    """A field's schema, and its value under it."""
    head = field.kind.split()[0]
    value = one.value if one else None
    if head == "currency":
        names = {code: code for code in _CURRENCIES}
        if rng.random() < 0.3:
            names = {code: name for code, (_, name) in _CURRENCIES.items()}
        listed = rng.sample(list(names.values()), len(names))
        return {"type": "string", "enum": listed}, names[one.currency] if one else None
    if field.options.keys() & {"true", "false"}:
        return {"type": "boolean"}, value
    if field.options:
        listed = [style(option) for option in field.options]
        if rng.random() < 0.5:
            rng.shuffle(listed)
        return {"type": "string", "enum": listed}, style(value) if one else None
    if head in _TYPES:
        return dict(_TYPES[head]), value
    if head == "email" and rng.random() < 0.3:
        return {"type": "string", "format": "email"}, value
    return {"type": "string"}, value


_TYPES: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "num": {"type": "number"},
    "money": {"type": "number"},
    "many": {"type": "array", "items": {"type": "string"}},
    "ints": {"type": "array", "items": {"type": "integer"}},
    "isodate": {"type": "string", "format": "date"},
}


def _extraction(rng: Random, what: str, text: str, asked: list[Asked]) -> Extraction:
    described = ""
    if rng.random() < 0.3:
        described = fill(
            rng.choice(_TABLE.descriptions), rng, {"what": what, "What": what.capitalize()}
        )
    *first, last = (one.path[-1].replace("_", " ") for one in asked)
    keys = f"{', '.join(first)} and {last}" if first else last
    fields = {"what": what, "keys": keys}
    system, roll = "", rng.random()
    if roll < 0.25:
        system = fill(rng.choice(_TABLE.systems), rng, fields)
    elif roll < 0.42:
        joint = rng.choice(("\n\n", "\n", " "))
        text = fill(rng.choice(_TABLE.instructions), rng, fields) + joint + text
    elif roll < 0.55:
        text += rng.choice(("\n\n", "\n")) + fill(rng.choice(_TABLE.questions), rng, fields)
    call = {
        "name": NAME,
        "arguments": {".".join(one.path): _argument(one) for one in asked if one.told},
    }
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    row = {"system": system, "tools": [_tool(described, asked)], "messages": messages}
    return Extraction(_client_schema(described, asked), _answer(asked), row)


def _argument(one: Asked) -> Any:
    """A value as the answer's grammar spells it."""
    kind = one.schema["type"]
    if "format" in one.schema:
        # Such a string is written as JSON.
        return json.dumps(one.value if one.schema["format"] == "date" else one.said)
    free = kind == "string" and "enum" not in one.schema
    return one.said if free or _is_list_of_words(one.schema) else one.value


def _is_list_of_words(schema: dict[str, Any]) -> bool:
    return bool(schema["type"] == "array" and schema["items"]["type"] == "string")


def _tool(described: str, asked: list[Asked]) -> dict[str, Any]:
    """The tool that stands for the schema."""
    properties = {".".join(one.path): _parameter(one.schema) for one in asked}
    required = [".".join(one.path) for one in asked if one.required]
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": NAME, "description": described or DESCRIPTION, "parameters": parameters}


def _parameter(schema: dict[str, Any]) -> dict[str, Any]:
    """A field's schema as a parameter's: a list of words is a text that enumerates them."""
    if not _is_list_of_words(schema):
        return schema
    return {key: part for key, part in schema.items() if key != "items"} | {"type": "string"}


def _object() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def _client_schema(described: str, asked: list[Asked]) -> dict[str, Any]:
    """The schema as a client sends it."""
    schema = {**({"description": described} if described else {}), **_object()}
    for one in asked:
        inner = schema
        for name in one.path[:-1]:
            if name not in inner["properties"]:
                inner["properties"][name] = _object()
                inner["required"].append(name)
            inner = inner["properties"][name]
        null = {"anyOf": [one.schema, {"type": "null"}]}
        inner["properties"][one.path[-1]] = null if one.nullable else one.schema
        if one.required or one.nullable:
            inner["required"].append(one.path[-1])
    return schema


def _answer(asked: list[Asked]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for one in asked:
        inner = answer
        for name in one.path[:-1]:
            inner = inner.setdefault(name, {})
        if one.told:
            value = one.value
            if _is_list_of_words(one.schema) and one.said.islower():
                value = [item.lower() for item in value]
            elif one.schema["type"] == "string" and "enum" not in one.schema:
                value = value if one.schema.get("format") == "date" else one.said
            inner[one.path[-1]] = value
        elif one.nullable:
            inner[one.path[-1]] = None
    return answer
