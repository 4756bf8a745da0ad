"""The SQLite file of what outlives a conversation, and what becomes of it in time.

One connection behind a lock serves every thread and session of the process; write-ahead logging and
a busy timeout let several processes share the file. Moments are seconds since the epoch, UTC. Every
table has an owner's columns, ``agent`` and ``caller``; what else an entry means is not known here:
`voice.tools.store` reads and writes those of one owner. What is deleted is overwritten, in the file
and, at the next checkpoint, in the log.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from voice.callers import LOCAL, Caller
from voice.config import ToolsConfig
from voice.errors import ConfigError

_VERSION = 2
"""Of the schema; to be raised when a table gets another column."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    caller TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (strftime('%s', 'now')),
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    due REAL,
    length_s REAL NOT NULL,
    session_id TEXT NOT NULL,
    told INTEGER NOT NULL DEFAULT 0,
    taken_until REAL NOT NULL DEFAULT 0,
    repeat TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS alerts_due ON alerts (agent, caller, told, due);
CREATE TABLE IF NOT EXISTS list_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    caller TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (strftime('%s', 'now')),
    list TEXT NOT NULL,
    item TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    caller TEXT NOT NULL,
    placed REAL NOT NULL,
    customer TEXT NOT NULL,
    content TEXT NOT NULL
)"""
_TABLES = tuple(re.findall(r"TABLE IF NOT EXISTS (\w+)", _SCHEMA))
_BEFORE_OWNERS = {"agent": "assistant", "caller": str(LOCAL)}
"""Whose the entries of a file are that tells none: there was one user, and mostly one agent."""
_STRANGERS = "caller GLOB 'conversation:*'"
_SWEEPS = (
    "DELETE FROM alerts WHERE told OR (repeat = '' AND due < :alerts)"
    " OR ((due IS NULL OR repeat <> '') AND max(created, ifnull(due, 0)) < :lists)"
    f" OR ({_STRANGERS} AND created < :strangers)",
    f"DELETE FROM list_items WHERE created < :lists OR ({_STRANGERS} AND created < :strangers)",
    "DELETE FROM orders WHERE placed < :orders",
)
_OUTLIVES_STRANGERS = ("orders",)
"""A placed order is to be made, whoever placed it."""
_DAY_S = 86_400.0
_LONGEST_STRANGER_S = _DAY_S
"""Entries of strangers that are older are left from a process that crashed."""
_BUSY_TIMEOUT_S = 2.0

_log = logging.getLogger(__name__)


class Database:
    """The file.

    Args:
        file: Created with its folder if missing, for its user's eyes only; "" is in the user's data
            directory, ":memory:" keeps nothing.

    Raises:
        ConfigError: The file cannot be opened or is no database.
    """

    def __init__(self, file: str = "") -> None:
        file = file or str(_default_file())
        self._lock = threading.Lock()
        try:
            if file != ":memory:":
                Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(
                file, timeout=_BUSY_TIMEOUT_S, check_same_thread=False
            )
            self._prepare()
            if file != ":memory:":
                _make_private(file)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"tools.database: cannot use {file}: {error}") from error

    def close(self) -> None:
        """Close the file; may be called again."""
        with self._lock:
            self._connection.close()

    def read(self, query: str, *values: object) -> list[Any]:
        """The rows that a statement gives; it may also change some."""
        with self._lock, self._connection as database:
            return database.execute(query, values).fetchall()

    def write(self, statement: str, *values: object) -> sqlite3.Cursor:
        """Execute a statement that changes something, in a transaction of its own."""
        with self._lock, self._connection as database:
            return database.execute(statement, values)

    def callers(self) -> list[dict[str, Any]]:
        """Every owner of entries, as ``agent`` and ``caller``, with how many each table has."""
        counts: dict[tuple[str, str], dict[str, int]] = {}
        for table in _TABLES:
            rows = self.read(f"SELECT agent, caller, count(*) FROM {table} GROUP BY agent, caller")
            for agent, caller, count in rows:
                counts.setdefault((agent, caller), dict.fromkeys(_TABLES, 0))[table] = count
        return [
            {"agent": agent, "caller": caller, "entries": entries}
            for (agent, caller), entries in sorted(counts.items())
        ]

    def export(self, caller: Caller) -> dict[str, list[dict[str, Any]]]:
        """All entries of a caller at any agent: table → its rows, oldest first."""
        with self._lock:
            return {
                table: _rows(
                    self._connection.execute(
                        f"SELECT * FROM {table} WHERE caller = ? ORDER BY id", (str(caller),)
                    )
                )
                for table in _TABLES
            }

    def delete(self, caller: Caller, agent: str | None = None) -> dict[str, int]:
        """Delete all entries of a caller, at one agent or at any: table → how many there were."""
        return self._delete(_TABLES, caller, agent)

    def delete_stranger(self, caller: Caller) -> None:
        """Delete what a conversation leaves that nobody can come back to."""
        tables = [table for table in _TABLES if table not in _OUTLIVES_STRANGERS]
        self._delete(tables, caller, None)

    def sweep(self, kept: ToolsConfig, now_s: float) -> None:
        """Delete what has been kept long enough, and overwrite all that was deleted so far."""
        before = {
            "alerts": now_s - kept.keep_alerts_days * _DAY_S,
            "lists": now_s - kept.keep_lists_days * _DAY_S,
            "orders": now_s - kept.keep_orders_days * _DAY_S,
            "strangers": now_s - _LONGEST_STRANGER_S,
        }
        with self._lock, self._connection as database:
            for statement in _SWEEPS:
                database.execute(statement, before)
        self._erase()

    def _delete(self, tables: Sequence[str], caller: Caller, agent: str | None) -> dict[str, int]:
        with self._lock, self._connection as database:
            deleted = {
                table: database.execute(
                    f"DELETE FROM {table} WHERE caller = ?1 AND (?2 IS NULL OR agent = ?2)",
                    (str(caller), agent),
                ).rowcount
                for table in tables
            }
        self._erase()
        return deleted

    def _erase(self) -> None:
        """Write the log back into the file and empty it: it has pages of before a deletion."""
        ((busy, *_),) = self.read("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy:
            _log.warning("another program reads the database; the log is emptied later")

    def _prepare(self) -> None:
        database = self._connection
        database.execute("PRAGMA journal_mode = WAL")
        # With write-ahead logging this survives a crash of the process, and a power cut may only
        # lose the last entry; it saves a disk flush while the user waits.
        database.execute("PRAGMA synchronous = NORMAL")
        # What is deleted is overwritten, in the file and in every page that the log gets.
        database.execute("PRAGMA secure_delete = ON")
        if self._is_current():
            return
        # Takes away what was deleted from an older file before deleting overwrote.
        database.execute("VACUUM")
        with database:
            database.execute("BEGIN IMMEDIATE")
            # Another process may have done it meanwhile.
            old = [] if self._is_current() else _tables(database)
            for table in old:
                database.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
            if old:
                database.execute("DROP INDEX IF EXISTS alerts_due")
            for statement in _SCHEMA.split(";"):
                database.execute(statement)
            for table in old:
                _take_over(database, table)
            database.execute(f"PRAGMA user_version = {_VERSION}")

    def _is_current(self) -> bool:
        ((version,),) = self._connection.execute("PRAGMA user_version").fetchall()
        return bool(version >= _VERSION and len(_tables(self._connection)) == len(_TABLES))


def _take_over(database: sqlite3.Connection, table: str) -> None:
    """Move what an older file has into a table of today."""
    had, has = _columns(database, f"old_{table}"), _columns(database, table)
    kept = [name for name in has if name in had]
    owner = {name: _BEFORE_OWNERS[name] for name in has if name in _BEFORE_OWNERS.keys() - had}
    names, values = ", ".join([*owner, *kept]), ", ".join([*("?" for _ in owner), *kept])
    database.execute(
        f"INSERT INTO {table} ({names}) SELECT {values} FROM old_{table}", tuple(owner.values())
    )
    database.execute(f"DROP TABLE old_{table}")


def _tables(database: sqlite3.Connection) -> list[str]:
    """Those of our tables that there are."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [table for table in _TABLES if (table,) in rows]


def _rows(cursor: sqlite3.Cursor) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in database.execute(f"PRAGMA table_info({table})")]


def _make_private(file: str) -> None:
    """Take other users' rights from the file and the two that lie beside it while it is open."""
    for each in (file, f"{file}-wal", f"{file}-shm"):
        with suppress(FileNotFoundError):
            os.chmod(each, 0o600)


def _default_file() -> Path:
    """The XDG data directory's file; ``XDG_DATA_HOME`` moves it."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "quicksilver" / "voice.sqlite3"
