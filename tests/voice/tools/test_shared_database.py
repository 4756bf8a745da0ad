"""Several servers on one database, and what befalls one on a PostgreSQL server."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from threading import Barrier

import psycopg
import pytest
from sqlalchemy import func, make_url, select

from tests.support.patience import PATIENCE_S
from tests.support.postgresql import PASSWORD, PostgresqlServer
from tests.voice.tools.services import NOW, Clock
from tests.voice.tools.test_faults import DAMAGED, FULL, LOCKED, disk, fill, home, told
from tests.voice.tools.test_store import ASSISTANTS, conversation
from tests.voice.tools.test_timers import Watch, tell
from voice import data
from voice.callers import LOCAL
from voice.config import ToolsConfig
from voice.errors import ConfigError
from voice.tools import ringer as ringer_module
from voice.tools.database import Database
from voice.tools.database import postgresql as postgresql_module
from voice.tools.database.tables import alerts
from voice.tools.ringer import Ringer
from voice.tools.store import AlertKind, Store

UNREACHABLE = "I cannot get at what I keep for you. Please try again in a moment."
READ_ONLY = "I cannot change what I keep for you, because it may only be read."
NOW_S = NOW.timestamp()


class Servers:
    """Two servers on one database, each with a conversation of the same caller."""

    def __init__(self, place: str, clock: Clock) -> None:
        self.databases = [Database(place, clock) for _ in range(2)]
        self.stores = [Store(database, ASSISTANTS) for database in self.databases]
        self.ringers = [Ringer(database, clock) for database in self.databases]
        self.heard = [
            ringer.announcements(conversation(name))
            for name, ringer in zip(("one", "two"), self.ringers, strict=True)
        ]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(ringer_module, "Store", watch)
    return watch


@pytest.fixture
def servers(place: str, clock: Clock) -> Iterator[Servers]:
    made = Servers(place, clock)
    made.stores[0].add_alert(AlertKind.REMINDER, "call mom", NOW_S, "gone")
    yield made
    for database in made.databases:
        database.close()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not true():
            await asyncio.sleep(0.01)


async def refused(watch: Watch, times: int) -> None:
    """Wait until so many tries to take an entry have failed."""
    await until(lambda: watch.taken.count(False) >= times)


async def test_what_a_server_is_about_to_say_no_other_says(
    servers: Servers, clock: Clock, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ringer_module, "_HOLD_S", 0.01)
    held = select(func.max(alerts.c.taken_until))
    first, second = servers.heard
    async with aclosing(first), aclosing(second):
        assert await anext(first) == "Reminder: call mom."
        others = asyncio.ensure_future(anext(second))
        for times in range(1, 4):
            clock.advance(seconds=20)
            await until(lambda: servers.databases[0].read(held)[0][0] >= clock().timestamp() + 20)
            servers.ringers[1].wake()
            await refused(watch, times)
        await tell(first)
        await until(lambda: not servers.stores[1].alerts())
        assert not others.done()
        others.cancel()
        await asyncio.wait({others})


async def test_what_a_server_took_before_it_died_another_says(
    servers: Servers, clock: Clock, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long this takes, it holds nothing any more.
    monkeypatch.setattr(ringer_module, "_HOLD_S", PATIENCE_S)
    first, second = servers.heard
    async with aclosing(second):
        assert await anext(first) == "Reminder: call mom."
        clock.advance(seconds=29)
        others = asyncio.ensure_future(anext(second))
        await refused(watch, 1)
        clock.advance(seconds=2)
        servers.ringers[1].wake()
        assert await others == "Reminder: call mom."
        # It was only stopped for long, and gives back what is no longer its own.
        await first.aclose()
        (alert,) = servers.stores[0].alerts()
        now_s = clock().timestamp()
        assert not servers.stores[0].take_alert(alert, now_s, now_s + 30)
        await tell(second)
        await until(lambda: not servers.stores[0].alerts())


def test_of_two_servers_that_book_a_time_at_once_one_gets_it(servers: Servers) -> None:
    one, other = servers.stores
    met = Barrier(2)

    def book(store: Store, due: float) -> bool:
        met.wait()
        return store.book(due, "Ann", "x")

    with ThreadPoolExecutor(2) as threads:
        for due in range(100, 120):
            booked = list(threads.map(book, (one, other), (due, due)))
            assert sorted(booked) == [False, True]
    assert other.book(200.0, "Ann", "x")
    assert not one.move_appointment(100.0, 200.0)
    assert one.move_appointment(100.0, 201.0)
    assert len(one.appointments(0.0)) == 21


async def test_a_server_of_the_database_that_stops_and_comes_back(
    postgresql: PostgresqlServer, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    async with home(postgresql.new(), clock) as at_home:
        await at_home.ask("add_to_list", item="milk")
        await at_home.ask("set_timer", duration="one minute")
        clock.advance(minutes=1)
        postgresql.stop()
        try:
            for tool in ("add_to_list", "add_to_list", "remove_from_list"):
                assert await at_home.ask(tool, item="eggs") == UNREACHABLE
        finally:
            postgresql.start()
        (line,) = told(caplog)
        assert "see to the database's server and the network" in line
        assert await at_home.ask("add_to_list", item="eggs") == "Added eggs to the shopping list."
        assert told(caplog)[1].endswith(" can be written again")
        assert at_home.store.items("shopping") == ["milk", "eggs"]
        async with aclosing(at_home.box.ringer.announcements(at_home.scope)) as heard:
            assert await anext(heard) == "Your 1 minute timer is done."


async def test_a_locked_table(
    postgresql: PostgresqlServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgresql.new()
    impatient = f"{url}?options=-c%20lock_timeout%3D10"
    async with home(impatient) as at_home:
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE list_items IN EXCLUSIVE MODE")
            for _ in range(2):
                assert await at_home.ask("add_to_list", item="milk") == LOCKED
            assert await at_home.ask("read_list") == "The shopping list is empty."
        assert len(told(caplog)) == 1
        assert await at_home.ask("add_to_list", item="milk") == "Added milk to the shopping list."


async def test_a_full_disk_of_the_database_server(
    postgresql: PostgresqlServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgresql.new()
    with disk(postgresql.folder / "small") as small:
        postgresql.give(small)
        name = make_url(url).database
        postgresql.execute(f"CREATE TABLESPACE {name} LOCATION '{small}'")
        postgresql.execute(f"ALTER DATABASE {name} SET default_tablespace = {name}")
        async with home(url) as at_home:
            filler = fill(small)
            for _ in range(2):
                assert await at_home.ask("add_to_list", item="eggs and tea") == FULL
            (line,) = told(caplog)
            assert "free some space on the disk" in line
            filler.unlink()
            assert (await at_home.ask("add_to_list", item="eggs")).startswith("Added eggs")
            assert at_home.store.items("shopping") == ["eggs"]
        postgresql.execute(f"DROP DATABASE {name}")
        postgresql.execute(f"DROP TABLESPACE {name}")


async def test_a_database_that_may_only_be_read(postgresql: PostgresqlServer) -> None:
    url = postgresql.new()
    Database(url).close()
    name = make_url(url).database
    postgresql.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    async with home(url) as at_home:
        assert await at_home.ask("add_to_list", item="milk") == READ_ONLY
        assert await at_home.ask("read_list") == "The shopping list is empty."


async def test_a_damaged_table(postgresql: PostgresqlServer) -> None:
    url = postgresql.new()
    async with home(url) as at_home:
        await at_home.ask("add_to_list", item="milk")
    with psycopg.connect(url) as connection:
        ((file,),) = connection.execute("SELECT pg_relation_filepath('list_items')").fetchall()
    # Else the log mends it at the start.
    postgresql.execute("CHECKPOINT")
    postgresql.stop()
    with (postgresql.folder / "data" / file).open("r+b") as opened:
        opened.write(b"\xa5" * 8192)
    postgresql.start()
    async with home(url) as at_home:
        assert await at_home.ask("read_list") == DAMAGED


def test_deleted_rows_take_no_space(postgresql: PostgresqlServer) -> None:
    url = postgresql.new()
    with closing(Database(url)) as database:
        store = Store(database, ASSISTANTS)
        store.add_item("shopping", *(f"item {number}" for number in range(500)))
        size = select(func.pg_relation_size("list_items"))
        assert database.read(size)[0][0] > 0
        database.delete(LOCAL)
        assert database.read(size)[0][0] == 0
        database.sweep(ToolsConfig(), NOW_S)


SECRETS = (PASSWORD, "s3cret")


@pytest.mark.parametrize(
    "change",
    [
        {"password": "s3cret"},
        {"database": "missing"},
        {"port": 1},
        {"host": "no.such.host.invalid"},
        {"drivername": "mysql"},
        {"query": {"nonsense": "1"}},
        {"query": {"password": "s3cret"}},
    ],
)
def test_no_error_tells_the_password(
    postgresql: PostgresqlServer,
    change: dict[str, object],
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    url = make_url(postgresql.new()).set(**change).render_as_string(hide_password=False)
    check_failure(url, capsys, caplog)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://quick:s3cret@s3cret@127.0.0.1/voice",
        "postgresql://quick:@/s3cret@127.0.0.1/voice",
        "postgresql://quick:s3cret@127.0.0.1:port/voice",
        "://quick:s3cret@127.0.0.1/voice",
    ],
)
def test_no_malformed_url_is_repeated(
    url: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    check_failure(url, capsys, caplog)


def check_failure(
    url: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConfigError, match=r"^tools\.database: ") as failed:
        Database(url)
    assert data.main(["list", "--set", f"tools.database={url}"]) == 1
    told = [*traceback.format_exception(failed.value), *capsys.readouterr(), caplog.text]
    assert not [secret for secret in SECRETS for text in told if secret in text]


async def test_what_is_kept_is_in_no_line_of_the_log(
    postgresql: PostgresqlServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = postgresql.new()
    async with home(url) as at_home:
        postgresql.execute("ALTER TABLE list_items ADD CHECK (item <> 'pickled herring')", url)
        assert "herring" not in await at_home.ask("add_to_list", item="pickled herring")
    (line,) = told(caplog)
    assert "violates check constraint" in line
    assert "herring" not in caplog.text.replace("'pickled herring'", "")


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'psycopg'")

    monkeypatch.setattr(postgresql_module, "create_engine", without)
    with pytest.raises(ConfigError, match=r"pip install .* -e '\.\[postgresql\]'"):
        Database("postgresql://localhost/voice")
