"""Structured answers for kinds of documents: a message, and the values that a schema asks for.

A kind of document has texts with slots, and fields that fill them. A row is one text, in formal or
casual spelling, perhaps with a remark added; some of its fields are asked for, under varying names.
Texts that are composed anew from facts each time are made in
`dlm.datagen.extraction.composed_extraction`.

Kinds of documents and names of fields are held out. The tables are ``data/extraction*.toml``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, NamedTuple

from dlm.datagen.extraction.rows import Asked, Extraction, is_list_of_words, laid_out
from dlm.datagen.extraction.values import CURRENCIES, TABLE, Draw, Given
from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.language.phrases import Piece, template, tidy
from dlm.datagen.language.tables import read
from dlm.datagen.tools.descriptions import synonyms
from dlm.datagen.tools.world import capital


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document.

    Attributes:
        what: What it is about, as instructions name it.
        texts: Templates; their slots are fields, or kinds of values that are not asked for.
        fields: Field → kind of value and names, in the notation of ``data/extraction.toml``.
    """

    what: str
    texts: tuple[str, ...]
    fields: dict[str, str]


class Field(NamedTuple):
    """Something that may be asked for: kind of values, names, and how each option is said."""

    kind: str
    names: tuple[str, ...]
    options: dict[str, tuple[str, ...]]


_FILES = ("trade", "travel", "people", "work", "public", "brief")
KINDS: dict[str, Kind] = {
    name: kind
    for file in _FILES
    for name, kind in read(f"extraction_{file}", dict[str, Kind]).items()
}
_BRACKETS = str.maketrans("<>", "()")
_CASUAL = re.compile(rf"\b(?:{'|'.join(map(re.escape, TABLE.casual))})\b")
_OPTIONAL, _UNTOLD, _NESTED, _DESCRIBED = 0.15, 0.3, 0.08, 0.35
"""Shares of told fields that are optional, of untold fields that are asked for, of rows with nested
fields, and of rows with descriptions."""


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
    """Names of fields that occur so often that they say little."""
    fields = (field_of(source) for kind in KINDS.values() for source in kind.fields.values())
    times = Counter(name for field in fields for name in field.names)
    return frozenset(name for name, number in times.items() if number >= _COMMON)


_COMMON = 6


def extraction(rng: Random, split: str) -> Extraction:
    """A text, a schema, and the answer."""
    kind = KINDS[rng.choice(kinds(split))]
    fields = {name: field_of(source) for name, source in kind.fields.items()}
    while True:
        draw = Draw(rng)
        pieces = template(rng.choice(kind.texts)).expand(rng)
        given = {p.slot: p for p in pieces if p.slot}
        drawn = {slot: draw.given(*_kind(slot, fields)) for slot in given}
        chosen = {name for name, field in fields.items() if field.options}
        text, said = _text(rng, pieces, drawn, chosen)
        asked = _asked(rng, split, fields, drawn, said)
        if any(one.told for one in asked):
            return laid_out(rng, kind.what, text, asked)


def _kind(slot: str, fields: dict[str, Field]) -> tuple[str, dict[str, tuple[str, ...]]]:
    field = fields.get(slot)
    if field is None:
        return slot if " " in slot else slot.rstrip("0123456789"), {}
    return field.kind, field.options


def _text(
    rng: Random, pieces: Iterable[Piece], drawn: dict[str, Given], chosen: Container[str]
) -> tuple[str, dict[str, str]]:
    """The text, and how it says each slot; ``chosen`` are the fields with options."""
    roll = rng.random()
    casual, lower = roll < 0.25, roll < 0.15
    said = {slot: one.text.lower() if lower else one.text for slot, one in drawn.items()}
    text = ""
    for piece in pieces:
        words = said[piece.slot] if piece.slot else _own(piece.text, casual, lower)
        if words.lower().startswith(_NO_ON):
            text = text.removesuffix("on ")
        begins = text.rstrip(" ")[-1:] in ("", ".", "!", "?", "\n")
        # Not for values that are copied from the text, as no letter of those may change.
        text += capital(words) if begins and not casual and piece.slot in chosen else words
    text = _lines(text)
    if rng.random() < 0.18:
        text = f"{_own(rng.choice(TABLE.greetings), casual, lower)} {text}"
    if rng.random() < 0.2:
        end = "" if casual or text[-1] in ".!?" else "."
        text += f"{end} {_own(rng.choice(TABLE.remarks), casual, lower)}"
    if casual and rng.random() < 0.5:
        text = text.removesuffix(".")
    return text, said


_NO_ON = ("tomorrow", "today", "next ")
"""Beginnings of days that take no "on"."""


def _own(text: str, casual: bool, lower: bool) -> str:
    """A text's own words, in its spelling."""
    text = text.translate(_BRACKETS)
    text = text.lower() if lower else text
    return _CASUAL.sub(lambda found: TABLE.casual[found[0]], text) if casual else text


def _lines(text: str) -> str:
    return "\n".join(map(tidy, text.split("\n")))


def _asked(
    rng: Random, split: str, fields: dict[str, Field], drawn: dict[str, Given], said: dict[str, str]
) -> list[Asked]:
    """Choose some of the fields that the text tells, and perhaps some that it does not tell."""
    told = [name for name, field in fields.items() if _slot(name, field) in drawn]
    other = [name for name in fields if name not in told]
    alike = {_kind(slot, fields)[0].split()[0] for slot in drawn}
    names = rng.sample(told, rng.randint(min(1, len(told)), min(6, len(told))))
    names += [name for name in other if rng.random() < _UNTOLD][:2]
    if rng.random() < 0.5:
        names = [name for name in fields if name in names]
    parent = (rng.choice(TABLE.parents),) if rng.random() < _NESTED and len(names) > 1 else ()
    nested = rng.randint(1, len(names)) if parent else 0
    style = rng.choice(_STYLES)
    described = Random(repr(said)).random() < _DESCRIBED
    asked, used = [], set()
    for number, name in enumerate(names):
        field = fields[name]
        free = [one for one in names_of(field, split) if one not in used and one not in parent]
        if name in other and field.kind.split()[0] in alike:
            # "date" cannot be the name of an untold date if the text tells another one.
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
        words = said.get(slot, "")
        if is_list_of_words(schema) and words.islower():
            value = [item.lower() for item in value]
        elif (
            schema["type"] == "string"
            and schema.get("format") in (None, "email")
            and "enum" not in schema
        ):
            value = words
        asked.append(Asked(path, schema, required, nullable, one is not None, value, words))
    return asked


_STYLES = (str, str, str, str.upper, lambda text: text.replace(" ", "_"))
"""Ways to write options."""


def _slot(name: str, field: Field) -> str:
    """The slot that tells a field; a currency is told by its amount."""
    return field.kind.removeprefix("currency ") if field.kind.startswith("currency ") else name


def _schema(rng: Random, field: Field, one: Given | None, style: Any) -> tuple[dict[str, Any], Any]:
    """A field's schema, and its value under it."""
    head = field.kind.split()[0]
    value = one.value if one else None
    if head == "currency":
        names = {code: code for code in CURRENCIES}
        if rng.random() < 0.3:
            names = {code: name for code, (_, name) in CURRENCIES.items()}
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
