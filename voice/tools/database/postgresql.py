"""A database on a PostgreSQL server, which several of our servers may share.

Deleted rows are gone for everybody at once, and their space in the tables is freed; the server's
write-ahead log, replicas and backups still have them for as long as the server keeps those.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress

from sqlalchemy import URL, Connection, Table, create_engine, make_url
from sqlalchemy.exc import ArgumentError

from voice.errors import ConfigError, to_install
from voice.tools.database.migration import bring_up_to_date
from voice.tools.database.tables import METADATA

_PATIENCE = {
    # Seconds, and milliseconds.
    "connect_timeout": "3",
    "tcp_user_timeout": "5000",
    "options": "-c lock_timeout=2000",
}
"""How long libpq and the server wait, unless the URL says otherwise."""


class PostgresqlDatabase:
    """The database of a URL; libpq takes what the URL lacks from its usual places.

    Raises:
        ConfigError: It is not a URL of PostgreSQL, or the driver is not installed.

    Attributes:
        shown: Its name in the log, without user and password.
    """

    def __init__(self, url: str) -> None:
        parsed = _parsed(url)
        self.shown = f"{parsed.host or 'localhost'}/{parsed.database or ''}"
        try:
            self.engine = create_engine(
                parsed.set(drivername="postgresql+psycopg", query={**_PATIENCE, **parsed.query}),
                # A connection may have been closed while nobody used it.
                pool_pre_ping=True,
                pool_timeout=2.0,
                hide_parameters=True,
            )
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"tools.database: PostgreSQL needs {to_install('postgresql')}"
            ) from error

    def begin(self) -> None:
        """Connect, and bring the tables up to date.

        Raises:
            SQLAlchemyError: The database cannot be reached or used.
        """
        bring_up_to_date(self.engine)

    def held(self) -> AbstractContextManager[None]:
        """Does nothing: every thread has a connection of its own."""
        return nullcontext()

    def lock(self, connection: Connection, table: Table) -> None:
        """Let nobody else change a table until the transaction ends."""
        connection.exec_driver_sql(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")

    def erase(self, connection: Connection) -> None:
        """Free the space of deleted rows, except in tables that another server has locked."""
        connection.exec_driver_sql(f"VACUUM (SKIP_LOCKED) {', '.join(METADATA.tables)}")

    def close(self) -> None:
        """Close all connections; may be called again."""
        self.engine.dispose()


def _parsed(url: str) -> URL:
    """The parts of a URL; no error quotes it, because any part may have a piece of a password."""
    with suppress(ArgumentError, ValueError):
        parsed = make_url(url)
        if parsed.drivername in ("postgresql", "postgres") and url.count("@") < 2:
            return parsed
    raise ConfigError(
        "tools.database: got a URL that cannot be read; expected"
        " postgresql://USER:PASSWORD@HOST/NAME, with special characters written as in %40"
    )
