"""A table of facts that callers asked to be remembered."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    columns = (
        ("agent", sa.Text), ("caller", sa.Text), ("changed", sa.Double), ("about", sa.Text),
        ("content", sa.Text),
    )  # fmt: skip
    op.create_table(
        "facts",
        sa.Column("id", sa.Integer, primary_key=True),
        *(sa.Column(name, kind, nullable=False) for name, kind in columns),
        sqlite_autoincrement=True,
    )
    op.create_index("facts_owner", "facts", ["caller", "agent"])
