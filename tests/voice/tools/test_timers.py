from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.tools.conftest import Call
from tests.voice.tools.services import NOW, Clock
from tests.voice.tools.test_store import ASSISTANTS, conversation
from voice.callers import Owner
from voice.config import ToolsConfig, TurnConfig
from voice.tools import SessionScope, Toolbox
from voice.tools import ringer as ringer_module
from voice.tools.database import Database, sqlite_file
from voice.tools.ringer import Ringer, announcement
from voice.tools.scope import local_now
from voice.tools.store import Alert, AlertKind, Store
from voice.types import ToolCall


async def test_timers_run_down_and_are_cancelled(call: Call, clock: Clock) -> None:
    assert await call("list_timers") == "No timers are running."
    assert await call("set_timer", duration="ten minutes") == "Timer set for 10 minutes."
    clock.advance(seconds=30)
    assert await call("list_timers") == "1 timer: 9 minutes 30 seconds left."
    await call("set_timer", duration="ten seconds")
    clock.advance(seconds=20)
    assert await call("list_timers") == "1 timer: 9 minutes 10 seconds left."
    clock.advance(seconds=10)
    assert await call("set_timer", duration="four minutes", name="the pasta timer") == (
        "Pasta timer set for 4 minutes."
    )
    assert await call("list_timers") == ("2 timers: pasta, 4 minutes left; 9 minutes left.")
    assert await call("cancel_timer", name="egg") == "Error: There is no egg timer."
    assert await call("cancel_timer") == (
        "Error: Several timers are running. Which one: the pasta timer or 10 minute timer?"
    )
    assert await call("cancel_timer", name="pasta") == "Pasta timer cancelled."
    assert await call("cancel_timer") == "Timer cancelled."
    assert await call("cancel_timer") == "Error: No timer is running."
    assert await call("set_timer", duration="eight days") == (
        "Error: A timer can run for 7 days at most."
    )
    assert await call("cancel_timer", name="egg") == "Error: There is no egg timer."


async def test_who_asks_for_one_timer_is_told_of_that_one(call: Call, scope: SessionScope) -> None:
    await call("set_timer", duration="nine minutes", name="pasta")
    await call("set_timer", duration="an hour")
    both = "2 timers: pasta, 9 minutes left; 1 hour left."
    for said, told in {
        "how long is left on the pasta?": "1 timer: pasta, 9 minutes left.",
        "how long is left?": both,
        "is the antipasta running": both,
    }.items():
        scope.said = (said,)
        assert await call("list_timers") == told


async def test_a_timer_is_found_by_its_length_and_all_of_them_at_once(call: Call) -> None:
    for duration in ("ten minutes", "an hour", "two hours"):
        await call("set_timer", duration=duration)
    assert await call("cancel_timer", name="the ten minute timer") == "Timer cancelled."
    assert await call("cancel_timer", name="all timers") == "2 timers cancelled."


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("timer", {"duration": "ten minutes"}),
        ("alarm", {"when": "seven"}),
        ("reminder", {"text": "buy soap", "when": "at nine"}),
    ],
)
async def test_what_rang_meanwhile_is_not_cancelled(
    call: Call, monkeypatch: pytest.MonkeyPatch, kind: str, made: dict[str, str]
) -> None:
    remove = Store.remove_alert

    def ringing(store: Store, alert_id: int) -> bool:
        # The soonest of them.
        store.tell_alert(store.alerts()[0])
        return remove(store, alert_id)

    await call(f"set_{kind}", **made)
    monkeypatch.setattr(Store, "remove_alert", ringing)
    assert await call(f"cancel_{kind}") == "Error: It has just gone off, or was cancelled."


async def test_of_several_that_are_cancelled_one_rang_meanwhile(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, duration in (("rice", "ten minutes"), ("pasta", "an hour")):
        await call("set_timer", duration=duration, name=name)
    remove = Store.remove_alert
    soonest: list[int] = []

    def ringing(store: Store, alert_id: int) -> bool:
        soonest.append(alert_id)
        return alert_id != soonest[0] and remove(store, alert_id)

    monkeypatch.setattr(Store, "remove_alert", ringing)
    assert await call("cancel_timer", name="all timers") == "Pasta timer cancelled."


@pytest.mark.parametrize("name", ["all of my timers", "both"])
async def test_all_of_no_timers_are_no_timer_of_that_name(call: Call, name: str) -> None:
    assert await call("cancel_timer", name=name) == "Error: No timer is running."
    await call("set_timer", duration="ten minutes")
    assert await call("cancel_timer", name=name) == "Timer cancelled."


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ("twenty minutes", "Timer changed: 20 minutes left."),
        ("add five minutes", "Timer changed: 14 minutes left."),
        ("five more minutes", "Timer changed: 14 minutes left."),
        ("two minutes longer", "Timer changed: 11 minutes left."),
        ("two minutes less", "Timer changed: 7 minutes left."),
        ("ten minutes less", "Error: The timer has less time left than that."),
        ("ten more days", "Error: A timer can run for 7 days at most."),
        ("blue", "Error: I could not read the duration blue."),
    ],
)
async def test_a_timer_is_changed(call: Call, clock: Clock, change: str, answer: str) -> None:
    assert await call("change_timer", duration=change) == "Error: No timer is running."
    await call("set_timer", duration="ten minutes")
    clock.advance(minutes=1)
    assert await call("change_timer", duration=change) == answer


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("add two minutes to it", "Timer changed: 12 minutes left."),
        ("Can you extend it by two minutes?", "Timer changed: 12 minutes left."),
        ("take two minutes off the timer", "Timer changed: 8 minutes left."),
        ("put the timer to two minutes", "Timer changed: 2 minutes left."),
    ],
)
async def test_a_change_is_read_in_the_whole_request(
    call: Call, scope: SessionScope, request_: str, answer: str
) -> None:
    await call("set_timer", duration="ten minutes")
    scope.said = ("this one", request_)
    assert await call("change_timer", duration="two minutes") == answer


async def test_a_length_that_takes_long_to_read_is_refused(call: Call) -> None:
    assert await call("set_timer", duration="ten " * 600) == "Error: The duration is too long."


async def test_of_several_timers_the_one_that_is_named_is_changed(call: Call) -> None:
    await call("set_timer", duration="ten minutes", name="pasta")
    await call("set_timer", duration="five minutes")
    assert await call("change_timer", duration="six minutes") == (
        "Error: Several timers are running. Which one: the 5 minute timer or pasta timer?"
    )
    assert await call("change_timer", duration="one more minute", name="pasta") == (
        "Pasta timer changed: 11 minutes left."
    )
    assert await call("change_timer", duration="six minutes", name="five minute") == (
        "Timer changed: 6 minutes left."
    )
    assert await call("cancel_timer", name="six minute") == "Timer cancelled."


async def test_timers_of_one_name_are_told_apart_by_their_ends(
    toolbox: Toolbox, call: Call, scope: SessionScope
) -> None:
    for duration in ("ten minutes", "five minutes"):
        await call("set_timer", duration=duration, name="pasta")
    asked = await toolbox.run(ToolCall("c", "cancel_timer", {}), scope)
    first, last = asked.options["name"]
    assert asked.content.endswith(f"Which one: the {first} or {last}?")
    assert await call("cancel_timer", name=first) == "Pasta timer cancelled."
    assert await call("list_timers") == "1 timer: pasta, 10 minutes left."
    await call("set_timer", duration="ten minutes", name="pasta")
    assert await call("cancel_timer") == "Pasta timer cancelled."


NOW_S = NOW.timestamp()


@pytest.fixture
def database() -> Generator[Database, None, None]:
    with closing(Database(":memory:")) as database:
        yield database


async def settled() -> None:
    """Let what runs in threads come to its end."""
    loop = asyncio.get_running_loop()
    await asyncio.to_thread(int)
    # With threads that meet each one has done what it had to do before.
    every = loop._default_executor._max_workers  # type: ignore[attr-defined]
    for _ in range(5):
        await asyncio.sleep(0)
        met = threading.Barrier(every)
        await asyncio.gather(*(asyncio.to_thread(met.wait, PATIENCE_S) for _ in range(every)))


async def tell(heard: AsyncGenerator[str, bool | None]) -> None:
    """Say that the newest one was heard, and listen no more."""
    following = asyncio.ensure_future(heard.asend(True))
    await settled()
    following.cancel()
    with suppress(asyncio.CancelledError):
        await following


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database, ASSISTANTS)


@pytest.fixture
def ringer(database: Database, clock: Clock) -> Ringer:
    return Ringer(database, clock)


async def test_it_rings_when_it_is_due_and_once(store: Store, ringer: Ringer, clock: Clock) -> None:
    async with aclosing(ringer.announcements(conversation("s"))) as heard:
        waiting = asyncio.ensure_future(anext(heard))
        store.add_alert(AlertKind.TIMER, "pasta", NOW_S + 600, "s", length_s=600)
        ringer.wake()
        clock.advance(minutes=9)
        ringer.wake()
        await asyncio.sleep(0)
        assert not waiting.done()
        clock.advance(minutes=1)
        ringer.wake()
        assert await waiting == "Your pasta timer is done."
        assert len(store.alerts()) == 1
        await tell(heard)
        assert store.alerts() == []


async def test_it_wakes_by_itself(store: Store, database: Database) -> None:
    due = (local_now() + timedelta(milliseconds=60)).timestamp()
    store.add_alert(AlertKind.REMINDER, "call mom", due, "s")
    heard = Ringer(database, local_now).announcements(conversation("s"))
    async with asyncio.timeout(PATIENCE_S), aclosing(heard):
        assert await anext(heard) == "Reminder: call mom."
    assert local_now().timestamp() >= due


async def test_what_fell_due_while_nobody_listened_is_told_to_the_next_one(
    tmp_path: Path, clock: Clock
) -> None:
    file = str(tmp_path / "voice.sqlite3")
    with closing(Database(file)) as database:
        store = Store(database, ASSISTANTS)
        store.add_alert(AlertKind.TIMER, "pasta", NOW_S + 60, "gone", length_s=60)
        store.add_alert(AlertKind.ALARM, "", NOW_S + 120, "gone")
    clock.advance(minutes=30)
    with closing(Database(file)) as database:
        store, ringer = Store(database, ASSISTANTS), Ringer(database, clock)
        async with aclosing(ringer.announcements(conversation("next"))) as heard:
            assert await anext(heard) == "Your pasta timer was done at 3:43 PM."
            assert await heard.asend(True) == "Your alarm was for 3:44 PM."
        assert [alert.kind for alert in store.alerts()] == [AlertKind.ALARM]


async def test_what_was_heard_at_the_very_end_is_noted_before_the_database_is_closed(
    tmp_path: Path, clock: Clock
) -> None:
    config = ToolsConfig(database=str(tmp_path / "voice.sqlite3"))
    box = Toolbox(config, TurnConfig(), now=clock)
    Store(box.database, ASSISTANTS).add_alert(AlertKind.REMINDER, "call mom", NOW_S, "s")
    heard = box.ringer.announcements(conversation("s"))
    await anext(heard)
    ending = asyncio.ensure_future(heard.asend(True))
    await asyncio.sleep(0)
    ending.cancel()
    await box.close()
    with closing(Database(config.database)) as database:
        assert Store(database, ASSISTANTS).alerts() == []


async def test_what_was_not_heard_is_another_conversations_to_tell(
    store: Store, ringer: Ringer
) -> None:
    for name in ("pasta", "rice"):
        store.add_alert(AlertKind.TIMER, name, NOW_S, "one", length_s=60)
    async with aclosing(ringer.announcements(conversation("two"))) as second:
        async with aclosing(ringer.announcements(conversation("one"))) as first:
            assert await anext(first) == "Your pasta timer is done."
            assert await first.asend(False) == "Your rice timer is done."
            others = asyncio.ensure_future(anext(second))
            await settled()
            assert not others.done()
        assert await others == "Your pasta timer is done."
        assert await second.asend(True) == "Your rice timer is done."


async def test_what_is_heard_later_delays_no_other(store: Store, ringer: Ringer) -> None:
    for name in ("pasta", "rice"):
        store.add_alert(AlertKind.TIMER, name, NOW_S, "one", length_s=60)
    async with aclosing(ringer.announcements(conversation("one"))) as first:
        assert await anext(first) == "Your pasta timer is done."
        later = asyncio.get_running_loop().create_future()
        assert await first.asend(later) == "Your rice timer is done."
        later.set_result(True)
        await settled()
        assert [one.label for one in store.alerts()] == ["rice"]


async def test_an_entry_that_another_tells_delays_no_other(
    store: Store, database: Database
) -> None:
    ringer = Ringer(database, local_now)
    due_s = local_now().timestamp()
    store.add_alert(AlertKind.REMINDER, "mine", due_s, "one")
    store.add_alert(AlertKind.REMINDER, "soon", due_s + 0.06, "two")
    async with (
        asyncio.timeout(PATIENCE_S),
        aclosing(ringer.announcements(conversation("one"))) as first,
        aclosing(ringer.announcements(conversation("two"))) as second,
    ):
        assert await anext(first) == "Reminder: mine."
        assert await anext(second) == "Reminder: soon."


async def test_the_conversation_that_set_it_has_precedence_while_it_is_open(
    store: Store, ringer: Ringer, clock: Clock
) -> None:
    store.add_alert(AlertKind.TIMER, "mine", NOW_S + 60, "one", length_s=60)
    store.add_alert(AlertKind.TIMER, "orphan", NOW_S + 120, "closed", length_s=60)
    async with aclosing(ringer.announcements(conversation("two"))) as second:
        first = ringer.announcements(conversation("one"))
        others = asyncio.ensure_future(anext(second))
        ours = asyncio.ensure_future(anext(first))
        await asyncio.sleep(0)
        clock.advance(seconds=60)
        ringer.wake()
        assert await ours == "Your mine timer is done."
        assert not others.done()
        await tell(first)
        store.add_alert(AlertKind.TIMER, "left", NOW_S, "one", length_s=60)
        ringer.wake()
        assert await others == "Your left timer is done."
        clock.advance(seconds=60)
        ringer.wake()
        assert await second.asend(True) == "Your orphan timer is done."


async def test_a_conversation_listens_once(ringer: Ringer, store: Store) -> None:
    store.add_alert(AlertKind.TIMER, "", NOW_S, "s", length_s=60)
    async with aclosing(ringer.announcements(conversation("s"))) as heard:
        await anext(heard)
        with pytest.raises(ValueError, match="'s', which listens already"):
            await anext(ringer.announcements(conversation("s")))


class Watch:
    """Notes where and with what success entries are taken."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.threads: set[int] = set()
        self.tries = 0
        self.taken: list[bool] = []

    def __call__(self, database: Database, owner: Owner) -> Store:
        return WatchedStore(database, owner, self)


class WatchedStore(Store):
    def __init__(self, database: Database, owner: Owner, watch: Watch) -> None:
        super().__init__(database, owner)
        self._watch = watch

    def take_alert(self, alert: Alert, now: float, until: float) -> bool:
        watch = self._watch
        watch.tries += 1
        watch.threads.add(threading.get_ident())
        watch.begun.set()
        watch.taken.append(super().take_alert(alert, now, until))
        return watch.taken[-1]


async def test_a_locked_store_is_told_once_and_asked_until_it_answers(
    tmp_path: Path,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_S", 0.01)
    monkeypatch.setattr(ringer_module, "_RETRY_S", 0.01)
    file = str(tmp_path / "voice.sqlite3")
    watch = Watch()
    monkeypatch.setattr(ringer_module, "Store", watch)
    with closing(Database(file)) as database, closing(sqlite3.connect(file)) as other:
        store, ringer = Store(database, ASSISTANTS), Ringer(database, clock)
        for name in ("one", "two"):
            store.add_alert(AlertKind.TIMER, name, NOW_S, name, length_s=60)
        other.execute("BEGIN EXCLUSIVE")
        async with (
            asyncio.timeout(PATIENCE_S),
            aclosing(ringer.announcements(conversation("one"))) as first,
            aclosing(ringer.announcements(conversation("two"))) as second,
        ):
            heard = [asyncio.ensure_future(anext(each)) for each in (first, second)]
            with caplog.at_level(logging.ERROR):
                while watch.tries < 8:
                    await asyncio.sleep(0.01)
            assert not any(each.done() for each in heard)
            other.rollback()
            told = await asyncio.gather(*heard)
        assert told == ["Your one timer is done.", "Your two timer is done."]
        (line,) = [record.message for record in caplog.records if record.levelno == logging.ERROR]
        assert "database is locked" in line
        assert threading.get_ident() not in watch.threads


async def test_an_entry_taken_for_a_conversation_that_ends_meanwhile_is_put_back(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "voice.sqlite3")
    watch = Watch()
    monkeypatch.setattr(ringer_module, "Store", watch)
    with closing(Database(file)) as database, closing(sqlite3.connect(file)) as other:
        store, ringer = Store(database, ASSISTANTS), Ringer(database, clock)
        alert = store.add_alert(AlertKind.TIMER, "pasta", NOW_S, "s", length_s=60)
        other.execute("BEGIN EXCLUSIVE")
        async with (
            asyncio.timeout(PATIENCE_S),
            aclosing(ringer.announcements(conversation("s"))) as heard,
        ):
            waiting = asyncio.ensure_future(anext(heard))
            await asyncio.to_thread(watch.begun.wait)
            waiting.cancel()
            await asyncio.sleep(0)
            other.rollback()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert watch.taken == [True]
        assert store.alerts() == [alert]


@pytest.mark.parametrize(
    ("kind", "label", "length_s", "ago_s", "text"),
    [
        (AlertKind.TIMER, "pasta", 60, 0, "Your pasta timer is done."),
        (AlertKind.TIMER, "", 600, 0, "Your 10 minute timer is done."),
        (AlertKind.TIMER, "", 5400, 5, "Your 1 hour 30 minute timer is done."),
        (AlertKind.TIMER, "pasta", 60, 3600, "Your pasta timer was done at 2:42 PM."),
        (AlertKind.ALARM, "", 0, 0, "It is 3:42 PM. Your alarm."),
        (AlertKind.ALARM, "", 0, 86_400, "Your alarm was for 3:42 PM yesterday."),
        (AlertKind.REMINDER, "call mom", 0, 0, "Reminder: call mom."),
        (AlertKind.REMINDER, "call mom", 0, 3600, "Reminder for 2:42 PM: call mom."),
    ],
)
def test_announcements(
    kind: AlertKind, label: str, length_s: float, ago_s: float, text: str
) -> None:
    assert announcement(Alert(1, kind, label, NOW_S - ago_s, length_s, "s"), NOW) == text


@pytest.mark.parametrize(
    ("before", "said", "answers", "left"),
    [
        ("ten minutes", "fifteen", ["Timer cancelled.", "Timer set for 15 minutes."], "15 minutes"),
        ("two hours", "three", ["Timer cancelled.", "Timer set for 3 hours."], "3 hours"),
        ("thirty seconds", "forty", ["Timer cancelled.", "Timer set for 40 seconds."],
         "40 seconds"),
        ("ten minutes", "blue", ["Error: I have not changed anything.",
                                 "Error: I could not read the duration blue."], "10 minutes"),
        ("ten minutes", "nine days", ["Error: I have not changed anything.",
                                      "Error: A timer can run for 7 days at most."], "10 minutes"),
    ],
)  # fmt: skip
async def test_a_correction_is_read_before_anything_is_undone(
    call: Call,
    toolbox: Toolbox,
    scope: SessionScope,
    before: str,
    said: str,
    answers: list[str],
    left: str,
) -> None:
    await call("set_timer", duration=before)
    undo = ToolCall("c1", "cancel_timer", {})
    again = ToolCall("c2", "set_timer", {"duration": said})
    first = await toolbox.run(undo, scope, beside=[again])
    second = await toolbox.run(again, scope, beside=[undo])
    assert [first.content, second.content] == answers
    assert await call("list_timers") == f"1 timer: {left} left."


async def test_a_corrected_timer_keeps_its_name(
    call: Call, toolbox: Toolbox, scope: SessionScope
) -> None:
    await call("set_timer", duration="ten minutes", name="pasta")
    undo = ToolCall("c1", "cancel_timer", {})
    again = ToolCall("c2", "set_timer", {"duration": "twelve"})
    await toolbox.run(undo, scope, beside=[again])
    await toolbox.run(again, scope, beside=[undo])
    assert await call("list_timers") == "1 timer: pasta, 12 minutes left."


async def test_a_number_alone_is_minutes(call: Call) -> None:
    assert await call("set_timer", duration="fifteen") == "Timer set for 15 minutes."
