"""What Alembic runs: `env` on the connection that it is given, then the revisions in `versions`."""
