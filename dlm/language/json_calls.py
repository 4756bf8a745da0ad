"""Calls written as JSON, as foreign checkpoints write them: read strictly, by the tool's schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dlm.language.messages import AnswerError, Call, Tool
from dlm.language.schema import admits_null, is_words, options, read_value, written


def read_call(body: str, tools: Mapping[str, Tool]) -> Call:
    """Read one call.

    Args:
        body: An object with ``name`` and ``arguments``; these may also be a JSON text of an object.
        tools: Those that may be called, by name.

    Raises:
        AnswerError: It is no such object, a tool or parameter is unknown, a required one is
            missing, or a value does not fit its schema.
    """
    call = _object(body, "call")
    if call.keys() != {"name", "arguments"}:
        raise AnswerError(f"call: got {sorted(call)}, expected name and arguments")
    name, given = call["name"], call["arguments"]
    if not isinstance(name, str) or name not in tools:
        raise AnswerError(f"tool: got {name!r}, expected one of {sorted(tools)}")
    if isinstance(given, str):
        given = _object(given, name)
    if not isinstance(given, dict):
        raise AnswerError(f"{name}: got arguments {given!r}, expected an object")
    tool = tools[name]
    arguments = {key: _value(tool, key, value) for key, value in given.items()}
    missing = sorted(tool.required - arguments.keys())
    if missing:
        raise AnswerError(f"{name}: missing {missing}")
    return Call(name, {**arguments, **{key: None for key in tool.nulled - arguments.keys()}})


def _object(text: str, what: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(f"{what}: got a key twice")
        return dict(pairs)

    try:
        read = json.loads(text, object_pairs_hook=once)
    except ValueError as error:
        raise AnswerError(f"{what}: {error}") from error
    if not isinstance(read, dict):
        raise AnswerError(f"{what}: got {type(read).__name__}, expected an object")
    return read


def _value(tool: Tool, key: str, value: Any) -> Any:
    if key not in tool.properties:
        raise AnswerError(f"{tool.name}: got unknown parameter {key!r}")
    if value is None and admits_null(tool.parameters["properties"][key]):
        return None
    schema = tool.properties[key]
    if is_words(schema) and not options(schema) and not isinstance(value, str):
        raise AnswerError(f"{tool.name}.{key}: got {value!r}, expected a string")
    try:
        return read_value(written(value), schema)
    except ValueError as error:
        raise AnswerError(f"{tool.name}.{key}: {error}") from error
