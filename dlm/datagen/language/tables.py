"""Reads and checks the word lists and phrasings in ``data/``, as dataclasses.

Comments at the top of each file explain its entries. A list of strings may be written as an array,
or as one string with commas between the entries.
"""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

DATA = Path(__file__).parents[1] / "data"
T = TypeVar("T")
Lists = dict[str, tuple[str, ...]]
"""The type of a file that has only lists; the comments at its top explain them."""


class TableError(ValueError):
    """A data file does not have what its reader expects."""


def read(name: str, kind: type[T], directory: Path = DATA) -> T:
    """Read a data file as an instance of a type.

    Args:
        kind: A dataclass, or ``dict[str, X]`` of one. Its fields are strings, numbers, booleans,
            tuples of any length, dicts by name, and dataclasses of such.

    Raises:
        TableError: The file is not TOML, or an entry is missing, unknown or of the wrong type.
    """
    path = directory / f"{name}.toml"
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path.name}: {error}") from error
    value: T = _made(found, kind, f"{path.name}: ")
    return value


def _made(value: Any, kind: Any, at: str) -> Any:
    """Convert a value to a type; ``at`` is its file and entry."""
    if is_dataclass(kind):
        return _record(value, kind, at)
    if isinstance(kind, GenericAlias):
        inner = get_args(kind)
        if get_origin(kind) is dict:
            _check(isinstance(value, dict), at, "a table", value)
            return {key: _made(item, inner[1], _below(at, key)) for key, item in value.items()}
        if isinstance(value, str) and inner[0] is str:
            value = value.replace("\n", " ").strip().split(", ")
        _check(isinstance(value, list), at, "an array", value)
        items = enumerate(value)
        return tuple(_made(item, inner[0], f"{at}[{number}]") for number, item in items)
    if kind is float and type(value) is int:
        value = float(value)
    _check(type(value) is kind, at, f"a value of type {kind.__name__}", value)
    return value


def _record(value: Any, kind: Any, at: str) -> Any:
    _check(isinstance(value, dict), at, "a table", value)
    known = {field.name: field for field in fields(kind)}
    for key in value:
        _check(key in known, _below(at, key), f"one of {', '.join(known)}", key)
    types = get_type_hints(kind)
    made = {key: _made(item, types[key], _below(at, key)) for key, item in value.items()}
    for name, field in known.items():
        needed = field.default is MISSING and field.default_factory is MISSING
        _check(name in value or not needed, _below(at, name), "an entry", None)
    return kind(**made)


def _below(at: str, key: str) -> str:
    return f"{at}{key}" if at.endswith(": ") else f"{at}.{key}"


def _check(fits: bool, at: str, expected: str, got: Any) -> None:
    if not fits:
        raise TableError(f"{at}: expected {expected}, got {got!r}")
