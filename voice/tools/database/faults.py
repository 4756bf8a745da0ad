"""The faults of a database: what callers are told, and what the operator can do."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlalchemy.exc import TimeoutError as PoolTimeout


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault: a sentence for callers, a remedy for the operator, and whether it is temporary."""

    spoken: str
    remedy: str
    passes: bool = False


class Gone(OSError):
    """The file is no longer where it was, or was replaced by another."""


_GONE = Trouble(
    "What I kept for you is gone. I begin anew, so please say that again.",
    "the file was moved or deleted; a new one is begun",
)
_OTHER = Trouble(
    "I cannot get at what I keep for you.", "see to the disk and to the rights of file and folder"
)
_UNREACHABLE = Trouble(
    "I cannot get at what I keep for you. Please try again in a moment.",
    "see to the database's server and the network",
    passes=True,
)
_REFUSED = Trouble(
    "I cannot get at what I keep for you.", "see to the database and to what its user may do"
)
_FULL = Trouble("I cannot keep that, because the disk is full.", "free some space on the disk")
_READ_ONLY = Trouble(
    "I cannot change what I keep for you, because it may only be read.", "make it writable"
)
_LOCKED = Trouble(
    "What I keep for you is in use by another program. Please try again in a moment.",
    "if this lasts, end the program that holds it",
    passes=True,
)
DAMAGED = Trouble(
    "What I keep for you is damaged, so I cannot use it.",
    "restart the server, which moves the file aside and begins a new one",
)
_BROKEN = Trouble(DAMAGED.spoken, "restore the database from a backup")

# By SQLite's primary result code, or by PostgreSQL's SQLSTATE.
_TROUBLES: Mapping[int | str, Trouble] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: _FULL,
        sqlite3.SQLITE_READONLY: _READ_ONLY,
        sqlite3.SQLITE_BUSY: _LOCKED,
        sqlite3.SQLITE_LOCKED: _LOCKED,
        sqlite3.SQLITE_CORRUPT: DAMAGED,
        sqlite3.SQLITE_NOTADB: DAMAGED,
        "53100": _FULL,
        "25006": _READ_ONLY,
        "55P03": _LOCKED,
        "40P01": _LOCKED,
        "40001": _LOCKED,
        "XX001": _BROKEN,
        "XX002": _BROKEN,
        "57P01": _UNREACHABLE,
        "57P02": _UNREACHABLE,
        "57P03": _UNREACHABLE,
    }
)


def trouble_of(error: Exception) -> Trouble:
    """The fault that an error of a driver, of SQLAlchemy or of the system stands for."""
    cause = _cause(error)
    if isinstance(cause, Gone):
        return _GONE
    if hasattr(cause, "sqlstate"):
        return _TROUBLES.get(cause.sqlstate, _REFUSED) if cause.sqlstate else _UNREACHABLE
    if isinstance(cause, PoolTimeout):
        return _UNREACHABLE
    return _TROUBLES.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF, _OTHER)


def is_conflict(error: Exception) -> bool:
    """Whether an error says that another row has a value that must be unique."""
    cause = _cause(error)
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorcode", None)
    return code in ("23505", sqlite3.SQLITE_CONSTRAINT_UNIQUE)


def words_of(error: Exception) -> str:
    """The database's own message, on one line, without the contents of statements or rows."""
    cause = _cause(error)
    primary = getattr(getattr(cause, "diag", None), "message_primary", None)
    return " ".join((primary or str(cause)).split())


def _cause(error: Exception) -> BaseException:
    return getattr(error, "orig", None) or error
