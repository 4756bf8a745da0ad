"""The tables of what outlives a conversation, in today's layout; `migrations` upgrades older ones.

Every row has an owner, ``agent`` and ``caller``. Moments are seconds since the epoch.
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
        # No id is ever used again: a conversation may remember one.
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
    # Who is announcing it, and until when nobody else may.
    _required("taken_until", Double, 0.0),
    _required("taken_by", Text, ""),
    _required("repeat", Text, ""),
    # For a timer: the uptime at which it ends, and the boot of the machine that this counts from.
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
# A caller's position in a flow; a row for each conversation that began one.
flows = _table(
    "flows",
    _required("saved", Double),
    _required("content", Text),
    # The conversation that holds it, and until when; after that another may go on with it.
    _required("session_id", Text, ""),
    _required("taken_until", Double, 0.0),
)
# Facts that a caller asked to be remembered; ``about`` is "name" for what they want to be called.
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
# If two callers book a time at once, only one gets it.
Index("appointments_due", appointments.c.agent, appointments.c.due, unique=True)
Index("flows_owner", flows.c.caller, flows.c.agent)
Index("facts_owner", facts.c.caller, facts.c.agent)

TABLES = (alerts, list_items, orders, appointments, flows, facts)

version = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""Alembic's own table, which holds the revision of the others."""


def owned_by(table: Table, caller: Caller, agent: str | None = None) -> ColumnElement[bool]:
    """Selects a caller's rows of a table, at one agent or at any."""
    at = true() if agent is None else table.c.agent == agent
    return (table.c.caller == str(caller)) & at
