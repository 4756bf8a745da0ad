"""Tables of appointments and of callers' positions in flows."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make both tables."""
    for name, *columns in (
        ("appointments", ("due", sa.Double), ("name", sa.Text), ("about", sa.Text)),
        ("flows", ("saved", sa.Double), ("content", sa.Text)),
    ):
        owned = [("agent", sa.Text), ("caller", sa.Text), *columns]
        op.create_table(
            name,
            sa.Column("id", sa.Integer, primary_key=True),
            *(sa.Column(column, kind, nullable=False) for column, kind in owned),
            sqlite_autoincrement=True,
        )
        op.create_index(f"{name}_owner", name, ["caller", "agent"])
    op.create_index("appointments_due", "appointments", ["agent", "due"], unique=True)
