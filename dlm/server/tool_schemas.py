"""Whether a tool's parameters have the form of a JSON schema, as far as this package reads them.

What is inside a parameter's schema beyond that is the grammar's to judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlm.server.errors import invalid

# What may stand beside a tool's properties without restricting them together.
_BESIDE = {
    *("type", "properties", "required", "additionalProperties", "$defs", "definitions"),
    *("$schema", "$id", "$comment", "title", "description", "default", "examples", "strict"),
}


def check_parameters(parameters: Mapping[str, Any], where: str) -> None:
    """Check the schema of a tool's parameters.

    Args:
        parameters: As the client sent them.
        where: Path of the field.

    Raises:
        ApiError: They are no JSON schema of type object, or restrict properties together.
    """
    if parameters.get("type", "object") != "object":
        raise invalid(f"{where}.type", f"got {parameters['type']!r}, expected 'object'")
    for key in sorted(parameters.keys() - _BESIDE):
        if not key.startswith("x-"):
            raise invalid(f"{where}.{key}", "is not supported here", "unsupported_schema")
    for name in ("properties", "$defs", "definitions"):
        schemas = parameters.get(name, {})
        if not isinstance(schemas, dict):
            raise invalid(f"{where}.{name}", "got no object")
        for key, schema in schemas.items():
            _check(schema, f"{where}.{name}.{key}")
    required = parameters.get("required", [])
    properties = parameters.get("properties", {})
    if not isinstance(required, list) or not all(
        isinstance(name, str) and name in properties for name in required
    ):
        raise invalid(f"{where}.required", f"got {required!r}, expected names of properties")


def _check(schema: Any, where: str) -> None:
    if not isinstance(schema, dict):
        raise invalid(where, "got no JSON schema")
    kinds = schema.get("type", [])
    if not isinstance(kinds, str) and not (
        isinstance(kinds, list) and all(isinstance(kind, str) for kind in kinds)
    ):
        raise invalid(f"{where}.type", f"got {kinds!r}, expected names of types")
    listed = schema.get("enum", [None])
    if not isinstance(listed, list) or not listed:
        raise invalid(f"{where}.enum", f"got {listed!r}, expected a list of values")
    choices = schema.get("anyOf", [])
    if not isinstance(choices, list):
        raise invalid(f"{where}.anyOf", "got no list")
    for index, choice in enumerate(choices):
        _check(choice, f"{where}.anyOf[{index}]")
