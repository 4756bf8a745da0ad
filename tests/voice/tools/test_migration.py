"""Older layouts of the database, and the newest, on both kinds of database."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from tests.voice.tools.services import Clock
from tests.voice.tools.test_store import opened
from voice.callers import LOCAL, Caller, Owner
from voice.errors import ConfigError
from voice.tools.database import Database, migration
from voice.tools.database.tables import METADATA
from voice.tools.store import Alert, AlertKind

_BEFORE_OWNERS = """
PRAGMA secure_delete = OFF;
CREATE TABLE alerts (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,
    label TEXT NOT NULL, due REAL, length_s REAL NOT NULL, session_id TEXT NOT NULL,
    told INTEGER NOT NULL DEFAULT 0);
CREATE INDEX alerts_due ON alerts (told, due);
CREATE TABLE list_items (id INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL,
    item TEXT NOT NULL);
CREATE TABLE anothers (secret TEXT);
INSERT INTO alerts (id, kind, label, due, length_s, session_id)
    VALUES (7, 'alarm', '', 10.0, 0.0, 's');
INSERT INTO list_items (list, item) VALUES ('shopping', 'pickled herring'), ('shopping', 'milk');
INSERT INTO anothers VALUES ('kept');
DELETE FROM list_items WHERE item = 'pickled herring';
"""
"""A file of before entries had owners, in which something was deleted, and no order placed."""

_BEFORE_REVISIONS = """
CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, caller TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (strftime('%s', 'now')), kind TEXT NOT NULL,
    label TEXT NOT NULL, due REAL, length_s REAL NOT NULL, session_id TEXT NOT NULL,
    told INTEGER NOT NULL DEFAULT 0, taken_until REAL NOT NULL DEFAULT 0,
    repeat TEXT NOT NULL DEFAULT '', ends_s REAL, boot TEXT NOT NULL DEFAULT ''
);
CREATE INDEX alerts_due ON alerts (agent, caller, told, due);
CREATE TABLE list_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, caller TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (strftime('%s', 'now')), list TEXT NOT NULL, item TEXT NOT NULL
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, caller TEXT NOT NULL,
    placed REAL NOT NULL, customer TEXT NOT NULL, content TEXT NOT NULL
);
INSERT INTO alerts VALUES
    (4, 'coffee', 'user:ada', 90.5, 'timer', 'pasta', 160.0, 60.0, 's', 0, 0, '', 3700.0, 'b'),
    (5, 'coffee', 'user:ada', 91.5, 'alarm', '', 99.0, 0.0, 's', 1, 0, 'FREQ=DAILY', NULL, ''),
    (9, 'coffee', 'user:ada', 92.5, 'reminder', 'call', NULL, 0.0, 's', 0, 12.5, '', NULL, '');
DELETE FROM alerts WHERE id = 9;
INSERT INTO list_items VALUES (2, 'coffee', 'user:ada', 93.5, 'shopping', 'oat milk');
INSERT INTO orders VALUES (3, 'coffee', 'user:ada', 94.5, 'Ada', '1 latte');
PRAGMA user_version = 3;
"""
"""A file of the last layout that had a number and no revision."""

ADA = Caller.parse("user:ada")


def make(file: Path, script: str) -> None:
    with closing(sqlite3.connect(file)) as old:
        old.executescript(script)


def test_a_file_from_before_owners_becomes_this_machines_users(tmp_path: Path) -> None:
    file = tmp_path / "voice.sqlite3"
    make(file, _BEFORE_OWNERS)
    file.chmod(0o644)
    assert b"pickled herring" in file.read_bytes()
    for _ in range(2):
        with opened(str(file)) as store:
            assert store.alerts() == [Alert(7, AlertKind.ALARM, "", 10.0, 0.0, "s")]
            assert store.items("shopping") == ["milk"]
            assert store.orders() == []
        with opened(str(file), Owner("coffee", LOCAL)) as other:
            assert other.alerts() == other.items("shopping") == other.orders() == []
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"pickled herring" not in file.read_bytes()
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT secret FROM anothers").fetchall() == [("kept",)]


def test_nothing_is_lost_of_a_file_from_before_revisions(tmp_path: Path) -> None:
    file = str(tmp_path / "voice.sqlite3")
    make(Path(file), _BEFORE_REVISIONS)
    owner = {"agent": "coffee", "caller": "user:ada"}
    untaken = {"taken_until": 0.0, "taken_by": ""}
    with closing(Database(file, Clock())) as database:
        assert database.export(ADA) == {
            "alerts": [
                {"id": 4, **owner, "created": 90.5, "kind": "timer", "label": "pasta",
                 "due": 160.0, "length_s": 60.0, "session_id": "s", "told": False, **untaken,
                 "repeat": "", "ends_s": 3700.0, "boot": "b"},
                {"id": 5, **owner, "created": 91.5, "kind": "alarm", "label": "",
                 "due": 99.0, "length_s": 0.0, "session_id": "s", "told": True, **untaken,
                 "repeat": "FREQ=DAILY", "ends_s": None, "boot": ""},
            ],
            "list_items": [
                {"id": 2, **owner, "created": 93.5, "list": "shopping", "item": "oat milk"}
            ],
            "orders": [
                {"id": 3, **owner, "placed": 94.5, "customer": "Ada", "content": "1 latte"}
            ],
            "appointments": [],
            "flows": [],
            "facts": [],
        }  # fmt: skip
    with opened(file, Owner("coffee", ADA)) as store:
        assert store.add_alert(AlertKind.ALARM, "", 10.0, "s").id == 10
        assert store.take_alert(store.alerts()[0], now=10.0, until=40.0)


def test_a_take_over_that_fails_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "voice.sqlite3"
    make(file, _BEFORE_REVISIONS)
    make(file, "CREATE INDEX orders_owner ON orders (placed)")

    def layout() -> list[tuple[str]]:
        with closing(sqlite3.connect(file)) as database:
            return database.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()

    before = layout()
    with pytest.raises(ConfigError, match="orders_owner already exists"):
        Database(str(file))
    assert layout() == before


def test_the_revisions_lead_to_the_tables(place: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migration.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [migration.HEAD]
    driver = "postgresql+psycopg:" + place.partition(":")[2] if "://" in place else ""
    engine = create_engine(driver or f"sqlite:///{place}")
    with engine.begin() as connection:
        migration.upgrade(connection)
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()
    Database(place).close()


def test_a_newer_layout_is_left_alone(place: str) -> None:
    with closing(Database(place)) as database:
        database.write(migration.version.update().values(version_num="9999"))
    with pytest.raises(ConfigError, match=r"tools\.database: a newer version of this program"):
        Database(place)


def test_several_servers_may_start_at_once(place: str) -> None:
    with ThreadPoolExecutor(4) as starts:
        for database in starts.map(lambda _: Database(place), range(4)):
            database.close()


def test_what_an_up_to_date_file_does_not_need_is_not_imported(tmp_path: Path) -> None:
    program = """
import sys
from voice.tools.database import Database
Database(sys.argv[1]).close()
assert not {"alembic", "psycopg"} & sys.modules.keys()
"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program, tmp_path / "voice.sqlite3"], check=True)
