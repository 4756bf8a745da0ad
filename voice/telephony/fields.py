"""Fields of a peer's JSON: lenient about how a value is written, strict about what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voice.errors import ProtocolError
from voice.realtime.client_events import parse_json

MAX_PARAMETERS = 64
MAX_TEXT = 1024

_LARGEST = 10**18

KEYS = frozenset("0123456789*#ABCD")

__all__ = ["as_key", "as_number", "as_object", "as_text", "parameters", "parse_json"]


def as_object(value: object, name: str) -> dict[str, Any]:
    """The object that a field must hold.

    Raises:
        ProtocolError: It does not.
    """
    if not isinstance(value, dict):
        raise ProtocolError(f"{name}: got {_kind(value)}; expected an object", param=name)
    return value


def as_text(value: object, name: str) -> str:
    """The text, or number written as text, that a field must hold.

    Raises:
        ProtocolError: It does not, or is too long.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST:
        # Python refuses to spell numbers of thousands of digits.
        value = str(value)
    if not isinstance(value, str):
        raise ProtocolError(f"{name}: got {_kind(value)}; expected text", param=name)
    if len(value) > MAX_TEXT:
        raise ProtocolError(f"{name}: got {len(value)} characters", param=name)
    return value


def as_number(value: object, name: str) -> int:
    """The whole number, or text that spells one, that a field must hold.

    Raises:
        ProtocolError: It does not, or has more than 18 digits.
    """
    text = as_text(value, name).strip()
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ProtocolError(f"{name}: got {text[:40]!r}; expected a whole number", param=name)
    return int(text)


def as_key(value: object, name: str) -> str:
    """The one character that stands for a key, of which `KEYS` are those of a telephone.

    Bridges tell of others as well, a flash or a pause; those are for the conversation to pass over.

    Raises:
        ProtocolError: It is not one character.
    """
    text = as_text(value, name)
    key = text if len(text) == 1 else text.strip()
    if len(key) != 1:
        raise ProtocolError(f"{name}: got {len(key)} characters; expected one key", param=name)
    # Of one character there may be two in capitals.
    return key.upper() if key.isascii() else key


def parameters(value: object) -> dict[str, str]:
    """The plain values of an object that the caller's side may fill as it likes.

    Raises:
        ProtocolError: There are too many, or one is too long.
    """
    if not isinstance(value, Mapping):
        return {}
    if len(value) > MAX_PARAMETERS:
        raise ProtocolError(f"got {len(value)} parameters; expected at most {MAX_PARAMETERS}")
    return {
        as_text(name, "parameter"): as_text(item, "parameter")
        for name, item in value.items()
        if isinstance(item, str | int) and not isinstance(item, bool)
    }


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a JSON {type(value).__name__}"
