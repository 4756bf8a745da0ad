"""Timers, alarms, reminders, lists and placed orders, which outlive a conversation, in SQLite.

One connection behind a lock serves every thread and session of the process; write-ahead logging and
a busy timeout let several processes share the file. Moments are seconds since the epoch, UTC. The
store does not know what an entry means or when it is announced.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from voice.errors import ConfigError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    due REAL,
    length_s REAL NOT NULL,
    session_id TEXT NOT NULL,
    told INTEGER NOT NULL DEFAULT 0,
    repeat TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS alerts_due ON alerts (told, due);
CREATE TABLE IF NOT EXISTS list_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    list TEXT NOT NULL,
    item TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    placed REAL NOT NULL,
    customer TEXT NOT NULL,
    content TEXT NOT NULL
);
"""
_FIELDS = "id, kind, label, due, length_s, session_id, repeat"
_BUSY_TIMEOUT_S = 2.0


class AlertKind(StrEnum):
    """A kind of entry that can be due."""

    TIMER = "timer"
    ALARM = "alarm"
    REMINDER = "reminder"


@dataclass(frozen=True, slots=True)
class Alert:
    """An entry to be announced when it is due.

    Attributes:
        label: A timer's name, a reminder's text; may be empty.
        due: Seconds since the epoch; None for a reminder without a time.
        length_s: The length of a timer; 0 for the others.
        session_id: The session that set it.
        repeat: The rule by which it comes again, as in RFC 5545; empty where it does not.
    """

    id: int
    kind: AlertKind
    label: str
    due: float | None
    length_s: float
    session_id: str
    repeat: str = ""


class Store:
    """The database.

    Args:
        database: A file, created with its folder if missing; "" is the user's data directory,
            ":memory:" keeps nothing.

    Raises:
        ConfigError: The file cannot be opened or is no database.
    """

    def __init__(self, database: str = "") -> None:
        file = database or str(_default_file())
        self._lock = threading.Lock()
        try:
            if file != ":memory:":
                Path(file).parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                file, timeout=_BUSY_TIMEOUT_S, check_same_thread=False
            )
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"tools.database: cannot use {file}: {error}") from error

    def close(self) -> None:
        """Close the file; may be called again."""
        with self._lock:
            self._connection.close()

    def add_alert(
        self,
        kind: AlertKind,
        label: str,
        due: float | None,
        session_id: str,
        length_s: float = 0.0,
        repeat: str = "",
    ) -> Alert:
        """Keep an entry that is due at ``due``, seconds since the epoch."""
        row = kind, label, due, length_s, session_id, repeat
        cursor = self._write(
            "INSERT INTO alerts (kind, label, due, length_s, session_id, repeat)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            *row,
        )
        assert cursor.lastrowid is not None
        return Alert(cursor.lastrowid, *row)

    def alerts(self, kind: AlertKind | None = None, due_by: float | None = None) -> list[Alert]:
        """Entries not announced yet, soonest first, those without a due time last.

        Args:
            kind: Only of this kind.
            due_by: Only those due by then, seconds since the epoch.
        """
        rows = self._read(
            f"SELECT {_FIELDS} FROM alerts"
            " WHERE NOT told AND (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR due <= ?2)"
            " ORDER BY due IS NULL, due, id",
            kind,
            due_by,
        )
        return [Alert(row[0], AlertKind(row[1]), *row[2:]) for row in rows]

    def next_due(self) -> float | None:
        """When the next entry is due, seconds since the epoch; None without one."""
        ((due,),) = self._read("SELECT min(due) FROM alerts WHERE NOT told")
        return None if due is None else float(due)

    def take_alert(self, alert: Alert, next_due: float | None = None) -> bool:
        """Mark an entry as announced, or as due again at ``next_due``.

        False if it was announced, changed or removed before.
        """
        taken = self._write(
            "UPDATE alerts SET told = ?1 IS NULL, due = ifnull(?1, due)"
            " WHERE id = ?2 AND due IS ?3 AND NOT told",
            next_due,
            alert.id,
            alert.due,
        )
        return taken.rowcount == 1

    def put_back_alert(self, alert: Alert) -> None:
        """Undo `take_alert`."""
        self._write("UPDATE alerts SET told = 0, due = ? WHERE id = ?", alert.due, alert.id)

    def change_alert(self, alert: Alert) -> bool:
        """Give an entry other times; False if it was announced or deleted before."""
        changed = self._write(
            "UPDATE alerts SET due = ?, length_s = ?, repeat = ? WHERE id = ? AND NOT told",
            *(alert.due, alert.length_s, alert.repeat, alert.id),
        )
        return changed.rowcount == 1

    def remove_alert(self, alert_id: int) -> bool:
        """Delete an entry; False if it was announced or deleted before."""
        removed = self._write("DELETE FROM alerts WHERE id = ? AND NOT told", alert_id)
        return removed.rowcount == 1

    def add_item(self, list_name: str, item: str) -> None:
        """Put an item at the end of a list, which need not exist."""
        self._write("INSERT INTO list_items (list, item) VALUES (?, ?)", list_name, item)

    def remove_item(self, list_name: str, item: str) -> bool:
        """Take the oldest such item off a list; False if it is not there."""
        removed = self._write(
            "DELETE FROM list_items WHERE id ="
            " (SELECT min(id) FROM list_items WHERE list = ? AND item = ?)",
            list_name,
            item,
        )
        return removed.rowcount == 1

    def move_item(self, list_name: str, item: str, to: str) -> bool:
        """Put an item of a list at the end of another; False if it is not there."""
        moved = self._write(
            "UPDATE list_items SET list = ?1, id = (SELECT max(id) + 1 FROM list_items) WHERE id ="
            " (SELECT min(id) FROM list_items WHERE list = ?2 AND item = ?3)",
            *(to, list_name, item),
        )
        return moved.rowcount == 1

    def clear_items(self, list_name: str) -> list[str]:
        """Delete all items of a list; returns them, oldest first."""
        cleared = self._read("DELETE FROM list_items WHERE list = ? RETURNING item, id", list_name)
        return [str(item) for item, _ in sorted(cleared, key=lambda row: int(row[1]))]

    def lists(self) -> list[str]:
        """The names of all lists that have items."""
        return [str(name) for (name,) in self._read("SELECT DISTINCT list FROM list_items")]

    def items(self, list_name: str) -> list[str]:
        """The items of a list, oldest first; an unknown list is empty."""
        query = "SELECT item FROM list_items WHERE list = ? ORDER BY id"
        return [str(item) for (item,) in self._read(query, list_name)]

    def place_order(self, customer: str, content: str, placed: float) -> None:
        """Keep a confirmed order; ``placed`` in seconds since the epoch."""
        row = placed, customer, content
        self._write("INSERT INTO orders (placed, customer, content) VALUES (?, ?, ?)", *row)

    def orders(self) -> list[tuple[float, str, str]]:
        """Moment, customer and content of every order placed, oldest first."""
        return self._read("SELECT placed, customer, content FROM orders ORDER BY id")

    def _read(self, query: str, *values: object) -> list[Any]:
        with self._lock, self._connection as database:
            return database.execute(query, values).fetchall()

    def _write(self, statement: str, *values: object) -> sqlite3.Cursor:
        with self._lock, self._connection as database:
            return database.execute(statement, values)

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        # With write-ahead logging this survives a crash of the process, and a power cut may only
        # lose the last entry; it saves a disk flush while the user waits.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._connection as database:
            database.executescript(_SCHEMA)
            columns = {row[1] for row in database.execute("PRAGMA table_info(alerts)")}
            if "repeat" not in columns:
                # A file of before there were repeats.
                database.execute("ALTER TABLE alerts ADD COLUMN repeat TEXT NOT NULL DEFAULT ''")


def _default_file() -> Path:
    """The XDG data directory's file; ``XDG_DATA_HOME`` moves it."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "quicksilver" / "voice.sqlite3"
