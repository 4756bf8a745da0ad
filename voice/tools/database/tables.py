"""The tables of what outlives a conversation, as they are now; `migrations` brings older ones here.

Every table has an owner's columns, ``agent`` and ``caller``. Moments are seconds since the epoch.
"""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    true,
)
from sqlalchemy.types import TypeEngine

from voice.callers import Caller

METADATA = MetaData()


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(
        name,
        METADATA,
        Column("id", Integer, primary_key=True),
        Column("agent", Text, nullable=False),
        Column("caller", Text, nullable=False),
        *columns,
        # No id comes twice: a conversation may remember one.
        sqlite_autoincrement=True,
    )


def _required(name: str, kind: type[TypeEngine[Any]], default: Any = None) -> Column[Any]:
    return Column(name, kind, nullable=False, default=default)


alerts = _table(
    "alerts",
    _required("created", Double, time.time),
    _required("kind", Text),
    _required("label", Text),
    Column("due", Double),
    _required("length_s", Double),
    _required("session_id", Text),
    _required("told", Boolean, False),
    # By whom it is being announced, and until when nobody else may.
    _required("taken_until", Double, 0.0),
    _required("taken_by", Text, ""),
    _required("repeat", Text, ""),
    # Of a timer: the uptime at which it ends, of the start of a machine that has this name.
    Column("ends_s", Double),
    _required("boot", Text, ""),
)
list_items = _table(
    "list_items",
    _required("created", Double, time.time),
    _required("list", Text),
    _required("item", Text),
)
orders = _table(
    "orders",
    _required("placed", Double),
    _required("customer", Text),
    _required("content", Text),
)
appointments = _table(
    "appointments",
    _required("due", Double),
    _required("name", Text),
    _required("about", Text),
)
# Where a caller is in a flow, a row for each conversation that began one.
flows = _table(
    "flows",
    _required("saved", Double),
    _required("content", Text),
    # Whose it is until then, unless it is kept for longer: another may go on with it behind that.
    _required("session_id", Text, ""),
    _required("taken_until", Double, 0.0),
)
# What a caller asked to be remembered; ``about`` is "name" for what they want to be called.
facts = _table(
    "facts",
    _required("changed", Double),
    _required("about", Text),
    _required("content", Text),
)
Index("alerts_due", alerts.c.agent, alerts.c.caller, alerts.c.told, alerts.c.due)
Index("list_items_owner", list_items.c.caller, list_items.c.agent)
Index("orders_owner", orders.c.caller, orders.c.agent)
Index("appointments_owner", appointments.c.caller, appointments.c.agent)
# Of two who book a time at once, one gets it.
Index("appointments_due", appointments.c.agent, appointments.c.due, unique=True)
Index("flows_owner", flows.c.caller, flows.c.agent)
Index("facts_owner", facts.c.caller, facts.c.agent)

TABLES = (alerts, list_items, orders, appointments, flows, facts)

version = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""Alembic's own, with the revision of the tables."""


def owned_by(table: Table, caller: Caller, agent: str | None = None) -> ColumnElement[bool]:
    """Whose rows of a table: a caller's, at one agent or at any."""
    at = true() if agent is None else table.c.agent == agent
    return (table.c.caller == str(caller)) & at
