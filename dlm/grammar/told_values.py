"""Reads values from texts that say them in another form: lists, scaled numbers, lengths of time.

Arrays are read here because a small model ends them too early and mixes up the parts of an
enumeration: arrays of numbers, of options, or of objects of one string and some numbers. This
module knows nothing of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from dlm.grammar.said import Accepts
from dlm.grammar.said_options import said_as
from dlm.language.enumerations import is_none, listed_numbers, listed_rows
from dlm.language.identifiers import words
from dlm.language.schema import admits_null, is_number, is_words, options, plain
from dlm.language.spoken_durations import durations_in
from dlm.language.spoken_numbers import scaled_in

MOST_NUMBERS = 3
"""Most numbers in one object."""
MOST_ARRAYS = 32
LONGEST_REQUEST = 40
"""In words; a longer text says more about options than which ones are meant."""


def told_values(
    name: str, schema: Mapping[str, Any], texts: Sequence[str], accepts: Accepts
) -> list[Any]:
    """The values that texts give a parameter by enumeration, in a scale or as a length of time.

    ``schema`` is the parameter's as `plain` returns it. Empty if the texts give none.
    """
    listed = _listed(schema, texts, accepts)
    return listed or _scaled(name, schema, texts, accepts)


def among(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], values: Sequence[Any]
) -> dict[str, Any]:
    """A parameter's schema limited to some values."""
    # Not as options, which would become part of the prompt.
    value = {**plain(schema, definitions), "oneOf": [{"enum": list(values)}]}
    value.pop("$defs", None)
    return {"anyOf": [value, {"type": "null"}]} if admits_null(schema) else value


def _listed(schema: Mapping[str, Any], texts: Sequence[str], accepts: Accepts) -> list[list[Any]]:
    """The arrays that texts enumerate and a schema accepts; empty if there are none.

    References of the schema lead to its ``$defs``.
    """
    if schema.get("type") != "array" or not isinstance(schema.get("items"), Mapping):
        return []
    inner = plain(schema["items"], schema.get("$defs", {}))
    found: list[list[Any]] = []
    for text in texts:
        if is_number(inner):
            found += listed_numbers(text)
        elif options(inner):
            found += _options(options(inner), text)
        else:
            found += _objects(inner, text)
    found = found[:MOST_ARRAYS]
    unique = [one for at, one in enumerate(found) if one not in found[:at]]
    fits = accepts(schema) if unique else None
    return [one for one in unique if fits and fits(one)]


def _scaled(
    name: str, schema: Mapping[str, Any], texts: Sequence[str], accepts: Accepts
) -> list[float]:
    """The numbers that texts say in the scale or unit that a name or description ends with.

    5.5 of "5.5 million" for ``millions``, 90 of "an hour and a half" for ``minutes``.
    """
    if not is_number(schema):
        return []
    name, remark = words(name), words(str(schema.get("description", "")))
    said = (
        value
        for text in texts
        for value in scaled_in(text, name) or durations_in(text, name) or durations_in(text, remark)
    )
    found = [int(one) if one == int(one) else one for one in dict.fromkeys(said)]
    fits = accepts(schema) if found else None
    return [one for one in found if fits and fits(one)]


def _options(known: Sequence[Any], text: str) -> list[list[Any]]:
    """The options that a short text says, in its order, without those that it negates ("no …")."""
    if len(text.split()) > LONGEST_REQUEST:
        return []
    at: dict[str, int] = {}
    for option in (one for one in known if isinstance(one, str)):
        for found in said_as(option).finditer(text):
            if not is_none(found[0], text):
                at.setdefault(option, found.start())
    return [sorted(at, key=at.__getitem__)] if at else []


def _objects(schema: Mapping[str, Any], text: str) -> list[list[dict[str, Any]]]:
    """Arrays of objects of one string and some numbers, one array for each order of the numbers."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    parts = {name: plain(one, schema.get("$defs", {})) for name, one in properties.items()}
    numbers = [name for name, one in parts.items() if is_number(one)]
    strings = [name for name in parts if name not in numbers]
    required = set(schema.get("required", ()))
    if not (0 < len(numbers) <= MOST_NUMBERS and len(strings) == 1 and required >= set(parts)):
        return []
    (string,) = strings
    if not is_words(parts[string]) or options(parts[string]):
        return []
    rows = listed_rows(text, len(numbers))
    orders = permutations(range(len(numbers))) if rows else ()
    return [
        [
            {name: thing if name == string else said[order[numbers.index(name)]] for name in parts}
            for thing, said in rows
        ]
        for order in orders
    ]
