"""The database of what outlives a conversation, and how long its entries are kept.

It is a SQLite file (`sqlite_file`), or a database on a PostgreSQL server that several of our
servers share (`postgresql`). `tables` says what it holds; `migration` brings older layouts up to
date. It does not know what an entry means: `voice.tools.store` reads and writes the entries of one
owner.

A fault raises `StoreError` in the caller, and each kind of fault is logged once until something
could be written again (`faults`). Due times are kept in wall-clock time; if the wall clock is set,
timers are moved with it.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Row,
    Table,
    and_,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from voice.callers import Caller, CallerKind
from voice.config import MemoryConfig, ToolsConfig
from voice.errors import ConfigError, ConflictError, StoreError
from voice.tools.database.faults import Trouble, is_conflict, trouble_of, words_of
from voice.tools.database.postgresql import PostgresqlDatabase
from voice.tools.database.sqlite_file import SqliteFile
from voice.tools.database.tables import (
    TABLES,
    alerts,
    appointments,
    facts,
    flows,
    list_items,
    orders,
    owned_by,
)
from voice.tools.scope import Clock, MachineClock

_OUTLIVES_STRANGERS = (orders, appointments)
"""A placed order or an appointment stands, even if a stranger made it."""
_DAY_S = 86_400.0
_LONGEST_STRANGER_S = _DAY_S
"""Older entries of strangers were left by a process that crashed."""

_log = logging.getLogger(__name__)


class Database:
    """The database.

    Args:
        place: A PostgreSQL URL or a SQLite file; "" is a file in the user's data directory,
            ":memory:" keeps nothing.
        clock: The clock by which alerts are due.

    Raises:
        ConfigError: It cannot be opened, is not a database, or was made by a newer version.

    Attributes:
        name: Distinguishes this object from others that have the same database open.
        changes: Counts the changes made through this object.
    """

    def __init__(self, place: str = "", clock: Clock | None = None) -> None:
        self.name = uuid.uuid4().hex
        self.changes = 0
        self._clock = clock or MachineClock()
        self._told: set[Trouble] = set()
        self._followed_s: float | None = None
        self._closed = False
        self._place = (PostgresqlDatabase if "://" in place else SqliteFile)(place)
        try:
            self._place.begin()
        except (OSError, SQLAlchemyError) as error:
            shown, said = self._place.shown, words_of(error)
            raise ConfigError(f"tools.database: cannot use {shown}: {said}") from error

    def close(self) -> None:
        """Close it; may be called again."""
        self._closed = True
        self._place.close()

    def read(self, statement: Executable) -> Sequence[Row[*tuple[Any, ...]]]:
        """Execute a statement that returns rows, which may also change some.

        Raises:
            StoreError: It failed and nothing has changed; every other method raises it as well.
        """
        with self._transaction() as connection:
            rows = connection.execute(statement).fetchall()
        self.changes += not statement.is_select
        return rows

    def write(self, *statements: Executable) -> list[CursorResult[*tuple[Any, ...]]]:
        """Execute statements that change something, in one transaction.

        Raises:
            ConflictError: A unique value, such as the time of an appointment, is taken.
        """
        return self.change(None, lambda _: statements)

    def change(
        self,
        table: Table | None,
        statements: Callable[[Connection], Sequence[Executable]],
    ) -> list[CursorResult[*tuple[Any, ...]]]:
        """Execute statements that depend on what a table has; see `write`.

        Args:
            table: Nobody else changes it meanwhile.
            statements: Reads it, and returns them.
        """
        with self._transaction() as connection:
            if table is not None:
                self._place.lock(connection, table)
            results = [connection.execute(one) for one in statements(connection)]
        self.changes += 1
        if self._told and any(result.rowcount for result in results):
            self._told.clear()
            _log.warning("tools.database: %s can be written again", self._place.shown)
        return results

    def countdown(self, due: float) -> tuple[float, str]:
        """The uptime at which the wall clock, unless set, will show ``due``, and the boot's id."""
        return due - self._offset_s(), _boot()

    def callers(self) -> list[dict[str, Any]]:
        """Every owner, as ``agent`` and ``caller``, with the number of entries in each table."""
        counts: dict[tuple[str, str], dict[str, int]] = {}
        for table in TABLES:
            owner = table.c.agent, table.c.caller
            for agent, caller, count in self.read(select(*owner, func.count()).group_by(*owner)):
                empty = {each.name: 0 for each in TABLES}
                counts.setdefault((agent, caller), empty)[table.name] = count
        return [
            {"agent": agent, "caller": caller, "entries": entries}
            for (agent, caller), entries in sorted(counts.items())
        ]

    def export(self, caller: Caller) -> dict[str, list[dict[str, Any]]]:
        """All entries of a caller at any agent: table → its rows, oldest first."""
        with self._transaction() as connection:
            return {
                table.name: [dict(row) for row in connection.execute(theirs).mappings()]
                for table in TABLES
                for theirs in [select(table).where(owned_by(table, caller)).order_by(table.c.id)]
            }

    def delete(self, caller: Caller, agent: str | None = None) -> dict[str, int]:
        """Delete all entries of a caller, at one agent or at any: table → how many there were."""
        deleted = self._delete(TABLES, caller, agent)
        # Even if none were left: SQLite's log still has what tools deleted before.
        self._erase()
        return deleted

    def correct_fact(self, caller: Caller, fact_id: int, content: str) -> bool:
        """Change the content of a caller's fact; an empty content deletes it.

        False if the caller has no fact with this id.
        """
        mine = owned_by(facts, caller) & (facts.c.id == fact_id)
        changed = {"content": content, "changed": self._clock().timestamp()}
        one = update(facts).where(mine).values(changed) if content else delete(facts).where(mine)
        (done,) = self.write(one)
        if not content:
            self._erase()
        return done.rowcount == 1

    def delete_stranger(self, caller: Caller) -> None:
        """Delete what a stranger's conversation leaves; placed orders and appointments stay."""
        tables = [table for table in TABLES if table not in _OUTLIVES_STRANGERS]
        if any(self._delete(tables, caller, None).values()):
            self._erase()

    def sweep(
        self,
        kept: ToolsConfig,
        now_s: float,
        memory: MemoryConfig = MemoryConfig(),  # noqa: B008
    ) -> None:
        """Delete what has been kept long enough, and erase all that was deleted so far."""
        old = facts.c.changed < now_s - memory.keep_days * _DAY_S
        left = _strangers(facts, facts.c.changed, now_s)
        self.write(*_sweeps(kept, now_s), delete(facts).where(old | left))
        self._erase()

    def _delete(self, tables: Sequence[Table], caller: Caller, agent: str | None) -> dict[str, int]:
        results = self.write(
            *(delete(table).where(owned_by(table, caller, agent)) for table in tables)
        )
        return {table.name: done.rowcount for table, done in zip(tables, results, strict=True)}

    def _erase(self) -> None:
        with self._transaction(isolation_level="AUTOCOMMIT") as connection:
            self._place.erase(connection)

    @contextmanager
    def _transaction(self, **options: Any) -> Generator[Connection, None, None]:
        """A connection in a transaction of its own."""
        try:
            with self._place.held():
                if self._closed:
                    raise OSError("closed")
                with self._place.engine.execution_options(**options).begin() as connection:
                    self._follow_clock(connection)
                    yield connection
        except (OSError, SQLAlchemyError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> StoreError:
        trouble = trouble_of(error)
        if is_conflict(error):
            return ConflictError(trouble.spoken)
        if trouble not in self._told:
            self._told.add(trouble)
            said = words_of(error)
            _log.error("tools.database: %s: %s; %s", self._place.shown, said, trouble.remedy)
        return StoreError(trouble.spoken, trouble.passes)

    def _follow_clock(self, connection: Connection) -> None:
        """After the wall clock was set, move the due times of timers with it."""
        offset_s = self._offset_s()
        if self._followed_s is not None and abs(offset_s - self._followed_s) < 1:
            return
        # Timers whose due time no longer is when they end by the machine's uptime.
        due_s = alerts.c.ends_s + offset_s
        adrift = (
            (alerts.c.boot == _boot())
            & (func.abs(alerts.c.due - due_s) > 1)
            & ~alerts.c.told
            & (alerts.c.taken_until == 0)
        )
        if connection.execute(select(alerts.c.id).where(adrift).limit(1)).first():
            connection.execute(update(alerts).where(adrift).values(due=due_s))
        self._followed_s = offset_s

    def _offset_s(self) -> float:
        return self._clock().timestamp() - self._clock.uptime_s()


def _sweeps(kept: ToolsConfig, now_s: float) -> Generator[Executable, None, None]:
    alerts_s, lists_s, orders_s = (
        now_s - days * _DAY_S
        for days in (kept.keep_alerts_days, kept.keep_lists_days, kept.keep_orders_days)
    )

    once, due = alerts.c.repeat == "", func.coalesce(alerts.c.due, 0.0)
    yield delete(alerts).where(
        or_(
            alerts.c.told,
            once & (alerts.c.due < alerts_s),
            (~once | alerts.c.due.is_(None)) & (alerts.c.created < lists_s) & (due < lists_s),
            _strangers(alerts, alerts.c.created, now_s),
        )
    )
    old = list_items.c.created < lists_s
    left = _strangers(list_items, list_items.c.created, now_s)
    yield delete(list_items).where(old | left)
    yield delete(orders).where(orders.c.placed < orders_s)
    yield delete(appointments).where(appointments.c.due < orders_s)
    yield delete(flows).where(flows.c.saved < now_s - kept.keep_flows_minutes * 60)


def _strangers(table: Table, since: Column[float], now_s: float) -> ColumnElement[bool]:
    """Selects the rows of strangers that a crashed process has left: those that are too old."""
    theirs = table.c.caller.startswith(f"{CallerKind.CONVERSATION}:")
    return and_(theirs, since < now_s - _LONGEST_STRANGER_S)


@cache
def _boot() -> str:
    """The id of the machine's current boot; if there is none, an id of this process."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return uuid.uuid4().hex
