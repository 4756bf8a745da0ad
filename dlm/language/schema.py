"""What a tool's JSON schema says of a parameter's value, and how the value is written as text.

It knows nothing of tokens or of the dialogue around a value.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from dlm.language.references import DEFINITIONS, reachable, resolve

AS_SAID = "x-as-said"

# Not a set, because a schema's ``format`` may be a value that cannot be hashed.
FORMATS = (
    *("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6"),
    *("uri", "uuid"),
)
"""Values of ``format`` that restrict a string; any other value is only a remark."""

AS_FORMAT = "x-format"
"""Holds the format of a schema whose values are listed, so that ``format`` itself is not set."""

# With any of these keywords, a string is written as JSON, in quotes. Any other keyword of a string
# is only a remark.
_RESTRICTING = {
    *("minLength", "maxLength", "pattern", "$ref", "$dynamicRef", "$recursiveRef"),
    *("anyOf", "oneOf", "allOf", "not", "if", "then", "else"),
}
# If there is no type, these keywords mean that a value may be something other than a string.
_OF_OTHERS = {
    *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
    *("minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies"),
    *("unevaluatedProperties", "items", "prefixItems", "additionalItems", "unevaluatedItems"),
    *("contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
# Keywords that limit numbers and the lengths of strings, and what each excludes.
_BOUNDS = {
    **{"minimum": operator.lt, "exclusiveMinimum": operator.le},
    **{"maximum": operator.gt, "exclusiveMaximum": operator.ge},
}
_LENGTHS = {"minLength": operator.lt, "maxLength": operator.gt}
_LIMITING = {"type", *_BOUNDS, *_LENGTHS}
# Beside one of these, a reference or a choice is not all that a schema says.
_BESIDE = (_RESTRICTING | _OF_OTHERS | {"enum", "const"}) - {"$ref", "anyOf"}


def written(value: Any, schema: Mapping[str, Any] | None = None) -> str:
    """A value as it stands in the token stream: strings bare, unless the schema asks for JSON."""
    bare = schema is None or schema.get("type") != "string" or is_words(schema) or options(schema)
    return value if isinstance(value, str) and bare else json.dumps(value, ensure_ascii=False)


def plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """A parameter's schema with references to ``$defs`` followed and null removed.

    Instead of being null, a parameter is left out, so "text or null" becomes text. Definitions that
    the schema still refers to are kept in its ``$defs``. Of several descriptions and defaults on
    the way, those nearest to the parameter are kept. Values of an ``enum`` that the keywords beside
    it exclude are left out, unless they exclude all.
    """
    said = False
    told: dict[str, Any] = {}
    followed: set[object] = set()
    # A loop instead of recursion: a chain of references may be as long as a request's body.
    while (inner := _stands_for(schema, definitions, followed)) is not None:
        said = said or bool(schema.get(AS_SAID))
        told = told_of(schema) | told
        schema = inner
    schema = _with_admitted(schema, definitions)
    kinds = schema.get("type")
    if _nullable_type(kinds):
        schema = {**schema, "type": next((kind for kind in kinds if kind != "null"), "null")}
    if told:
        schema = {**schema, **told}
    if said:
        schema = {**schema, AS_SAID: True}
    kept = reachable(schema, definitions)
    return {**schema, "$defs": kept} if kept else schema


def _with_admitted(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    listed = schema.get("enum")
    if not isinstance(listed, list):
        return schema
    limited = not _LIMITING.isdisjoint(schema)
    left = [value for value in listed if not limited or _admits(schema, value)]
    inner = _defined(schema.get("$ref"), definitions)
    if isinstance(inner, Mapping):
        known = {json.dumps(value) for value in options(inner)}
        fits = (not known or json.dumps(value) in known for value in left)
        left = [one for one, fit in zip(left, fits, strict=True) if fit and _admits(inner, one)]
    return {**schema, "enum": left} if left else schema


def _admits(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether the type and the bounds of a schema admit a value."""
    kinds = schema.get("type", [])
    # JSON has one kind of numbers: 5.0 is an integer.
    number = type(value) in (int, float)
    plain_value = int(value) if number and value % 1 == 0 else value
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(isinstance(kind, str) and _is_of(plain_value, kind) for kind in kinds):
        return False
    limits = _BOUNDS if number else _LENGTHS if isinstance(value, str) else {}
    size = value if number else len(value) if limits else 0
    return not any(
        type(schema.get(keyword)) in (int, float) and excludes(size, schema[keyword])
        for keyword, excludes in limits.items()
    )


def told_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a schema says of its values without restricting them: description, default, format."""
    told = {key: schema[key] for key in ("description", "default", AS_FORMAT) if key in schema}
    return told | ({AS_FORMAT: schema["format"]} if "format" in schema else {})


def admits_null(schema: Mapping[str, Any]) -> bool:
    """Whether a parameter may be null; `plain` removes that."""
    kinds = schema.get("type")
    return (isinstance(kinds, list) and "null" in kinds) or any(
        map(_is_null, schema.get("anyOf", ()))
    )


def _stands_for(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], followed: set[object]
) -> Mapping[str, Any] | None:
    """The one schema that another amounts to, by reference or as its only choice; None if none.

    Each reference is followed once, and added to ``followed``.
    """
    if not _BESIDE.isdisjoint(schema):
        return None
    reference = schema.get("$ref")
    inner = _defined(reference, definitions)
    if inner is not None and reference not in followed:
        followed.add(reference)
    elif _nullable_type(schema.get("type")):
        return None
    else:
        choices = [one for one in schema.get("anyOf", ()) if not _is_null(one)]
        inner = choices[0] if len(choices) == 1 else None
    return inner if isinstance(inner, Mapping) else None


def _defined(reference: Any, definitions: Mapping[str, Any]) -> Any:
    """The definition, or part of one, that a reference leads to; None if there is none."""
    if not isinstance(reference, str) or not reference.startswith(DEFINITIONS):
        return None
    try:
        return resolve(reference, {"$defs": definitions})
    except LookupError:
        return None


def _nullable_type(kinds: Any) -> TypeGuard[list[Any]]:
    return isinstance(kinds, list) and len(kinds) == 2 and "null" in kinds


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def is_words(schema: Mapping[str, Any]) -> bool:
    """Whether a value is a plain string, written as it is said and not as JSON."""
    if schema.get("format") in FORMATS or not _RESTRICTING.isdisjoint(schema):
        return False
    return schema["type"] == "string" if "type" in schema else _OF_OTHERS.isdisjoint(schema)


def is_number(schema: Mapping[str, Any]) -> bool:
    """Whether a value is a number that is not one of listed options."""
    return schema.get("type") in ("integer", "number") and not options(schema)


def options(schema: Mapping[str, Any]) -> Sequence[Any]:
    """The values that a schema lists; empty if it lists none."""
    if "const" in schema:
        return (schema["const"],)
    listed: Sequence[Any] = schema.get("enum", ())
    return listed


def read_value(text: str, schema: Mapping[str, Any]) -> Any:
    """Parse a value's text by its schema.

    Raises:
        ValueError: The text must be JSON and is not, has another type, or is none of the options.
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
    # In Python, a bool is an int, too.
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, _KINDS.get(kind, object))


def _no_number(name: str) -> float:
    raise ValueError(f"got {name}, which is not JSON")
