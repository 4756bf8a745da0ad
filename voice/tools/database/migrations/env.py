"""Alembic's environment: runs the revisions on the caller's connection, in its transaction."""

from alembic import context

from voice.tools.database.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
