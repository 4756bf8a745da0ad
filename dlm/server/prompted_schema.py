"""A JSON schema in the words of a prompt, as clients put it there that ask for any JSON object.

They know servers that take no schema, and hope that the model reads it: instructor's mode JSON
does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pydantic_core

from dlm.language.messages import Turn
from dlm.server.errors import ApiError
from dlm.server.tool_schemas import check_schema

MOST_OBJECTS = 64
"""JSON objects of a message that are looked at."""


def take_schema(turns: Sequence[Turn]) -> tuple[dict[str, Any] | None, tuple[Turn, ...]]:
    """The newest schema of an object in messages of system and user, and the dialogue without it.

    None, and the dialogue, where there is none.
    """
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        found = _schema(turn.content) if turn.role in ("system", "user") else None
        if found is not None:
            schema, start, end = found
            rest = replace(turn, content=turn.content[:start] + turn.content[end:])
            return schema, (*turns[:index], rest, *turns[index + 1 :])
    return None, tuple(turns)


def _schema(text: str) -> tuple[dict[str, Any], int, int] | None:
    """A schema in a text, where it begins and where it ends."""
    decoder, start = json.JSONDecoder(), -1
    for _ in range(MOST_OBJECTS):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        value = _object_schema(text[start:end])
        if value is not None:
            return value, start, end
        start = end - 1
    return None


def _object_schema(text: str) -> dict[str, Any] | None:
    """The schema of an object that a JSON object is; None where it is none."""
    try:
        # Stricter than Python's: without NaN, halves of surrogate pairs and hundreds of levels.
        value: dict[str, Any] = pydantic_core.from_json(text, allow_inf_nan=False)
        check_schema(value, "")
    except (ValueError, ApiError):
        return None
    return value if value.get("type") == "object" and "properties" in value else None
