"""Composed texts with structured answers: any facts about any thing, and what a schema asks for.

The schema asks for some facts of a text from `dlm.datagen.extraction.composed_texts`, and for some
that it does not tell, under names in any style. Only reading gives the answer: numbers are numbers,
strings are spans of the text, and a day is as it is written unless the schema has a format.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from dlm.datagen.extraction.composed_facts import SHARED, Fact
from dlm.datagen.extraction.composed_texts import Composed, compose
from dlm.datagen.extraction.composed_values import Told
from dlm.datagen.extraction.rows import Asked, Extraction, laid_out
from dlm.datagen.extraction.values import CURRENCIES, TABLE
from dlm.datagen.holdout import held_out
from dlm.datagen.tools.renaming import styled
from dlm.datagen.tools.world import capital

_OPTIONAL, _NESTED, _DESCRIBED, _SHORT, _CURRENCY, _UNTOLD = 0.15, 0.15, 0.3, 0.12, 0.15, 0.35
"""Shares of told fields that are optional; of rows that are nested, have descriptions or short
names; of texts with amounts whose currency is asked for; of rows with fields that are not told."""
_CURRENCY_NAMES = {code: name for code, (_, name) in CURRENCIES.items()}
_CURRENCY_FACT = Fact("currency", ("currency", "currency_code", "price_currency", "currency_unit"))
_ITEMS = {"many": "string", "ints": "integer"}
_FORMATS = {"date": "date", "due": "date", "time": "time", "email": "email", "link": "uri"}
_STYLES = ("snake", "snake", "snake", "camel", "camel", "words", "pascal")
_OPTIONS: tuple[Callable[[str], str], ...] = (
    str, str, str, str.upper, str.title, lambda text: text.replace(" ", "_"),
)  # fmt: skip
_DESCRIPTIONS = (
    "{l}", "{L}", "the {l}", "The {l}.", "{L} of the {w}", "{L}, if given", "{L} in the text",
)  # fmt: skip


class _Manner(NamedTuple):
    """How a schema is written."""

    style: str
    short: bool
    described: bool
    option: Callable[[str], str]


def extraction(rng: Random, split: str) -> Extraction:
    """A text, a schema, and the answer."""
    while True:
        text = compose(rng, split)
        asked = _asked(rng, split, text)
        if any(one.told for one in asked):
            return laid_out(rng, text.topic.what, text.text, asked)


def _asked(rng: Random, split: str, text: Composed) -> list[Asked]:
    """Choose some of the facts that are told, and perhaps some that are not."""
    what = text.topic.what
    known = [name for name in text.told if text.facts[name].names]
    names = rng.sample(known, min(rng.choice((2, 3, 3, 4, 4, 5, 5, 6, 7, 8)), len(known)))
    if rng.random() < _UNTOLD:
        untold = _untold(text)
        names += rng.sample(untold, min(rng.choice((1, 1, 2)), len(untold)))
    rng.shuffle(names)
    manner = _Manner(
        rng.choice(_STYLES), rng.random() < _SHORT, rng.random() < _DESCRIBED, rng.choice(_OPTIONS)
    )
    parent: tuple[str, ...] = ()
    nested = rng.randint(1, len(names) - 1) if rng.random() < _NESTED and names[2:] else 0
    if any(name in text.told for name in names[:nested]):
        parent = (styled(rng.choice(TABLE.parents).split("_"), manner.style),)
    asked: list[Asked] = []
    for number, name in enumerate(names):
        key = _key(rng, split, text, name, manner)
        path = (*(parent if number < nested else ()), key)
        if all(path != one.path for one in asked) and key not in parent:
            told = text.told.get(name)
            asked.append(_field(rng, what, text.facts[name], told, path, manner))
    code = next((one.currency for one in text.told.values() if one.currency), "")
    if code and rng.random() < _CURRENCY:
        path = (styled(rng.choice(_CURRENCY_FACT.names).split("_"), manner.style),)
        asked.append(_field(rng, what, _CURRENCY_FACT, Told("", code), path, manner))
    return asked


def _untold(text: Composed) -> list[str]:
    """Facts that the text neither tells nor seems to tell."""
    # The person who signs a message may be the seller, and its date that of the invoice.
    beside = {text.facts[name].alike for name in text.told if not text.facts[name].names}
    beside |= {"date"} if text.dated else set()
    return [
        name
        for name in text.topic.facts
        if name not in text.told
        and not text.topic.contradicts(name, text.told)
        and text.facts[name].alike not in beside
    ]


def _key(rng: Random, split: str, text: Composed, name: str, manner: _Manner) -> str:
    fact = text.facts[name]
    names = fact.names
    if name in text.told and rng.random() < 0.4:
        names = tuple(one for one in fact.loose if _is_clear(text, name, one)) or names
    if split == "train":
        names = tuple(one for one in names if not held_out(f"field {one}")) or names
    words = rng.choice(names).split("_")
    if manner.short:
        words = [SHARED.short.get(word, word) for word in words]
    return " ".join(words) if manner.style == "words" else styled(words, manner.style)


def _is_clear(text: Composed, name: str, loose: str) -> bool:
    """Whether a loose name cannot mean anything else in the text."""
    others = [text.facts[other] for other in text.told if other != name]
    alike = {text.facts[name].alike} | ({"person"} if loose == "name" else set())
    return all(one.alike not in alike and loose not in one.loose for one in others)


def _field(
    rng: Random,
    what: str,
    fact: Fact,
    told: Told | None,
    path: tuple[str, ...],
    manner: _Manner,
) -> Asked:
    schema, value = _schema(rng, fact, told, manner.option)
    if manner.described and rng.random() < 0.8:
        label = fact.names[-1].replace("_", " ")
        form = rng.choice(_DESCRIPTIONS)
        schema["description"] = form.format(l=label, L=capital(label), w=what)
    required = told is not None and rng.random() >= _OPTIONAL
    nullable = not required and schema["type"] != "array" and rng.random() < 0.5
    return Asked(
        path, schema, required, nullable, told is not None, value, told.text if told else ""
    )


def _schema(
    rng: Random, fact: Fact, told: Told | None, option: Callable[[str], str]
) -> tuple[dict[str, Any], Any]:
    """A fact's schema, and its value under it."""
    value, head = told.value if told else None, fact.head
    if fact.is_flag:
        return {"type": "boolean"}, value
    if fact is _CURRENCY_FACT:
        signs = rng.choice(({code: code for code in CURRENCIES}, _CURRENCY_NAMES))
        listed = rng.sample(list(signs.values()), len(signs))
        return {"type": "string", "enum": listed}, signs[str(value)]
    if fact.options:
        listed = [option(one) for one in (*fact.options, *fact.others)]
        rng.shuffle(listed)
        return {"type": "string", "enum": listed}, option(value) if value else None
    if head in ("money", "num", "size", "millions"):
        if told and rng.random() < 0.08 and head != "num":
            return {"type": "string"}, told.text
        whole = isinstance(value, int) and rng.random() < 0.15
        return {"type": "integer" if whole else "number"}, value
    if head in ("int", "count", "year", "only", "nth"):
        return {"type": "integer" if rng.random() < 0.9 else "number"}, value
    if head in _ITEMS:
        return {"type": "array", "items": {"type": _ITEMS[head]}}, value
    shape = told.format if told else _FORMATS.get(head, "")
    if shape and rng.random() < 0.5:
        return {"type": "string", "format": shape}, told.iso if told else None
    return {"type": "string"}, value
