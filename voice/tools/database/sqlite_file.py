"""A database in a SQLite file.

One connection behind a lock serves every thread and session of the process; write-ahead logging and
a busy timeout let several processes share the file. Deleted data is overwritten, in the file and,
at the next checkpoint, in the log.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, Table, create_engine, delete, false
from sqlalchemy.pool import StaticPool

from voice.config import data_path
from voice.tools.database.faults import DAMAGED, Gone, trouble_of
from voice.tools.database.migration import bring_up_to_date

BUSY_TIMEOUT_S = 2.0
_DEFAULT = "voice.sqlite3"
_MAGIC = b"SQLite format 3\0"
_SUFFIXES = ("", "-wal", "-shm")
"""Suffixes of the file and of the two that lie beside it while it is open."""

_log = logging.getLogger(__name__)


class _NotWhole(sqlite3.DatabaseError):
    """SQLite's check has found damage."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class SqliteFile:
    """The database in a file.

    Args:
        file: Its path; "" is one in the user's data directory, ":memory:" keeps nothing. If
            missing, it is created with its folder, readable by its user alone; a damaged file is
            moved aside.

    Attributes:
        shown: Its name in the log.
    """

    def __init__(self, file: str) -> None:
        self._file = file_of(file)
        self.shown = self._file or ":memory:"
        self._lock = threading.Lock()
        self.engine = create_engine(
            "sqlite://", creator=self._opened, poolclass=StaticPool, hide_parameters=True
        )
        self._files: dict[str, tuple[int, int] | None] = {}

    def begin(self) -> None:
        """Open it, and bring its tables up to date.

        Raises:
            OSError: It cannot be opened or created.
            SQLAlchemyError: The same, or it is not a database.
        """
        bring_up_to_date(self.engine)
        self._files = {self._file + suffix: _identity(self._file + suffix) for suffix in _SUFFIXES}

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Hold the only connection.

        Raises:
            Gone: The file was moved or deleted, and a new one was begun.
        """
        with self._lock:
            self._look_for_file()
            yield

    def lock(self, connection: Connection, table: Table) -> None:
        """Let nobody else write until the transaction ends: the first change begins it."""
        connection.execute(delete(table).where(false()))

    def erase(self, connection: Connection) -> None:
        """Write the log back into the file and empty it, as it still has deleted data."""
        busy, *_ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
        if busy:
            _log.warning("another program reads the database; the log is emptied later")

    def close(self) -> None:
        """Close it; may be called again."""
        with self._lock:
            self.engine.dispose()

    def _look_for_file(self) -> None:
        """Begin a new file if ours is gone; SQLite would go on writing to the unlinked one."""
        if not self._file or _identity(self._file) == self._files[self._file]:
            return
        self.engine.dispose()
        # A log left by the old file would be taken for the new one's.
        _move_aside(
            self._file, [file for file, ours in self._files.items() if ours == _identity(file)]
        )
        self.begin()
        raise Gone("gone")

    def _opened(self) -> sqlite3.Connection:
        """A connection to an intact file; a damaged one is moved aside, to be looked at later."""
        try:
            return _connect(self._file)
        except sqlite3.Error as error:
            if trouble_of(error) is not DAMAGED or not _is_ours(self._file):
                raise
            aside = _move_aside(self._file, [self._file + suffix for suffix in _SUFFIXES])
            _log.error(
                "tools.database: %s: %s; it was moved to %s and a new one is begun; sqlite3's"
                " .dump may find entries in it (docs/operations.md)",
                *(self._file, error, aside),
            )
            return _connect(self._file)


def file_of(place: str) -> str:
    """The path of the file that `SqliteFile` takes for its argument; empty for none."""
    return "" if place == ":memory:" else place or str(data_path(_DEFAULT))


def _connect(file: str) -> sqlite3.Connection:
    if file:
        Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    database = sqlite3.connect(file or ":memory:", timeout=BUSY_TIMEOUT_S, check_same_thread=False)
    try:
        _log_ahead(database)
        # With write-ahead logging this survives a crash of the process, and a power cut loses at
        # most the last entries; it saves a disk flush while the user waits.
        database.execute("PRAGMA synchronous = NORMAL")
        # Deleted data is overwritten, in the file and in every page written to the log.
        database.execute("PRAGMA secure_delete = ON")
        ((found,),) = database.execute("PRAGMA quick_check(1)").fetchall()
        if found != "ok":
            raise _NotWhole(found)
    except sqlite3.Error:
        database.close()
        raise
    if file:
        _make_private(file)
    return database


def _log_ahead(database: sqlite3.Connection) -> None:
    """Turn on write-ahead logging, for which SQLite does not always wait while others begin."""
    until = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _is_ours(file: str) -> bool:
    """Whether a file is a SQLite database, or lies where only this program puts one."""
    with open(file, "rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC or file == str(data_path(_DEFAULT))


def _move_aside(file: str, with_it: Sequence[str]) -> str:
    """Rename some of a database's files; returns the new name of ``file``, renamed or not."""
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


def _make_private(file: str) -> None:
    """Take other users' rights from the file and the two that lie beside it while it is open."""
    for suffix in _SUFFIXES:
        with suppress(FileNotFoundError):
            os.chmod(file + suffix, 0o600)
