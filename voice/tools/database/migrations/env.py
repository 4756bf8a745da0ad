"""Alembic's environment: the connection of the caller, whose transaction it is."""

from alembic import context

from voice.tools.database.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
