"""JSON answers as calls: a checkpoint that was taught calls writes JSON as a call of a tool.

The tool stands for the schema and its parameters for the schema's properties, nested ones included.
So the model reads in its prompt what is asked for, and strings can be restricted to spans of what
was said. Conversely, a call that must be made is treated as JSON under the schema of its tool's
parameters. This module knows nothing of tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dlm.grammar.said import Accepts, Said, with_said
from dlm.grammar.said_dates import with_days
from dlm.grammar.schemas import MOST_ITEMS, with_names
from dlm.grammar.told_values import among, told_values
from dlm.language.chat_format import NEVER_SPELLED
from dlm.language.copy_sources import sources
from dlm.language.enumerations import extended, is_none, items
from dlm.language.identifiers import are_distinct, words
from dlm.language.messages import Answer, Call, Tool, Turn
from dlm.language.references import resolve
from dlm.language.schema import AS_SAID, is_words, options, plain, written

NAME = "extract"
DESCRIPTION = "Extracts the values."
MOST_PARAMETERS = 64
DEEPEST = 8

# Keywords that ask more of an object than its properties do.
_BEYOND_PROPERTIES = {
    *("$ref", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"),
    *("patternProperties", "minProperties", "maxProperties", "propertyNames"),
    *("dependentRequired", "dependentSchemas", "unevaluatedProperties"),
}

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JsonCall:
    """The tool that stands for a schema.

    Attributes:
        tool: The tool that the model calls.
        paths: For each parameter, the names that lead to the property it stands for.
        texts: The texts that strings must be spans of.
        lists: For each parameter that stands for a list of words, the schema of the list.
        declared: Whether the client declared the tool and wants calls; if not, it wants the JSON.
    """

    tool: Tool
    paths: Mapping[str, Path]
    texts: tuple[str, ...]
    lists: Mapping[str, Mapping[str, Any]]
    declared: bool = False

    def read(self, answer: Answer) -> Answer:
        """Convert an answer that calls the tool to what the client wants: calls, or JSON text."""
        if self.declared:
            calls = (Call(call.name, self.value(call)) for call in answer.calls)
            return Answer(answer.content, tuple(calls))
        return Answer(json.dumps(self.value(answer.calls[0]), ensure_ascii=False), ())

    def value(self, call: Call) -> dict[str, Any]:
        """The JSON object that a call of the tool stands for."""
        made: dict[str, Any] = {}
        for parameter, path in self.paths.items():
            inner = made
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            if parameter in call.arguments:
                value = call.arguments[parameter]
                if parameter in self.lists and value is not None:
                    value = self._items(value, self.lists[parameter])
                inner[path[-1]] = value
        return made

    def _items(self, span: str, schema: Mapping[str, Any]) -> list[str]:
        """The items of a list of words, from a span of it that may cover only the first item."""
        text = next((text for text in self.texts if span in text), span)
        if not schema.get("minItems") and is_none(span, text):
            return []
        return items(extended(span, text))[: schema.get("maxItems", MOST_ITEMS)]

    def answer(self, text: str) -> Answer:
        """The call that the model would write for a JSON text; any other text as it is."""
        try:
            value = json.loads(text)
            found = {name: _at(value, path) for name, path in self.paths.items()}
            # Half of a surrogate pair cannot be encoded.
            json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return Answer(text, ())
        given = {name: value for name, value in found.items() if value is not None}
        given |= {
            name: ", ".join(map(str, value))
            for name, value in given.items()
            if name in self.lists and isinstance(value, list)
        }
        return Answer("", (Call(self.tool.name, given),))


def said_texts(turns: Sequence[Turn]) -> tuple[str, ...]:
    """The texts that strings of a JSON answer are spans of: the user's and the tools' results."""
    last = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=0)
    results = tuple(turn.content for turn in turns[last:] if turn.role == "tool")
    return tuple(text for text in (*sources(turns), *results) if words(text))


def json_call(
    schema: Mapping[str, Any],
    texts: tuple[str, ...],
    names: Sequence[str],
    accepts: Accepts,
    declared: Tool | None = None,
) -> JsonCall | None:
    """The tool that stands for a schema; None if the schema is more than plain properties.

    Args:
        schema: All its references lead to its ``$defs``.
        texts: What was said; strings become spans of these texts.
        names: Names of other tools, which the new tool's name must differ from.
        accepts: Whether a value is valid under a schema.
        declared: The client's tool whose parameters the schema is; its name and description are
            kept. None if the schema is that of an answer.
    """
    definitions = schema.get("$defs", {})
    # References may lead to millions of properties.
    found = dict(islice(_properties(schema, definitions), MOST_PARAMETERS + 1))
    parameters = {".".join(path): path for path in found}
    listed = (value for one in found.values() for value in options(plain(one.schema, definitions)))
    bare = (*parameters, *map(written, listed))
    spelled = all(map(words, parameters)) and not any(NEVER_SPELLED in text for text in bare)
    distinct = len(parameters) == len(found) and are_distinct(parameters)
    if not (0 < len(found) <= MOST_PARAMETERS and distinct and spelled):
        return None
    said = Said.of(texts)
    required = [".".join(path) for path, one in found.items() if one.required]
    schemas = {".".join(path): one.schema for path, one in found.items()}
    dated = with_days(schemas, set(required), definitions, texts, accepts)
    described = declared.description if declared else schema.get("description")
    tool = Tool(
        declared.name if declared else next(name for name in _names() if name not in names),
        described if isinstance(described, str) else DESCRIPTION,
        {
            "type": "object",
            "properties": {
                name: dated.get(name) or _parameter(name, one, definitions, said, accepts)
                for name, one in schemas.items()
            },
            "required": required,
            "additionalProperties": False,
            "$defs": with_said({"$defs": definitions}, said, accepts).get("$defs", {}),
        },
    )
    lists = {
        name: one
        for name, one in schemas.items()
        if said.spans and _is_list_of_words(one, definitions)
    }
    return JsonCall(tool, parameters, texts, lists, declared is not None)


@dataclass(frozen=True, slots=True)
class _Property:
    schema: Mapping[str, Any]
    required: bool


def _properties(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], path: Path = ()
) -> Iterator[tuple[Path, _Property]]:
    """The properties of an object, with nested objects flattened; none for other schemas."""
    schema = _followed(schema, definitions)
    required = schema.get("required", [])
    if not _is_object(schema) or len(path) > DEEPEST:
        return
    for name, one in schema["properties"].items():
        place = (*path, name)
        inner = _properties(one if name in required else {}, definitions, place)
        # A property without properties of its own stands for itself.
        yield next(inner, (place, _Property(one, name in required)))
        yield from inner


def _followed(schema: Any, definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with references at its top and listed names resolved; empty if it is none."""
    for _ in range(DEEPEST):
        if not (isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str)):
            break
        try:
            schema = resolve(schema["$ref"], {"$defs": definitions})
        except LookupError:
            break
    return with_names(schema, definitions) if isinstance(schema, Mapping) else {}


def _is_object(schema: Mapping[str, Any]) -> bool:
    properties, required = schema.get("properties"), schema.get("required", [])
    return (
        schema.get("type", "object") == "object"
        and isinstance(properties, Mapping)
        and all(isinstance(one, Mapping) for one in properties.values())
        and isinstance(required, list)
        and all(isinstance(name, str) and name in properties for name in required)
        and _BEYOND_PROPERTIES.isdisjoint(schema)
    )


def _parameter(
    name: str,
    schema: Mapping[str, Any],
    definitions: Mapping[str, Any],
    said: Said,
    accepts: Accepts,
) -> Mapping[str, Any]:
    """A property's schema, restricted to values that were said where there are texts."""
    value = plain(schema, definitions)
    if not said.spans or options(value):
        return schema
    if is_words(value):
        return {**schema, AS_SAID: True}
    if _is_list_of_words(schema, definitions):
        told = {key: schema[key] for key in ("description",) if key in schema}
        return {"type": "string", AS_SAID: True, **told}
    if values := told_values(name, value, said.texts, accepts):
        return among(schema, definitions, values)
    made = with_said({key: part for key, part in schema.items() if key != "$defs"}, said, accepts)
    made.pop("$defs", None)
    return made


def _is_list_of_words(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    """Whether a list may be read from words that enumerate its items: milk, eggs and bread."""
    items, least = schema.get("items"), schema.get("minItems", 0)
    most = schema.get("maxItems", MOST_ITEMS)
    return (
        schema.get("type") == "array"
        and isinstance(items, Mapping)
        and is_words(plain(items, definitions))
        and not options(plain(items, definitions))
        and {"uniqueItems", "prefixItems", "contains"}.isdisjoint(schema)
        and least in (0, 1)
        and isinstance(most, int)
        and most > 0
    )


def _at(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _names() -> Iterator[str]:
    yield NAME
    yield from (f"{NAME}_{number}" for number in range(2, 1000))
