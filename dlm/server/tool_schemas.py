"""Checks that a client's schemas are JSON schemas, as far as this package reads them.

The grammar checks the keywords inside the schema of a parameter or an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dlm.language.references import MAX_LEVELS, count_levels, resolve
from dlm.server.errors import invalid

# Keywords of a tool's parameters that restrict several properties together or all of them.
_JOINING = {
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "$ref"),
    *("dependentRequired", "dependentSchemas", "dependencies", "patternProperties"),
    *("minProperties", "maxProperties", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"),
}
_TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}
_DEEPEST = 32
# Keywords that hold one schema, a list of schemas, or schemas by name.
_INSIDE = ("items", "additionalProperties", "not")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions")


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "type": (
        lambda kinds: (
            _are_names(kinds := [kinds] if isinstance(kinds, str) else kinds)
            and _TYPES.issuperset(kinds)
        ),
        "names of types",
    ),
    "enum": (lambda values: isinstance(values, list) and bool(values), "a list of values"),
    "required": (_are_names, "names of properties"),
    "$ref": (lambda reference: isinstance(reference, str), "where a schema stands"),
    **dict.fromkeys(_LISTED, (lambda held: isinstance(held, list), "a list of schemas")),
    **dict.fromkeys(_NAMED, (lambda held: isinstance(held, dict), "schemas by name")),
}


def check_parameters(parameters: Mapping[str, Any], where: str) -> None:
    """Check the schema of a tool's parameters, for a model that answers under a grammar.

    Besides what `check_form` refuses, keywords that restrict properties together are refused, and
    schemas that are nested too deeply.

    Raises:
        ApiError: The schema is wrong; its path begins with ``where``.
    """
    check_form(parameters, where)
    if (deep := count_levels(parameters)) > MAX_LEVELS:
        got = f"got {deep} levels of schemas, expected at most {MAX_LEVELS}"
        raise invalid(where, got, "unsupported_schema")
    for key in sorted(parameters.keys() & _JOINING):
        raise invalid(f"{where}.{key}", "is not supported here", "unsupported_schema")
    if parameters.get("propertyNames", {"type": "string"}) not in ({}, {"type": "string"}, True):
        raise invalid(f"{where}.propertyNames", "is not supported here", "unsupported_schema")


def check_form(parameters: Mapping[str, Any], where: str) -> None:
    """Check that a tool's parameters are a JSON schema of type object, for any model.

    Raises:
        ApiError: They are not; the path of the fault begins with ``where``.
    """
    if parameters.get("type", "object") != "object":
        raise invalid(f"{where}.type", f"got {parameters['type']!r}, expected 'object'")
    check_schema(parameters, where)
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    for name, schema in properties.items():
        if isinstance(schema, bool):
            raise invalid(f"{where}.properties.{name}", "got no JSON schema")
    if not properties.keys() >= set(required):
        raise invalid(f"{where}.required", f"got {required!r}, expected names of properties")


def check_schema(schema: Mapping[str, Any], where: str, deepest: int = _DEEPEST) -> None:
    """Check that an object is a JSON schema of at most ``deepest`` levels, like `check_form`."""
    _check(schema, where, schema, deepest, deepest)


def _check(schema: Any, where: str, root: Mapping[str, Any], left: int, deepest: int) -> None:
    """Check a schema and those inside it, each true, false or of at most ``left`` levels."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise invalid(where, "got no JSON schema")
    if not left:
        raise invalid(where, f"got schemas inside each other, expected {deepest} at most")
    for key, (fits, expected) in _FORMS.items():
        if key in schema and not fits(schema[key]):
            raise invalid(f"{where}.{key}", f"got {schema[key]!r}, expected {expected}")
    if schema.get("$ref", "").startswith("#/"):
        try:
            resolve(schema["$ref"], root)
        except LookupError as error:
            raise invalid(f"{where}.$ref", f"got {error}, which leads nowhere") from error
    for path, held in _held(schema):
        _check(held, f"{where}.{path}", root, left - 1, deepest)


def _held(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas inside a schema, each with its path."""
    for key, value in schema.items():
        # Up to draft 2019-09, ``items`` may be a list of a tuple's schemas.
        if key in _LISTED or (key == "items" and isinstance(value, list)):
            yield from ((f"{key}[{index}]", one) for index, one in enumerate(value))
        elif key in _NAMED:
            yield from ((f"{key}.{name}", one) for name, one in value.items())
        elif key in _INSIDE:
            yield key, value
