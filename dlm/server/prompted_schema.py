"""Finds a JSON schema in the text of a prompt, for clients that ask for any JSON object.

Some clients, like instructor in its JSON mode, put the schema there, because many servers do not
take schemas, and hope that the model follows it.
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
"""Most JSON objects of a message that are looked at."""


def take_schema(turns: Sequence[Turn]) -> tuple[dict[str, Any] | None, tuple[Turn, ...]]:
    """The newest schema of an object in system and user messages, and the dialogue without it.

    If there is none, None and the unchanged dialogue.
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
    """The first object's schema in a text, with its start and end."""
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
    """A JSON object that is the schema of an object; None if it is not."""
    try:
        # Stricter than Python's parser: no NaN, half surrogate pairs or hundreds of levels.
        value: dict[str, Any] = pydantic_core.from_json(text, allow_inf_nan=False)
        check_schema(value, "")
    except (ValueError, ApiError):
        return None
    return value if value.get("type") == "object" and "properties" in value else None
