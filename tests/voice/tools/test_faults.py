"""What becomes of tools and alerts when the database really fails, or the clock is set."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.tools.services import NOW, Clock
from voice.callers import LOCAL
from voice.config import ToolsConfig, TurnConfig
from voice.errors import ConfigError
from voice.tools import SessionScope, Toolbox
from voice.tools.database import Database, sqlite_file
from voice.tools.store import AlertKind, Store
from voice.types import ToolCall

LOCKED = "What I keep for you is in use by another program. Please try again in a moment."
GONE = "What I kept for you is gone. I begin anew, so please say that again."
DAMAGED = "What I keep for you is damaged, so I cannot use it."
UNREACHED = "I cannot get at what I keep for you."
FULL = "I cannot keep that, because the disk is full."


class Home:
    """A toolbox on a file, and somebody who asks it."""

    def __init__(self, place: Path | str, clock: Clock) -> None:
        config = ToolsConfig(database=str(place))
        self.box = Toolbox(config, TurnConfig(tool_timeout_s=PATIENCE_S), now=clock)
        self.scope = SessionScope("s", "assistant", LOCAL, now=clock)
        self.store = Store(self.box.database, self.scope.owner)
        self.calls = 0

    async def ask(self, tool: str, /, **arguments: str) -> str:
        self.calls += 1
        call = ToolCall(f"call-{self.calls}", tool, arguments)
        return (await self.box.run(call, self.scope)).content.removeprefix("Error: ")


@asynccontextmanager
async def home(place: Path | str, clock: Clock | None = None) -> AsyncGenerator[Home, None]:
    made = Home(place, clock or Clock())
    yield made
    await made.box.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "voice.sqlite3"


@contextmanager
def disk(place: Path) -> Generator[Path, None, None]:
    """A folder on a disk of its own, of 512 KiB."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("may not mount a disk here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path, None, None]:
    with disk(tmp_path / "disk") as place:
        yield place


def fill(disk: Path) -> Path:
    """Take what is left of the disk."""
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as opened:
        while True:
            opened.write(bytes(4096))
    return filler


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


async def test_a_full_disk(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    file, clock = small_disk / "voice.sqlite3", Clock()
    async with home(file, clock) as at_home:
        assert await at_home.ask("add_to_list", item="milk") == "Added milk to the shopping list."
        await at_home.ask("set_timer", duration="one minute")
        filler = fill(small_disk)
        for _ in range(3):
            assert await at_home.ask("add_to_list", item="eggs and tea") == FULL
        assert await at_home.ask("set_alarm", when="5 pm") == FULL
        assert await at_home.ask("read_list") == "The shopping list has 1 item: milk."
        (line,) = told(caplog)
        assert "voice.sqlite3: database or disk is full; free some space" in line
        clock.advance(minutes=1)
        async with aclosing(at_home.box.ringer.announcements(at_home.scope)) as heard:
            assert await anext(heard) == "Your 1 minute timer is done."
            waiting = asyncio.ensure_future(heard.asend(True))
            await asyncio.to_thread(lambda: None)
            filler.unlink()
            assert (await at_home.ask("add_to_list", item="eggs")).startswith("Added eggs")
            at_home.box.ringer.wake()
            while at_home.store.alerts():
                await asyncio.sleep(0.01)
            assert not waiting.done()
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting
        assert told(caplog)[1:] == [f"tools.database: {file} can be written again"]
    async with home(file, clock) as at_home:
        assert at_home.store.items("shopping") == ["milk", "eggs"]
        assert at_home.store.alerts() == []


async def test_a_locked_file(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_S", 0.01)
    async with home(file) as at_home:
        with closing(sqlite3.connect(file)) as other:
            other.execute("BEGIN IMMEDIATE")
            for _ in range(2):
                assert await at_home.ask("add_to_list", item="milk") == LOCKED
            assert await at_home.ask("read_list") == "The shopping list is empty."
        (line,) = told(caplog)
        assert "database is locked; if this lasts, end the program that holds it" in line
        assert await at_home.ask("add_to_list", item="milk") == "Added milk to the shopping list."
        assert at_home.store.items("shopping") == ["milk"]


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_that_disappears(
    file: Path, replaced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with home(file) as at_home:
        await at_home.ask("add_to_list", item="milk")
        await asyncio.to_thread(file.unlink)
        if replaced:
            async with home(file.with_name("restored")) as before:
                await before.ask("add_to_list", item="bread")
            file.with_name("restored").rename(file)
        assert await at_home.ask("add_to_list", item="eggs") == GONE
        assert await at_home.ask("add_to_list", item="eggs") == "Added eggs to the shopping list."
        assert "voice.sqlite3: gone; the file was moved or deleted" in told(caplog)[0]
    async with home(file) as at_home:
        assert at_home.store.items("shopping") == [*(["bread"] if replaced else []), "eggs"]


def damage(file: Path) -> None:
    """Spoil all pages but the first."""
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(b"\xa5" * (file.stat().st_size - 4096))


async def test_a_file_that_is_damaged_while_it_is_open(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with home(file) as at_home:
        await at_home.ask("add_to_list", item="milk")
        at_home.box.database.sweep(ToolsConfig(), NOW.timestamp())  # empties the log
        with closing(sqlite3.connect(file)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        damage(file)
        for _ in range(2):
            assert await at_home.ask("add_to_list", item="eggs") == DAMAGED
        (line,) = told(caplog)
        assert "malformed; restart the server, which moves the file aside" in line


@pytest.mark.parametrize("zeros", [False, True])
async def test_a_damaged_file_is_moved_aside_and_kept(
    file: Path, zeros: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(file.parent))
    if zeros:
        # Without a header it could be anything, but in the place of ours.
        file = file.parent / "quicksilver" / file.name
    async with home(file) as at_home:
        await at_home.ask("add_to_list", item="milk")
    if zeros:
        file.write_bytes(bytes(file.stat().st_size))
    else:
        damage(file)
    spoilt = file.read_bytes()
    async with home(file) as at_home:
        assert await at_home.ask("add_to_list", item="eggs") == "Added eggs to the shopping list."
    (line,) = told(caplog)
    (aside,) = [other for other in file.parent.iterdir() if other != file and other.is_file()]
    assert f"it was moved to {aside} and a new one is begun" in line
    assert aside.read_bytes() == spoilt
    async with home(file) as at_home:
        assert at_home.store.items("shopping") == ["eggs"]
    assert len(told(caplog)) == 1


def test_a_file_that_may_only_be_read_is_named_at_the_start(small_disk: Path) -> None:
    file = small_disk / "voice.sqlite3"
    Database(str(file)).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(ConfigError, match=r"tools\.database: cannot use .*Read-only file system"):
        Database(str(file))


@contextmanager
def unwritable(file: Path) -> Generator[None, None, None]:
    """All that this process writes to a database is refused, as on a disk turned read-only."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("no strace")
    names = (str(file), f"{file}-wal")
    calls = "pwrite64,ftruncate"
    command = [
        *(strace, "-f", "-qq", "-o", os.devnull, "-p", str(os.getpid())),
        *(part for name in names for part in ("-P", name)),
        *("-e", f"trace={calls}", "-e", f"inject={calls}:error=EROFS"),
    ]
    with subprocess.Popen(command) as tracer:
        while "TracerPid:\t0" in Path("/proc/self/status").read_text():
            if tracer.poll() is not None:
                pytest.skip("may not trace here")
            time.sleep(0.01)
        yield
        tracer.terminate()


async def test_a_disk_that_becomes_read_only(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with home(file) as at_home:
        await at_home.ask("add_to_list", item="milk")
        with unwritable(file):
            for _ in range(2):
                assert await at_home.ask("add_to_list", item="eggs and tea") == UNREACHED
            assert await at_home.ask("read_list") == "The shopping list has 1 item: milk."
        (line,) = told(caplog)
        assert "voice.sqlite3: disk I/O error; see to the disk" in line
        assert await at_home.ask("add_to_list", item="eggs") == "Added eggs to the shopping list."
    async with home(file) as at_home:
        assert at_home.store.items("shopping") == ["milk", "eggs"]


@pytest.mark.parametrize("hours", [-26, 1, 26])
async def test_timers_do_not_follow_a_clock_that_is_set_and_alarms_do(
    file: Path, hours: float
) -> None:
    clock = Clock()
    async with home(file, clock) as at_home:
        await at_home.ask("set_timer", duration="ten minutes", name="pasta")
        await at_home.ask("set_alarm", when="4 pm on Sunday")
        alarm = at_home.store.alerts(AlertKind.ALARM)
        clock.advance(minutes=4)
        clock.step(hours=hours)
        assert await at_home.ask("list_timers") == "1 timer: pasta, 6 minutes left."
        assert at_home.store.alerts(AlertKind.ALARM) == alarm
        assert await at_home.ask("change_timer", duration="two more minutes") == (
            "Pasta timer changed: 8 minutes left."
        )
    clock.step(minutes=33)
    async with (
        home(file, clock) as at_home,
        aclosing(at_home.box.ringer.announcements(at_home.scope)) as heard,
    ):
        clock.advance(minutes=8)
        alerts = [await anext(heard)]
        if hours > 24:
            alerts.append(await heard.asend(True))
    assert "Your pasta timer is done." in alerts
    assert ("Your alarm was for 4:00 PM." in alerts) == (hours > 24)
