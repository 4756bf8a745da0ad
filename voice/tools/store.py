"""Timers, alarms, reminders, lists and placed orders of one owner, which outlive a conversation.

Whose the entries are is said once, when a store is made: no tool sees those of another. The store
does not know what an entry means or when it is announced.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from voice.callers import Owner
from voice.tools.database import Database

_FIELDS = "id, kind, label, due, length_s, session_id, repeat"
_MINE = "agent = ?1 AND caller = ?2"


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
    """What is kept for one caller of one agent; cheap to make."""

    def __init__(self, database: Database, owner: Owner) -> None:
        self._database = database
        self._caller = owner.caller
        self._owner = owner.agent, str(owner.caller)

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
            "INSERT INTO alerts (agent, caller, kind, label, due, length_s, session_id, repeat,"
            " ends_s, boot) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *row,
            *(self._database.countdown(due) if kind is AlertKind.TIMER and due else (None, "")),
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
            f" WHERE {_MINE} AND NOT told"
            " AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR due <= ?4)"
            " ORDER BY due IS NULL, due, id",
            kind,
            due_by,
        )
        return [Alert(row[0], AlertKind(row[1]), *row[2:]) for row in rows]

    def next_due(self, after: float) -> float | None:
        """When the first entry behind ``after`` is due, seconds since the epoch; None without."""
        query = f"SELECT min(due) FROM alerts WHERE {_MINE} AND NOT told AND due > ?3"
        ((due,),) = self._read(query, after)
        return None if due is None else float(due)

    def take_alert(self, alert: Alert, now: float, until: float) -> bool:
        """Have an entry for oneself, to announce it.

        It is everybody's again at ``until``, in seconds since the epoch as ``now`` is: who has
        taken it may have crashed. False if another has it, or it was told, changed or removed.
        """
        taken = self._write(
            f"UPDATE alerts SET taken_until = ?3 WHERE {_MINE} AND id = ?4 AND due IS ?5"
            " AND NOT told AND taken_until <= ?6",
            *(until, alert.id, alert.due, now),
        )
        return taken.rowcount == 1

    def put_back_alert(self, alert: Alert) -> None:
        """Undo `take_alert`."""
        self._write(f"UPDATE alerts SET taken_until = 0 WHERE {_MINE} AND id = ?3", alert.id)

    def tell_alert(self, alert: Alert, next_due: float | None = None) -> None:
        """Mark an entry as announced, or as due again at ``next_due``, unless it was changed."""
        self._write(
            "UPDATE alerts SET told = ?3 IS NULL, due = ifnull(?3, due)"
            f" WHERE {_MINE} AND id = ?4 AND due IS ?5 AND NOT told",
            *(next_due, alert.id, alert.due),
        )
        self.put_back_alert(alert)

    def change_alert(self, alert: Alert) -> bool:
        """Give an entry other times; False if it was announced or deleted before."""
        changed = self._write(
            "UPDATE alerts SET ends_s = ends_s + ?3 - due, due = ?3, length_s = ?4, repeat = ?5"
            f" WHERE {_MINE} AND id = ?6 AND NOT told",
            *(alert.due, alert.length_s, alert.repeat, alert.id),
        )
        return changed.rowcount == 1

    def remove_alert(self, alert_id: int) -> bool:
        """Delete an entry; False if it was announced or deleted before."""
        statement = f"DELETE FROM alerts WHERE {_MINE} AND id = ?3 AND NOT told"
        removed = self._write(statement, alert_id)
        return removed.rowcount == 1

    def add_item(self, list_name: str, *items: str) -> None:
        """Put items, all or none, at the end of a list, which need not exist."""
        statement = "INSERT INTO list_items (agent, caller, list, item) VALUES (?, ?, ?, ?)"
        self._database.write_each(statement, [(*self._owner, list_name, item) for item in items])

    def remove_item(self, list_name: str, item: str) -> bool:
        """Take the oldest such item off a list; False if it is not there."""
        removed = self._write(
            "DELETE FROM list_items WHERE id ="
            f" (SELECT min(id) FROM list_items WHERE {_MINE} AND list = ?3 AND item = ?4)",
            list_name,
            item,
        )
        return removed.rowcount == 1

    def move_item(self, list_name: str, item: str, to: str) -> bool:
        """Put an item of a list at the end of another; False if it is not there."""
        moved = self._write(
            "UPDATE list_items SET list = ?3, id = (SELECT max(id) + 1 FROM list_items) WHERE id ="
            f" (SELECT min(id) FROM list_items WHERE {_MINE} AND list = ?4 AND item = ?5)",
            *(to, list_name, item),
        )
        return moved.rowcount == 1

    def clear_items(self, list_name: str) -> list[str]:
        """Delete all items of a list; returns them, oldest first."""
        statement = f"DELETE FROM list_items WHERE {_MINE} AND list = ?3 RETURNING item, id"
        cleared = self._read(statement, list_name)
        return [str(item) for item, _ in sorted(cleared, key=lambda row: int(row[1]))]

    def lists(self) -> list[str]:
        """The names of all lists that have items."""
        query = f"SELECT DISTINCT list FROM list_items WHERE {_MINE}"
        return [str(name) for (name,) in self._read(query)]

    def items(self, list_name: str) -> list[str]:
        """The items of a list, oldest first; an unknown list is empty."""
        query = f"SELECT item FROM list_items WHERE {_MINE} AND list = ?3 ORDER BY id"
        return [str(item) for (item,) in self._read(query, list_name)]

    def place_order(self, customer: str, content: str, placed: float) -> None:
        """Keep a confirmed order; ``placed`` in seconds since the epoch."""
        statement = (
            "INSERT INTO orders (agent, caller, placed, customer, content) VALUES (?, ?, ?, ?, ?)"
        )
        self._write(statement, placed, customer, content)

    def orders(self) -> list[tuple[float, str, str]]:
        """Moment, customer and content of every order placed, oldest first."""
        query = f"SELECT placed, customer, content FROM orders WHERE {_MINE} ORDER BY id"
        return self._read(query)

    def forget(self) -> None:
        """Delete all that is the owner's."""
        self._database.delete(self._caller, self._owner[0])

    def _read(self, query: str, *values: object) -> list[Any]:
        return self._database.read(query, *self._owner, *values)

    def _write(self, statement: str, *values: object) -> sqlite3.Cursor:
        return self._database.write(statement, *self._owner, *values)
