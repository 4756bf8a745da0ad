"""Makes the tables of a new database, and brings those of an older one up to date.

A new database gets today's tables directly, which saves the 0.1 s of importing Alembic; an older
one is migrated by revisions. The first of the processes that share the database does it when it
starts, completely or not at all.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, select

from voice.errors import ConfigError
from voice.tools.database.tables import METADATA, version

HEAD = "0004"
"""The newest of the revisions in migrations/versions."""

_ALONE = {
    # VACUUM removes what was deleted from an older file while deleting did not overwrite yet.
    "sqlite": ("VACUUM", "BEGIN IMMEDIATE"),
    "postgresql": ("SELECT pg_advisory_xact_lock(8110264)",),
}


def bring_up_to_date(engine: Engine) -> None:
    """Bring a database's tables to today's layout.

    Raises:
        ConfigError: A newer version of the program has changed them.
        SQLAlchemyError: It failed, and nothing was changed.
    """
    try:
        with engine.begin() as connection:
            if _revision(connection) == HEAD:
                return
            for statement in _ALONE[engine.dialect.name]:
                connection.exec_driver_sql(statement)
            # Another process may have done it while this one waited for the lock.
            if _revision(connection) != HEAD:
                _make(connection)
    except BaseException:
        engine.dispose()
        raise


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(version.name):
        return None
    return connection.scalar(select(version.c.version_num))


def _make(connection: Connection) -> None:
    if METADATA.tables.keys().isdisjoint(inspect(connection).get_table_names()):
        METADATA.create_all(connection)
        version.create(connection)
        connection.execute(version.insert().values(version_num=HEAD))
    else:
        upgrade(connection)


def upgrade(connection: Connection) -> None:
    """Run the revisions that a database lacks.

    Raises:
        ConfigError: It has a revision that this version does not know.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise ConfigError(
            "tools.database: a newer version of this program has changed its tables"
        ) from error
