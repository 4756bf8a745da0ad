"""Follows the references of a JSON schema, and measures how deep they lead.

It looks only at ``$ref`` and at how schemas are nested.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

DEFINITIONS = "#/$defs/"
MAX_LEVELS = 1000
"""Most levels of a schema. llguidance follows references recursively; a chain of several thousand
levels overflows its stack, which ends the process."""
MOST_MOVED = 2**17
"""Most characters of the parts that are copied to ``$defs``. There is a limit because many
references may lead to one part, and parts may hold others."""

# Keywords of a schema that a reference may lead to without a JSON pointer.
_ANCHORS = {"$id", "$anchor", "$dynamicAnchor"}


def references(node: Any) -> Iterator[str]:
    """All references inside a schema, of any form."""
    if isinstance(node, list):
        for part in node:
            yield from references(part)
    elif isinstance(node, Mapping):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for part in node.values():
            yield from references(part)


def with_definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose references to its own parts all lead to its ``$defs``.

    Parts that other references lead to (``#/definitions/…``, ``#/properties/…``) are copied there.
    References that lead nowhere stay as they are, and so do those beyond `MOST_MOVED`.
    """
    moved: dict[str, str] = {}
    room = MOST_MOVED
    definitions = dict(schema.get("$defs", {}))
    names = map("moved{}".format, itertools.count())
    todo: list[Any] = [schema]
    while todo:
        for reference in references(todo.pop()):
            if reference.startswith(DEFINITIONS) or reference in moved or room < 0:
                continue
            try:
                part = resolve(reference, schema)
            except LookupError:
                continue
            room -= len(json.dumps(part))
            if room < 0:
                continue
            name = next(name for name in names if name not in definitions)
            moved[reference], definitions[name] = DEFINITIONS + name, part
            todo.append(part)
    if not moved:
        return dict(schema)
    body = {key: part for key, part in schema.items() if key != "definitions"}
    made: dict[str, Any] = _redirected({**body, "$defs": definitions}, moved)
    return made


def _redirected(node: Any, moved: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_redirected(part, moved) for part in node]
    if not isinstance(node, Mapping):
        return node
    made = {key: _redirected(part, moved) for key, part in node.items()}
    if isinstance(made.get("$ref"), str):
        made["$ref"] = moved.get(made["$ref"], made["$ref"])
    return made


def reachable(node: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions that a schema refers to, directly or through others."""
    found: dict[str, Any] = {}
    todo = [node]
    while todo:
        for reference in references(todo.pop()):
            if not reference.startswith(DEFINITIONS):
                continue
            name = _unescaped(reference.removeprefix(DEFINITIONS).partition("/")[0])
            if name in definitions and name not in found:
                found[name] = definitions[name]
                todo.append(definitions[name])
    return found


def resolve(reference: str, root: Any) -> Any:
    """What a JSON pointer after a ``#`` leads to.

    Raises:
        LookupError: It leads nowhere, or it is not such a pointer.
    """
    _, mark, pointer = reference.partition("#")
    first, *steps = pointer.split("/")
    if not mark or first:
        raise LookupError(reference)
    node = root
    for name in map(_unescaped, steps):
        if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        elif isinstance(node, Mapping) and name in node:
            node = node[name]
        else:
            raise LookupError(reference)
    return node


def count_levels(schema: Mapping[str, Any]) -> int:
    """The nesting depths of a schema and of all parts that it refers to, added up.

    A reader that follows each reference once, in any order, cannot get deeper than that.
    """
    depths: dict[int, int] = {}
    added: set[int] = set()
    total, todo = 0, [schema]
    leads_anywhere = False
    while todo:
        node = todo.pop()
        if id(node) in added:
            continue
        added.add(id(node))
        found: list[str] = []
        total += _depth(node, depths, found)
        for reference in found:
            try:
                todo.append(resolve(reference, schema))
            except LookupError:
                # Only once, because this searches the whole schema.
                todo += () if leads_anywhere else _anchored(schema)
                leads_anywhere = True
    return total


def circular(schema: Mapping[str, Any]) -> str | None:
    """A reference inside a schema that leads back to itself, so that no value fits it."""
    cleared: set[int] = set()
    todo: list[Any] = [schema]
    while todo:
        node = todo.pop()
        if not isinstance(node, list | Mapping):
            continue
        todo += node if isinstance(node, list) else node.values()
        chain: set[int] = set()
        while isinstance(node, Mapping) and id(node) not in cleared:
            if id(node) in chain:
                return next(references(node))
            chain.add(id(node))
            node = _amounts_to(node, schema)
        cleared |= chain
    return None


def _amounts_to(node: Mapping[str, Any], root: Any) -> Any:
    """The schema that a reference leads to, or the only one of a choice; None for others."""
    if isinstance(node.get("$ref"), str):
        try:
            return resolve(node["$ref"], root)
        except LookupError:
            return None
    choices = next((node[key] for key in ("anyOf", "allOf", "oneOf") if key in node), None)
    return choices[0] if isinstance(choices, list) and len(choices) == 1 else None


def _depth(node: Any, depths: dict[int, int], found: list[str]) -> int:
    """The levels of a node; references of nodes not seen before are appended to ``found``."""
    if not isinstance(node, list | Mapping):
        return 0
    if id(node) not in depths:
        if isinstance(node, Mapping) and isinstance(node.get("$ref"), str):
            found.append(node["$ref"])
        inner = node if isinstance(node, list) else node.values()
        depths[id(node)] = 1 + max((_depth(part, depths, found) for part in inner), default=0)
    return depths[id(node)]


def _anchored(node: Any) -> Iterator[Any]:
    if isinstance(node, Mapping) and not _ANCHORS.isdisjoint(node):
        yield node
    if isinstance(node, list | Mapping):
        for part in node if isinstance(node, list) else node.values():
            yield from _anchored(part)


def _unescaped(written: str) -> str:
    return unquote(written).replace("~1", "/").replace("~0", "~")
