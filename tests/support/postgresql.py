"""A PostgreSQL server of a test's own, from Debian's packages, in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL

from voice.demo.server import free_port

PASSWORD = "s3cret@/:%?"
_USER = "quicksilver"
# Nothing here has to outlast the machine.
_OPTIONS = "-c fsync=off -c full_page_writes=off -c jit=off"


class PostgresqlServer:
    """One that listens on loopback and asks for the password."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.folder = folder
        self._programs = programs
        self._names = count()
        self._port = free_port()

    def new(self) -> str:
        """The URL of an empty database."""
        name = f"test{next(self._names)}"
        self.execute(f"CREATE DATABASE {name} STRATEGY = wal_log")
        return self._url(name)

    def execute(self, statement: str, url: str = "") -> None:
        """Execute a statement as the administrator of the server."""
        with psycopg.connect(url or self._url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def give(self, folder: Path) -> None:
        """Let the server's user have a folder."""
        if os.getuid() == 0:
            shutil.chown(folder, "nobody", "nogroup")

    def start(self) -> None:
        """Start it; returns once it takes connections."""
        listen = f"-c listen_addresses=127.0.0.1 -c port={self._port} -k {self.folder}"
        self._run(
            "pg_ctl", "start", "--wait", "--silent", f"--log={self.folder}/log",
            f"--options={listen} {_OPTIONS}", f"--pgdata={self.folder}/data",
        )  # fmt: skip

    def stop(self) -> None:
        """Stop it as a crash would."""
        self._run("pg_ctl", "stop", "--mode=immediate", "--silent", f"--pgdata={self.folder}/data")

    def make(self) -> None:
        """Make its folder of data."""
        password = self.folder / "password"
        password.write_text(PASSWORD)
        self._run(
            "initdb", "--no-sync", f"--pgdata={self.folder}/data", f"--username={_USER}",
            f"--pwfile={password}", "--auth=scram-sha-256", "--locale=C", "--encoding=UTF8",
        )  # fmt: skip

    def _run(self, program: str, *arguments: str) -> None:
        # It refuses to run as root.
        user = "nobody" if os.getuid() == 0 else None
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            user=user,
            group="nogroup" if user else None,
            extra_groups=[] if user else None,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )

    def _url(self, database: str) -> str:
        url = URL.create("postgresql", _USER, PASSWORD, "127.0.0.1", self._port, database)
        return url.render_as_string(hide_password=False)


@contextmanager
def postgresql_server() -> Iterator[PostgresqlServer]:
    """Run one; skips where its programs are missing."""
    installed = [Path(found).parent for found in [shutil.which("initdb")] if found]
    programs = [*installed, *sorted(Path("/usr/lib/postgresql").glob("*/bin"))]
    if not programs:
        pytest.skip("no PostgreSQL server (Debian: postgresql)")
    # pytest's own folders are closed to other users.
    with tempfile.TemporaryDirectory(prefix="postgresql-") as name:
        folder = Path(name)
        server = PostgresqlServer(programs[-1], folder)
        server.give(folder)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()
