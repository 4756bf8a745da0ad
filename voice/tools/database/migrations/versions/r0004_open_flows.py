"""Which conversation has a flow open, so that another of the same caller begins its own."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns; running older servers leave them at their defaults, which hold no flow."""
    for name, kind, default in (("session_id", sa.Text, ""), ("taken_until", sa.Double, "0")):
        op.add_column("flows", sa.Column(name, kind, nullable=False, server_default=default))
