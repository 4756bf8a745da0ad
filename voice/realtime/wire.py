"""What every part of the wire format shares: strict models, error texts and ids.

A server event is a plain dict, ready for JSON. Source: the Realtime API of OpenAI, GA version.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable
from typing import Any, TypeVar

import pydantic_core
from pydantic import BaseModel, ConfigDict, ValidationError

from voice.errors import ProtocolError

ServerEvent = dict[str, Any]

NewId = Callable[[str], str]
"""Makes an id that no one else has; the argument is what it begins with."""

_UNION_TAGS = frozenset(
    {"server_vad", "semantic_vad", "function", "mcp", "function_call", "function_call_output"}
    | {"message", "str", "int", "float", "bool", "dict", "list"}
)
_CODES = {
    "missing": "missing_required_parameter",
    "union_tag_not_found": "missing_required_parameter",
}


class WireModel(BaseModel):
    """Base of what a client sends: exact types, and unknown fields left aside.

    Clients are newer than servers: a field that this server does not know is no reason to refuse
    the rest of the event.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


M = TypeVar("M", bound=BaseModel)


def new_id(prefix: str) -> str:
    """A random id such as ``item_6f1c…``."""
    return f"{prefix}_{secrets.token_hex(8)}"


def read_json(text: str) -> Any:
    """What JSON says, whose numbers are all finite: it can be written as JSON again.

    Raises:
        ValueError: It is not JSON, nests too deeply, or a number is too large.
    """
    data = pydantic_core.from_json(text, allow_inf_nan=False)
    # The reader refuses `Infinity` and `NaN`, and makes infinity of 1e999.
    unread = [data]
    while unread:
        value = unread.pop()
        if isinstance(value, dict):
            unread.extend(value.values())
        elif isinstance(value, list):
            unread.extend(value)
        elif isinstance(value, float) and math.isinf(value):
            raise ValueError("got a number that is too large; expected at most 1.8e308")
    return data


def validated(model: type[M], data: Any, path: str = "") -> M:
    """Read ``data`` as ``model``.

    Args:
        model: What is expected.
        data: What was got.
        path: Where ``data`` stands in the client's event, to name the field at fault.

    Raises:
        ProtocolError: A field is missing or has a wrong value; ``param`` names the first.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        param = ".".join([part for part in (path, _dotted(problem["loc"])) if part]) or None
        code = _CODES.get(problem["type"], "invalid_value")
        got = "" if code != "invalid_value" else f" got {_short(problem['input'])};"
        message = f"{param or 'event'}:{got} {problem['msg']}"
        raise ProtocolError(message, code=code, param=param) from error


def _dotted(location: tuple[int | str, ...]) -> str:
    """The path of a field without the names of union members that pydantic puts into it."""
    names = [
        str(part)
        for part in location
        if isinstance(part, int)
        or (re.fullmatch(r"[a-z][a-z0-9_]*", part) and part not in _UNION_TAGS)
    ]
    return ".".join(names)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
