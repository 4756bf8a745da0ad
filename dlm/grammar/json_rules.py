"""Grammar rules for calls written as JSON, in llguidance's Lark dialect.

Values that must be spans of what was said are listed: JSON has no other way to say it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dlm.grammar.format_rules import closed, strict_json
from dlm.language.chat_format import JsonCalls
from dlm.language.messages import Tool
from dlm.language.references import reached

SPAN_PIECES = 24
"""Longest span of a text, in words and what stands between them."""


def call_rules(
    calls: JsonCalls, tools: Sequence[Tool], said: Sequence[Mapping[str, Sequence[str]]]
) -> list[str]:
    """The rule ``call`` and those that it refers to.

    Args:
        calls: How the checkpoint spells a call.
        tools: Those that may be called, at least one.
        said: For each of them the parameters that are bound to what was said, with their spans.
    """
    names = " | ".join(f"t{number}" for number in range(len(tools)))
    lines = [f'call: <[{calls.opening}]> "\\n" ({names}) "\\n" <[{calls.closing}]>']
    for number, (tool, spans) in enumerate(zip(tools, said, strict=True)):
        lines.append(f"t{number}: %json {strict_json(closed(_schema(tool, spans)))}")
    return lines


def runs(pieces: Sequence[str]) -> Iterator[str]:
    """Runs of pieces of a text, a word in the first and the last of them."""
    for start, first in enumerate(pieces):
        if not any(letter.isalnum() for letter in first):
            continue
        for end in range(start, min(start + SPAN_PIECES, len(pieces))):
            if any(letter.isalnum() for letter in pieces[end]):
                yield "".join(pieces[start : end + 1])


def _schema(tool: Tool, said: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    properties: dict[str, Any] = {
        name: {"enum": list(said[name])} if name in said else _without_definitions(schema)
        for name, schema in tool.properties.items()
        # A span of nothing: the parameter cannot be given.
        if name not in said or said[name]
    }
    arguments = {
        "type": "object",
        "properties": properties,
        "required": sorted(tool.required),
        "additionalProperties": False,
    }
    # References lead from the root, which is not the parameter's schema here.
    definitions = reached(properties, tool.parameters.get("$defs", {}))
    return {
        **({"$defs": definitions} if definitions else {}),
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _without_definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$defs"}
