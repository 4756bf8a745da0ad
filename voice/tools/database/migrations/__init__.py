"""Alembic's scripts: `env` uses the connection it is given and runs the revisions in `versions`."""
