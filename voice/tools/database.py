"""The SQLite file of what outlives a conversation, and what becomes of it in time.

One connection behind a lock serves every thread and session of the process; write-ahead logging and
a busy timeout let several processes share the file. Moments are seconds since the epoch, UTC. Every
table has an owner's columns, ``agent`` and ``caller``; what else an entry means is not known here:
`voice.tools.store` reads and writes those of one owner. What is deleted is overwritten, in the file
and, at the next checkpoint, in the log.

Whatever is wrong with the file is a `StoreError` for who wanted something of it, and one line in
the log until something could be written again. A timer is due by the wall clock, and moves with it
when it is set.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import threading
import time
import uuid
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from voice.callers import LOCAL, Caller
from voice.config import ToolsConfig
from voice.errors import ConfigError, StoreError
from voice.tools.scope import Clock, MachineClock

_VERSION = 3
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
    repeat TEXT NOT NULL DEFAULT '',
    ends_s REAL,
    boot TEXT NOT NULL DEFAULT ''
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
_ADRIFT = "boot = ?1 AND abs(due - ends_s - ?2) > 1 AND NOT told AND taken_until = 0"
"""Timers that are not due when they end, in seconds of uptime, since the wall clock was set."""
_DAY_S = 86_400.0
_LONGEST_STRANGER_S = _DAY_S
"""Entries of strangers that are older are left from a process that crashed."""
_BUSY_TIMEOUT_S = 2.0
_MAGIC = b"SQLite format 3\0"
_SUFFIXES = ("", "-wal", "-shm")
"""Of the file, and of the two that lie beside it while it is open."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Trouble:
    """What can be wrong: what callers are told, what the operator can do, whether it passes."""

    spoken: str
    remedy: str
    passes: bool = False


_DAMAGED = _Trouble(
    "What I keep for you is damaged, so I cannot use it.",
    "restart the server, which moves the file aside and begins a new one",
)
_GONE = _Trouble(
    "What I kept for you is gone. I begin anew, so please say that again.",
    "the file was moved or deleted; a new one is begun",
)
_OTHER = _Trouble(
    "I cannot get at what I keep for you.", "see to the disk and to the rights of file and folder"
)
_LOCKED = _Trouble(
    "What I keep for you is in use by another program. Please try again in a moment.",
    "if this lasts, end the program that holds it",
    passes=True,
)
_TROUBLES: Mapping[int, _Trouble] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: _Trouble(
            "I cannot keep that, because the disk is full.", "free some space on the disk"
        ),
        sqlite3.SQLITE_READONLY: _Trouble(
            "I cannot change what I keep for you, because its file may only be read.",
            "make the file and its folder writable",
        ),
        sqlite3.SQLITE_BUSY: _LOCKED,
        sqlite3.SQLITE_LOCKED: _LOCKED,
        sqlite3.SQLITE_CORRUPT: _DAMAGED,
        sqlite3.SQLITE_NOTADB: _DAMAGED,
    }
)


class _NotWhole(sqlite3.DatabaseError):
    """SQLite's check has found damage."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Database:
    """The file.

    Args:
        file: Created with its folder if missing, for its user's eyes only; "" is in the user's data
            directory, ":memory:" keeps nothing. A damaged one is moved aside.
        clock: That alerts are due by.

    Raises:
        ConfigError: The file cannot be opened or is no database.
    """

    def __init__(self, file: str = "", clock: Clock | None = None) -> None:
        self._file = "" if file == ":memory:" else file or str(_default_file())
        self._clock = clock or MachineClock()
        self._lock = threading.Lock()
        self._told: set[_Trouble] = set()
        self._followed_s: float | None = None
        try:
            self._connection = self._opened()
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"tools.database: cannot use {self._file}: {error}") from error
        self._files = self._identities()

    def close(self) -> None:
        """Close the file; may be called again."""
        with self._lock:
            self._connection.close()

    def read(self, query: str, *values: object) -> list[Any]:
        """The rows that a statement gives; it may also change some.

        Raises:
            StoreError: It cannot be done, and nothing has changed; so does every other method.
        """
        with self._transaction() as database:
            return database.execute(query, values).fetchall()

    def write(self, statement: str, *values: object) -> sqlite3.Cursor:
        """Execute a statement that changes something, in a transaction of its own."""
        with self._transaction() as database:
            return database.execute(statement, values)

    def write_each(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement for each of the rows, or for none."""
        with self._transaction() as database:
            database.executemany(statement, rows)

    def countdown(self, due: float) -> tuple[float, str]:
        """The uptime at which the wall clock will show ``due`` unless it is set, and since when."""
        return due - self._offset_s(), _boot()

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
        with self._transaction() as database:
            return {
                table: _rows(
                    database.execute(
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
        with self._transaction() as database:
            for statement in _SWEEPS:
                database.execute(statement, before)
        self._erase()

    def _delete(self, tables: Sequence[str], caller: Caller, agent: str | None) -> dict[str, int]:
        with self._transaction() as database:
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

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection, None, None]:
        """The connection, for one thread at a time."""
        with self._lock:
            try:
                self._look_for_file()
                before = self._connection.total_changes
                with self._connection as database:
                    self._follow_clock(database)
                    yield database
            except (OSError, sqlite3.Error) as error:
                raise self._failed(_trouble(error), error) from error
            if self._told and self._connection.total_changes > before:
                self._told.clear()
                _log.warning("tools.database: %s can be written again", self._file)

    def _failed(self, trouble: _Trouble, error: object) -> StoreError:
        if trouble not in self._told:
            self._told.add(trouble)
            _log.error("tools.database: %s: %s; %s", self._file, error, trouble.remedy)
        return StoreError(trouble.spoken, trouble.passes)

    def _look_for_file(self) -> None:
        """Begin a new file if ours is gone: SQLite would go on with one that has no name."""
        if not self._file or _identity(self._file) == self._files[self._file]:
            return
        self._connection.close()
        # A log of the old file would be taken for one of the new.
        _move_aside(
            self._file, [file for file, ours in self._files.items() if ours == _identity(file)]
        )
        self._connection = self._opened()
        self._files = self._identities()
        raise self._failed(_GONE, "gone")

    def _follow_clock(self, database: sqlite3.Connection) -> None:
        """Have timers due when their time has passed, by what the wall clock shows by now."""
        offset_s = self._offset_s()
        if self._followed_s is not None and abs(offset_s - self._followed_s) < 1:
            return
        given = (_boot(), offset_s)
        if database.execute(f"SELECT id FROM alerts WHERE {_ADRIFT} LIMIT 1", given).fetchall():
            database.execute(f"UPDATE alerts SET due = ends_s + ?2 WHERE {_ADRIFT}", given)
        self._followed_s = offset_s

    def _offset_s(self) -> float:
        return self._clock().timestamp() - self._clock.uptime_s()

    def _identities(self) -> dict[str, tuple[int, int] | None]:
        return {self._file + suffix: _identity(self._file + suffix) for suffix in _SUFFIXES}

    def _opened(self) -> sqlite3.Connection:
        """A connection to a whole file; a damaged one is moved aside, for somebody to look at."""
        try:
            return _connect(self._file)
        except sqlite3.Error as error:
            if _trouble(error) is not _DAMAGED or not _is_ours(self._file):
                raise
            aside = _move_aside(self._file, [self._file + suffix for suffix in _SUFFIXES])
            _log.error(
                "tools.database: %s: %s; it was moved to %s and a new one is begun; sqlite3's"
                " .recover may find entries in it",
                *(self._file, error, aside),
            )
            return _connect(self._file)


def _connect(file: str) -> sqlite3.Connection:
    if file:
        Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    database = sqlite3.connect(file or ":memory:", timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
    try:
        _prepare(database)
    except sqlite3.Error:
        database.close()
        raise
    if file:
        _make_private(file)
    return database


def _prepare(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    # With write-ahead logging this survives a crash of the process, and a power cut may only
    # lose the last entry; it saves a disk flush while the user waits.
    database.execute("PRAGMA synchronous = NORMAL")
    # What is deleted is overwritten, in the file and in every page that the log gets.
    database.execute("PRAGMA secure_delete = ON")
    ((found,),) = database.execute("PRAGMA quick_check(1)").fetchall()
    if found != "ok":
        raise _NotWhole(found)
    if _is_current(database):
        return
    # Takes away what was deleted from an older file before deleting overwrote.
    database.execute("VACUUM")
    with database:
        database.execute("BEGIN IMMEDIATE")
        # Another process may have done it meanwhile.
        old = [] if _is_current(database) else _tables(database)
        for table in old:
            database.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        if old:
            database.execute("DROP INDEX IF EXISTS alerts_due")
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        for table in old:
            _take_over(database, table)
        database.execute(f"PRAGMA user_version = {_VERSION}")


def _is_current(database: sqlite3.Connection) -> bool:
    ((version,),) = database.execute("PRAGMA user_version").fetchall()
    return bool(version >= _VERSION and len(_tables(database)) == len(_TABLES))


def _trouble(error: Exception) -> _Trouble:
    return _TROUBLES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, _OTHER)


def _is_ours(file: str) -> bool:
    """Whether it is a database, or lies where nobody else puts a file."""
    with open(file, "rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC or file == str(_default_file())


def _move_aside(file: str, with_it: Sequence[str]) -> str:
    """Give some of the files that belong together other names; returns what ``file`` would get."""
    aside = f"{file}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{uuid.uuid4().hex[:4]}"
    for each in with_it:
        with suppress(FileNotFoundError):
            os.rename(each, aside + each.removeprefix(file))
    return aside


def _identity(file: str) -> tuple[int, int] | None:
    with suppress(OSError):
        found = os.stat(file)
        return found.st_dev, found.st_ino
    return None


@cache
def _boot() -> str:
    """The time from one start of the machine to the next; where it has no name, of this process."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return uuid.uuid4().hex


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
