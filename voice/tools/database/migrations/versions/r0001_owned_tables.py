"""Tables with owners; tables from before there were revisions get the columns that they lack.

Entries without an owner are given to the only user that there was, and to the usual agent.
"""

import time
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _layout() -> dict[str, list[sa.Column[Any]]]:
    """Table → its columns; a default is for rows that are older than the column."""

    def text(name: str, default: str | None = None) -> sa.Column[Any]:
        return sa.Column(name, sa.Text, nullable=False, server_default=default)

    def number(name: str, default: float = 0.0) -> sa.Column[Any]:
        return sa.Column(name, sa.Double, nullable=False, server_default=str(default))

    def owned(*columns: sa.Column[Any]) -> list[sa.Column[Any]]:
        key = sa.Column("id", sa.Integer, primary_key=True)
        return [key, text("agent", "assistant"), text("caller", "local"), *columns]

    now_s = time.time()
    return {
        "alerts": owned(
            number("created", now_s),
            text("kind"),
            text("label"),
            sa.Column("due", sa.Double),
            number("length_s"),
            text("session_id"),
            sa.Column("told", sa.Boolean, nullable=False, server_default=sa.false()),
            number("taken_until"),
            text("taken_by", ""),
            text("repeat", ""),
            sa.Column("ends_s", sa.Double),
            text("boot", ""),
        ),
        "list_items": owned(number("created", now_s), text("list"), text("item")),
        "orders": owned(number("placed"), text("customer"), text("content")),
    }


def upgrade() -> None:
    """Make or complete each table."""
    found = sa.inspect(op.get_bind())
    for table, columns in _layout().items():
        if found.has_table(table):
            had = {column["name"] for column in found.get_columns(table)}
            for column in columns:
                if column.name not in had:
                    op.add_column(table, column)
        else:
            for column in columns:
                column.server_default = None
            op.create_table(table, *columns, sqlite_autoincrement=True)
    op.drop_index("alerts_due", if_exists=True)
    op.create_index("alerts_due", "alerts", ["agent", "caller", "told", "due"])
    for table in ("list_items", "orders"):
        op.create_index(f"{table}_owner", table, ["caller", "agent"])
