"""Structured answers as rows: a client's schema, the tool that stands for it, and the call.

An answer has the layout of `dlm.engine.json_call`: the schema is declared as a tool, with nested
fields named by their paths, and the answer is a call of it. Strings are spans of the text, a list
of words is one span that enumerates them, and what the text does not tell is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from dlm.datagen.extraction.values import TABLE
from dlm.datagen.language.phrases import fill
from dlm.engine.json_call import DESCRIPTION, NAME
from dlm.language.identifiers import words


class Asked(NamedTuple):
    """A field that a schema asks for.

    Attributes:
        path: Names of the objects that it is in, and its own.
        required: Whether it must be given.
        nullable: Whether the client's schema allows null if it is not told.
        told: Whether the text tells it.
        value: The value in the answer's JSON.
        said: The span of the text that stands for it.
    """

    path: tuple[str, ...]
    schema: dict[str, Any]
    required: bool
    nullable: bool
    told: bool
    value: Any
    said: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """A text and what a schema asks for.

    Attributes:
        schema: The client's schema.
        answer: The right answer.
        row: The row of the training data.
    """

    schema: dict[str, Any]
    answer: dict[str, Any]
    row: dict[str, Any]


def laid_out(rng: Random, what: str, text: str, asked: list[Asked]) -> Extraction:
    """Lay out a text, perhaps with instructions, and the fields that are asked for."""
    described = ""
    if rng.random() < 0.3:
        described = fill(
            rng.choice(TABLE.descriptions), rng, {"what": what, "What": what.capitalize()}
        )
    *first, last = (words(one.path[-1]) for one in asked)
    keys = f"{', '.join(first)} and {last}" if first else last
    fields = {"what": what, "keys": keys}
    system, roll = "", rng.random()
    if roll < 0.25:
        system = fill(rng.choice(TABLE.systems), rng, fields)
    elif roll < 0.42:
        joint = rng.choice(("\n\n", "\n", " "))
        text = fill(rng.choice(TABLE.instructions), rng, fields) + joint + text
    elif roll < 0.55:
        text += rng.choice(("\n\n", "\n")) + fill(rng.choice(TABLE.questions), rng, fields)
    call = {
        "name": NAME,
        "arguments": {
            ".".join(one.path): one.said if is_list_of_words(one.schema) else one.value
            for one in asked
            if one.told
        },
    }
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    row = {"system": system, "tools": [_tool(described, asked)], "messages": messages}
    return Extraction(_client_schema(described, asked), _answer(asked), row)


def is_list_of_words(schema: dict[str, Any]) -> bool:
    """Whether a schema is a list of words, which an enumeration in the text gives."""
    return bool(schema["type"] == "array" and schema["items"]["type"] == "string")


def _tool(described: str, asked: list[Asked]) -> dict[str, Any]:
    """The tool that stands for the schema."""
    properties = {".".join(one.path): parameter_of(one.schema) for one in asked}
    required = [".".join(one.path) for one in asked if one.required]
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": NAME, "description": described or DESCRIPTION, "parameters": parameters}


def parameter_of(schema: dict[str, Any]) -> dict[str, Any]:
    """A field's schema as a parameter's: a list of words becomes a string that enumerates them."""
    if not is_list_of_words(schema):
        return schema
    return {key: part for key, part in schema.items() if key != "items"} | {"type": "string"}


def _object() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def _client_schema(described: str, asked: list[Asked]) -> dict[str, Any]:
    """The schema as a client sends it."""
    schema = {**({"description": described} if described else {}), **_object()}
    for one in asked:
        inner = schema
        for name in one.path[:-1]:
            if name not in inner["properties"]:
                inner["properties"][name] = _object()
                inner["required"].append(name)
            inner = inner["properties"][name]
        null = {"anyOf": [one.schema, {"type": "null"}]}
        inner["properties"][one.path[-1]] = null if one.nullable else one.schema
        if one.required or one.nullable:
            inner["required"].append(one.path[-1])
    return schema


def _answer(asked: list[Asked]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for one in asked:
        inner = answer
        for name in one.path[:-1]:
            inner = inner.setdefault(name, {})
        if one.told:
            inner[one.path[-1]] = one.value
        elif one.nullable:
            inner[one.path[-1]] = None
    return answer
