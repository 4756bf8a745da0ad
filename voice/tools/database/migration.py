"""Makes the tables of a new database, and brings those of an older one up to date.

A new database gets today's tables, without Alembic's 0.1 s of imports; revisions are run where
there are older ones. Either is done at the start, by the first of the processes that share the
database, and wholly or not at all.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, select

from voice.errors import ConfigError
from voice.tools.database.tables import METADATA, version

HEAD = "0004"
"""The newest of the revisions in migrations/versions."""

_ALONE = {
    # Takes away what was deleted from an older file before deleting overwrote.
    "sqlite": ("VACUUM", "BEGIN IMMEDIATE"),
    "postgresql": ("SELECT pg_advisory_xact_lock(8110264)",),
}


def bring_up_to_date(engine: Engine) -> None:
    """Have today's tables in a database.

    Raises:
        ConfigError: A newer version of the program has changed them.
        SQLAlchemyError: It cannot be done, and nothing was changed.
    """
    try:
        with engine.begin() as connection:
            if _revision(connection) == HEAD:
                return
            for statement in _ALONE[engine.dialect.name]:
                connection.exec_driver_sql(statement)
            # Another process may have done it meanwhile.
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
        ConfigError: It has one that is not known here.
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
