"""Prepares JSON schemas for the grammar: closed, bounded, without mere annotations.

A weak model fills whatever a schema leaves open without end: unnamed properties, digits,
characters, items. This module limits them all. It knows nothing of tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dlm.language.schema import FORMATS

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
    made: Node = rewritten(schema, _bounded)
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


def _bounded(node: dict[str, Any]) -> Node:
    if node.get("format") not in FORMATS:
        node.pop("format", None)
    _leave_out_property_names(node)
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
    if low < -_FARTHEST:
        low = _replace_bounds(node, _LOWER, -_LARGEST)
    if high > _FARTHEST:
        high = _replace_bounds(node, _UPPER, _LARGEST)
    # Only if the bounds leave room for enough numbers with that many decimals.
    room = high - low > 100 * 10**-MOST_DECIMALS and max(-low, high) <= _LARGEST
    if decimals and "multipleOf" not in node and room:
        node["multipleOf"] = 10**-MOST_DECIMALS


def _given(node: Node, keywords: Sequence[str]) -> list[float]:
    # `type`, because in draft 4 exclusive bounds are bools, which are ints in Python.
    return [node[key] for key in keywords if type(node.get(key)) in (int, float)]


def _replace_bounds(node: dict[str, Any], keywords: Sequence[str], bound: int) -> int:
    for key in keywords:
        node.pop(key, None)
    node[keywords[0]] = bound
    return bound


def _leave_out_property_names(node: dict[str, Any]) -> None:
    """Remove a ``propertyNames`` that only says that names are strings."""
    names = node.get("propertyNames")
    if names is True or (isinstance(names, Mapping) and names.keys() <= {"type"}):
        kinds = names.get("type", "string") if isinstance(names, Mapping) else "string"
        if kinds == "string":
            del node["propertyNames"]
