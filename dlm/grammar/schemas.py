"""Prepares JSON schemas for the grammar: closed, bounded, without mere annotations.

A weak model fills whatever a schema leaves open without end: unnamed properties, digits,
characters, items. This module limits them all. It knows nothing of tokens.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dlm.grammar.compiled import is_pattern
from dlm.language.schema import FORMATS, options, plain

MOST_CHARACTERS = 4096
MOST_DIGITS = 15
"""As many as a double holds, so that every JSON reader gets the number that was written."""
MOST_DECIMALS = 6
MOST_ITEMS = 256
MOST_PROPERTIES = 64
"""Most properties that a schema does not name."""
MOST_KEY_CHARACTERS = 64

_LARGEST = 10**MOST_DIGITS - 1
# Bounds beyond this count as none: llguidance cannot read them all.
_FARTHEST = 10**18
_LOWER = ("minimum", "exclusiveMinimum")
_UPPER = ("maximum", "exclusiveMaximum")
_JOINING = (
    *("allOf", "not", "if", "then", "else", "patternProperties", "unevaluatedProperties"),
    *("dependentSchemas", "minProperties", "propertyNames"),
)
VALUES = ("enum", "const", "default", "examples", "required", "propertyNames")
"""Keywords whose values hold no schemas."""
# Numbers of more digits are too large for `datetime.timedelta`.
_DURATION = r"^(\D+\d{1,6})+\D$"
# What Pydantic up to 2.13 writes for a Decimal, without and with limits; N stands for a number.
_DECIMALS = tuple(
    re.compile(re.escape(rf"^(?!^[-+.]*$)[+-]?0*{rest}").replace("N", r"(\d{1,3})"))
    for rest in (
        r"\d*\.?\d*$",
        r"\d*\.?\d{0,N}0*$",
        r"(?:\d{0,N}|(?=[\d.]{1,N}0*$)\d*\.\d*0*$)",
        r"(?:\d{0,N}|(?=[\d.]{1,N}0*$)\d{0,N}\.\d{0,N}0*$)",
    )
)
_OF_NAMES = {"type", "enum", "const", "anyOf", "title", "description", "$defs"}
# Keywords whose values map names to schemas; these names may look like keywords.
_NAMED = ("properties", "patternProperties", "$defs", "definitions")

Node = Mapping[str, Any]


def rewritten(node: Any, change: Callable[[dict[str, Any]], Node]) -> Any:
    """Apply a change to a schema, or a list of them, and every schema inside, innermost first."""
    if isinstance(node, list):
        return [rewritten(part, change) for part in node]
    if not isinstance(node, Mapping):
        return node
    made = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, Mapping):
            made[key] = {name: rewritten(part, change) for name, part in value.items()}
        else:
            made[key] = value if key in VALUES else rewritten(value, change)
    return change(made)


def patterns(schema: Node) -> Iterator[str]:
    """All patterns inside a schema."""
    todo: list[Any] = [schema]
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping):
            if isinstance(node.get("pattern"), str):
                yield node["pattern"]
            if isinstance(node.get("patternProperties"), Mapping):
                yield from node["patternProperties"]
            todo += node.values()
        elif isinstance(node, list):
            todo += node


def closed(schema: Node) -> Node:
    """A schema that allows only the properties that it names, so that values cannot grow at will.

    An object that names none may have any properties, up to `MOST_PROPERTIES`. Schemas combined
    from others (`_JOINING`) stay as they are, because closing one part would forbid properties that
    another part names.
    """
    made: Node = schema if _joins(schema) else rewritten(schema, _closed)
    return made


def bounded(schema: Node) -> Node:
    """A schema whose strings, numbers and arrays are bounded, without unsupported formats."""
    definitions = schema.get("$defs", {})
    made: Node = rewritten(schema, lambda node: _bounded(dict(with_names(node, definitions))))
    return made


def with_names(node: Node, definitions: Node) -> Node:
    """An object's schema, with ``properties`` instead of a ``propertyNames`` that lists names."""
    names, own = node.get("propertyNames"), node.get("properties", {})
    if not isinstance(names, Mapping) or not isinstance(own, Mapping):
        return node
    listed = _listed_names(names, definitions)
    if not listed or "patternProperties" in node:
        return node
    others = node.get("additionalProperties", True)
    kept = {name: own.get(name, {} if others is True else others) for name in listed}
    made = {key: value for key, value in node.items() if key != "propertyNames"}
    properties = {name: one for name, one in kept.items() if one is not False}
    return {**made, "properties": properties, "additionalProperties": False}


def with_held_patterns(schema: Node) -> Node:
    """A schema without patterns that no grammar can hold, where something else says enough.

    Beside a format, such a pattern is left out; a format that contradicts a pattern is left out,
    too. Pydantic's patterns of decimals are narrowed to plain notation.
    """
    made: Node = rewritten(schema, _with_held_pattern)
    return made


def _joins(node: Any) -> bool:
    if isinstance(node, list):
        return any(map(_joins, node))
    if not isinstance(node, Mapping):
        return False
    beside = "properties" in node and any(word in node for word in ("$ref", "anyOf", "oneOf"))
    joins = any(word in node for word in _JOINING)
    parts = [_inner(key, value) for key, value in node.items() if key not in VALUES]
    return beside or joins or any(map(_joins, parts))


def _inner(key: str, value: Any) -> Any:
    """What holds the schemas of a keyword: its value, or the list of the schemas that it names."""
    return list(value.values()) if key in _NAMED and isinstance(value, Mapping) else value


def _closed(node: dict[str, Any]) -> Node:
    named = node.get("properties")
    if isinstance(named, Mapping) and _are_named(node.get("required", []), named):
        node.setdefault("additionalProperties", False)
    elif node.get("type") == "object":
        _bound_properties(node)
    return node


def _bound_properties(node: dict[str, Any]) -> None:
    """Limit the number and the names of properties that a schema does not name."""
    others = node.get("additionalProperties", True)
    if others is False or "properties" in node:
        return
    node["patternProperties"] = {f"^.{{1,{MOST_KEY_CHARACTERS}}}$": others}
    node["additionalProperties"] = False
    node.setdefault("maxProperties", MOST_PROPERTIES)


def _are_named(required: Any, named: Node) -> bool:
    # llguidance reports a ``required`` that is not a list of names.
    return isinstance(required, list) and all(
        isinstance(name, str) and name in named for name in required
    )


def _listed_names(names: Node, definitions: Node) -> list[str]:
    """The names that a ``propertyNames`` lists; empty if it says something else."""
    if not isinstance(names.get("anyOf", []), list):
        return []
    names = plain(names, definitions)
    # Zod allows, beside the names, what nothing is.
    choices = [one for one in names.get("anyOf", [names]) if one != {"not": {}}]
    if not all(isinstance(one, Mapping) and one.keys() <= _OF_NAMES for one in (names, *choices)):
        return []
    listed = [options(one) for one in choices]
    if not all(values and isinstance(values, list | tuple) for values in listed):
        return []
    return [name for values in listed for name in values if isinstance(name, str)]


def _with_held_pattern(node: dict[str, Any]) -> dict[str, Any]:
    pattern = node.get("pattern")
    if not isinstance(pattern, str):
        return node
    for form, decimal in enumerate(_DECIMALS):
        if found := decimal.fullmatch(pattern):
            return {**node, "pattern": _plain_decimal(form, [int(one) for one in found.groups()])}
    if node.get("format") in FORMATS and not is_pattern(pattern, node["format"]):
        del node["format" if is_pattern(pattern) else "pattern"]
    return node


def _plain_decimal(form: int, sizes: Sequence[int]) -> str:
    """A pattern for the plain ones among the decimals of one of `_DECIMALS`."""
    whole = before = sizes[0] if form > 1 else MOST_DIGITS
    places = MOST_DECIMALS
    if form == 2:
        # The digits before and after the point are limited together.
        places = whole // 2
        before = whole - places
    elif sizes:
        places = min([sizes[-1], *(size - 1 for size in sizes[1:2])])
    digits, head = (f"[0-9]{{1,{size}}}" if size else "0" for size in (whole, before))
    tail = rf"|{head}\.[0-9]{{1,{places}}}" if places > 0 else ""
    return f"^-?({digits}{tail})$"


def _bounded(node: dict[str, Any]) -> Node:
    node = _with_held_pattern(node)
    if node.get("format") not in FORMATS:
        node.pop("format", None)
    if node.get("uniqueItems") is False:
        del node["uniqueItems"]
    if node.get("format") == "duration":
        node.setdefault("pattern", _DURATION)
    _leave_out_property_names(node)
    _leave_out_far_bounds(node)
    # Listed values need no bounds, and alternatives are bounded one by one.
    if not {"enum", "const", "oneOf", "anyOf"}.isdisjoint(node):
        return node
    kinds = node.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "string" in kinds and not {"pattern", "format", "maxLength"} & node.keys():
        _limit(node, "maxLength", "minLength", MOST_CHARACTERS)
    if "array" in kinds and "maxItems" not in node:
        _limit(node, "maxItems", "minItems", MOST_ITEMS)
    if "number" in kinds and _is_whole(node.get("multipleOf")):
        # The same numbers. llguidance fails at a "number" to which no digit can be added.
        kinds = node["type"] = list({"integer" if one == "number" else one: None for one in kinds})
    if "integer" in kinds or "number" in kinds:
        _bound_number(node, "number" in kinds)
    return node


def _is_whole(step: Any) -> bool:
    return type(step) in (int, float) and step % 1 == 0


def _limit(node: dict[str, Any], keyword: str, least: str, most: int) -> None:
    """Set a maximum size, unless the minimum is more than half of it."""
    if isinstance(least_size := node.get(least, 0), int) and least_size <= most // 2:
        node[keyword] = most


def _bound_number(node: dict[str, Any], decimals: bool) -> None:
    low = max(_given(node, _LOWER), default=-math.inf)
    high = min(_given(node, _UPPER), default=math.inf)
    if max(low, -high) > _LARGEST // 2:
        # Only huge numbers are allowed: another bound might leave none.
        return
    if low == -math.inf:
        low = node["minimum"] = -_LARGEST
    if high == math.inf:
        high = node["maximum"] = _LARGEST
    # Only if the bounds leave room for enough numbers with that many decimals.
    room = high - low > 100 * 10**-MOST_DECIMALS and max(-low, high) <= _LARGEST
    if decimals and "multipleOf" not in node and room:
        node["multipleOf"] = 10**-MOST_DECIMALS


def _given(node: Node, keywords: Sequence[str]) -> list[float]:
    # `type`, because in draft 4 exclusive bounds are bools, which are ints in Python.
    return [node[key] for key in keywords if type(node.get(key)) in (int, float)]


def _leave_out_far_bounds(node: dict[str, Any]) -> None:
    """Remove the bounds that exclude only numbers beyond `_FARTHEST`."""
    for keywords, sign in ((_LOWER, -1), (_UPPER, 1)):
        for key in keywords:
            if _given(node, [key]) and sign * node[key] > _FARTHEST:
                del node[key]


def _leave_out_property_names(node: dict[str, Any]) -> None:
    """Remove a ``propertyNames`` that only says that names are strings."""
    names = node.get("propertyNames")
    if names is True or (isinstance(names, Mapping) and names.keys() <= {"type"}):
        kinds = names.get("type", "string") if isinstance(names, Mapping) else "string"
        if kinds == "string":
            del node["propertyNames"]
