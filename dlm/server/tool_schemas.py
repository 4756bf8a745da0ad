"""Whether a tool's parameters are a JSON schema, as far as this package reads them.

Keywords inside a parameter's schema are checked by the grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlm.language.references import MOST_LEVELS, levels, pointed
from dlm.server.errors import invalid

# Keywords of a tool's parameters that do not restrict several properties together.
_TOP_KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "$defs", "definitions"),
    *("$schema", "$id", "$comment", "title", "description", "default", "examples", "strict"),
}
_KINDS = {"string", "integer", "number", "boolean", "array", "object", "null"}
_DEEPEST = 32
# Where a schema holds others: one, several in a list, several by name.
_INSIDE = ("items", "additionalProperties", "not")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions")


def check_parameters(parameters: Mapping[str, Any], where: str) -> None:
    """Check the schema of a tool's parameters.

    Args:
        parameters: As the client sent them.
        where: Path of the field.

    Raises:
        ApiError: They are no JSON schema of type object, restrict properties together, or are too
            deep to be read.
    """
    check_form(parameters, where)
    if (deep := levels(parameters)) > MOST_LEVELS:
        got = f"got {deep} levels of schemas, expected at most {MOST_LEVELS}"
        raise invalid(where, got, "unsupported_schema")
    for key in sorted(parameters.keys() - _TOP_KEYWORDS):
        if not key.startswith("x-"):
            raise invalid(f"{where}.{key}", "is not supported here", "unsupported_schema")


def check_form(parameters: Mapping[str, Any], where: str) -> None:
    """Check that a tool's parameters are a JSON schema of type object, for any model.

    Args:
        parameters: As the client sent them.
        where: Path of the field.

    Raises:
        ApiError: They are not.
    """
    if parameters.get("type", "object") != "object":
        raise invalid(f"{where}.type", f"got {parameters['type']!r}, expected 'object'")
    for name in _NAMED:
        for key, schema in _named(parameters, name, where):
            _check(schema, f"{where}.{name}.{key}", parameters)
    _check_required(parameters, where)
    properties = parameters.get("properties", {})
    required = parameters.get("required", [])
    if any(name not in properties for name in required):
        raise invalid(f"{where}.required", f"got {required!r}, expected names of properties")


def _check(schema: Any, where: str, root: Mapping[str, Any]) -> None:
    if not isinstance(schema, dict):
        raise invalid(where, "got no JSON schema")
    _check_inside(schema, where, root, _DEEPEST)
    # Any of these may be all that the parameter comes down to.
    for index, choice in enumerate(schema.get("anyOf", [])):
        _check(choice, f"{where}.anyOf[{index}]", root)


def _check_inside(schema: Any, where: str, root: Mapping[str, Any], deepest: int) -> None:
    """Check a schema and those that it holds, of which one may be true or false."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise invalid(where, "got no JSON schema")
    if not deepest:
        raise invalid(where, f"got schemas inside each other, expected {_DEEPEST} at most")
    _check_values(schema, where, root)
    # Up to draft 2019-09 items may be a list, of a tuple's.
    tuples = isinstance(schema.get("items"), list)
    held = [
        (key, schema[key]) for key in _INSIDE if key in schema and not (key == "items" and tuples)
    ]
    for name in (*_LISTED, "items") if tuples else _LISTED:
        listed = schema.get(name, [])
        if not isinstance(listed, list):
            raise invalid(f"{where}.{name}", "got no list")
        held += [(f"{name}[{index}]", one) for index, one in enumerate(listed)]
    for name in _NAMED:
        held += [(f"{name}.{key}", one) for key, one in _named(schema, name, where)]
    for key, one in held:
        _check_inside(one, f"{where}.{key}", root, deepest - 1)


def _check_values(schema: Mapping[str, Any], where: str, root: Mapping[str, Any]) -> None:
    kinds = schema.get("type", [])
    named = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(named, list) or not all(
        isinstance(kind, str) and kind in _KINDS for kind in named
    ):
        raise invalid(f"{where}.type", f"got {kinds!r}, expected names of types")
    listed = schema.get("enum", [None])
    if not isinstance(listed, list) or not listed:
        raise invalid(f"{where}.enum", f"got {listed!r}, expected a list of values")
    if "$ref" in schema and not _leads(schema["$ref"], root):
        raise invalid(f"{where}.$ref", f"got {schema['$ref']!r}, expected where a schema stands")
    _check_required(schema, where)


def _check_required(schema: Mapping[str, Any], where: str) -> None:
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise invalid(f"{where}.required", f"got {required!r}, expected names of properties")


def _named(schema: Mapping[str, Any], name: str, where: str) -> list[tuple[str, Any]]:
    schemas = schema.get(name, {})
    if not isinstance(schemas, dict):
        raise invalid(f"{where}.{name}", "got no object")
    return list(schemas.items())


def _leads(reference: Any, root: Any) -> bool:
    """Whether a reference within the parameters leads to something there."""
    if not isinstance(reference, str):
        return False
    if not reference.startswith("#/"):
        return True
    try:
        pointed(reference, root)
    except LookupError:
        return False
    return True
