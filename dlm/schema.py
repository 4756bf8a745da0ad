"""What a tool's JSON schema says of a parameter's value, and how that value stands as text.

It knows nothing of tokens, nor of the dialogue around a value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

AS_SAID = "x-as-said"

# Keywords that leave a string free. With any other, such as maxLength, quotes have to mark where it
# begins and ends.
_FREE = {
    *("type", "enum", "const", "title", "description", "default", "examples", "deprecated"),
    *("readOnly", "writeOnly", "$comment", "$schema", "$defs", "definitions"),
}


def written(value: Any) -> str:
    """A value as it stands in the token stream."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain(
    schema: Mapping[str, Any],
    definitions: Mapping[str, Any],
    followed: frozenset[str] = frozenset(),
) -> Mapping[str, Any]:
    """A parameter's schema, references followed and null left out.

    A parameter that may be null is not given instead, so that "text or null" is text.

    Args:
        schema: JSON schema of the parameter.
        definitions: ``$defs`` of the tool's schema; kept with what may still refer to them.
        followed: Definitions on the way here; none is followed in a circle.
    """
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in definitions and name not in followed:
        return _marked(schema, plain(definitions[name], definitions, followed | {name}))
    kinds = schema.get("type")
    if isinstance(kinds, list) and len(kinds) == 2 and "null" in kinds:
        return {**schema, "type": next((kind for kind in kinds if kind != "null"), "null")}
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(choices) == 1:
        return _marked(schema, plain(choices[0], definitions, followed))
    return {**schema, "$defs": definitions} if definitions and not is_words(schema) else schema


def admits_null(schema: Mapping[str, Any]) -> bool:
    """Whether a parameter may be null, which `plain` leaves out."""
    kinds = schema.get("type")
    choices = schema.get("anyOf", ())
    return (isinstance(kinds, list) and "null" in kinds) or any(
        one.get("type") == "null" for one in choices
    )


def _marked(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**inner, AS_SAID: True} if outer.get(AS_SAID) else inner


def is_words(schema: Mapping[str, Any]) -> bool:
    """Whether a value stands as it is said, not as JSON."""
    restricting = (key for key in schema.keys() - _FREE if not key.startswith("x-"))
    return schema.get("type", "string") == "string" and not any(restricting)


def options(schema: Mapping[str, Any]) -> Sequence[Any]:
    """The values that a schema lists; none where it lists none."""
    if "const" in schema:
        return (schema["const"],)
    listed: Sequence[Any] = schema.get("enum", ())
    return listed


def read_value(text: str, schema: Mapping[str, Any]) -> Any:
    """Parse a value's text by its schema.

    Raises:
        ValueError: It is not JSON where it must be, of another type, or not one of the options.
    """
    if options(schema):
        for option in options(schema):
            if written(option).strip() == text:
                return option
        raise ValueError(f"got {text!r}, expected one of {list(options(schema))}")
    if is_words(schema):
        return text
    kind = schema.get("type")
    try:
        value = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        raise ValueError(f"got {text!r}, expected {kind or 'JSON'}") from error
    if isinstance(kind, str) and not _is_of(value, kind):
        raise ValueError(f"got {text!r}, expected {kind}")
    return value


def _is_of(value: Any, kind: str) -> bool:
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "array": list,
        "object": dict,
        "null": type(None),
    }
    # In Python a bool is an int, too.
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, kinds.get(kind, object))


def _no_number(name: str) -> float:
    raise ValueError(f"got {name}, which is not JSON")
