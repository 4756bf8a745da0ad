"""What is kept, for how long, and what is left of it on the disk."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, update

from tests.support.patience import PATIENCE_S
from tests.support.virtual_parts import Answer, Call, Model, call, calling, last_user, parts
from tests.support.virtual_time import virtual
from tests.voice.tools.services import Clock
from voice.callers import LOCAL, Caller, CallerKind, Owner
from voice.config import MemoryConfig, ToolsConfig, TurnConfig
from voice.events import ReplyEnded
from voice.tools import Keeps, SessionScope, Toolbox, tool
from voice.tools.database import Database, sqlite_file
from voice.tools.database.tables import TABLES, alerts, list_items
from voice.tools.scope import Inverses
from voice.tools.store import AlertKind, Store
from voice.types import Message, Role, ToolCall
from voice.understanding.opposites import LEFT_ALONE

ADA, BOB = (Caller(CallerKind.USER, name) for name in ("ada", "bob"))
STRANGER = Caller(CallerKind.CONVERSATION, "sess_1")
SECRET = "take my medicine"
KEPT = "what you asked me to remember and your lists, reminders, orders and appointments"
QUESTION = f"That deletes {KEPT}. Shall I delete it all?"


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database, None, None]:
    with closing(Database(str(tmp_path / "voice.sqlite3"))) as database:
        yield database


@pytest.fixture
async def toolbox(tmp_path: Path, clock: Clock) -> AsyncGenerator[Toolbox, None]:
    file = str(tmp_path / "voice.sqlite3")
    box = Toolbox(ToolsConfig(database=file), TurnConfig(tool_timeout_s=PATIENCE_S), now=clock)
    yield box
    await box.close()


def fill(database: Database, owner: Owner, text: str) -> None:
    store = Store(database, owner)
    store.add_alert(AlertKind.REMINDER, text, 100.0, "s")
    store.add_item("shopping", text)
    store.place_order(text, "1 latte", placed=100.0)
    store.book(100.0 + len(text), text, text)
    store.save_flow(text, saved=100.0, session_id="one", until=0.0)
    store.keep_fact(text, changed=100.0)


def on_disk(folder: Path) -> bytes:
    """All bytes of the database's files, the log's included."""
    files = sorted(folder.glob("voice.sqlite3*"))
    assert len(files) == 3
    return b"".join(file.read_bytes() for file in files)


def test_what_is_deleted_is_nowhere_in_the_files(tmp_path: Path, database: Database) -> None:
    for agent in ("assistant", "coffee"):
        fill(database, Owner(agent, ADA), f"{SECRET} {agent}")
        fill(database, Owner(agent, BOB), "water the flowers")
    assert SECRET.encode() in on_disk(tmp_path)
    one_each = dict.fromkeys((table.name for table in TABLES), 1)
    assert database.delete(ADA, "coffee") == one_each
    assert f"{SECRET} coffee".encode() not in on_disk(tmp_path)
    assert f"{SECRET} assistant".encode() in on_disk(tmp_path)
    assert database.delete(ADA) == one_each
    assert SECRET.encode() not in on_disk(tmp_path)
    assert b"user:ada" not in on_disk(tmp_path)
    assert [found["caller"] for found in database.callers()] == ["user:bob", "user:bob"]


def test_what_another_program_reads_is_overwritten_by_the_next_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_S", 0.01)
    database = Database(str(tmp_path / "voice.sqlite3"))
    fill(database, Owner("assistant", ADA), SECRET)
    with closing(sqlite3.connect(tmp_path / "voice.sqlite3")) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM alerts").fetchall()
        database.delete(ADA)
        assert SECRET.encode() in on_disk(tmp_path)
    database.sweep(ToolsConfig(), now_s=200.0)
    assert SECRET.encode() not in on_disk(tmp_path)
    database.close()


def test_of_a_stranger_who_left_nothing_nothing_is_erased(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    erased: list[Connection] = []
    monkeypatch.setattr(database._place, "erase", erased.append)
    database.delete_stranger(STRANGER)
    assert erased == []
    fill(database, Owner("assistant", STRANGER), SECRET)
    database.delete_stranger(STRANGER)
    assert len(erased) == 1
    # The log may have what was deleted one by one.
    database.delete(ADA)
    assert len(erased) == 2


def test_each_kind_is_kept_for_its_time(place: str) -> None:
    database = Database(place)
    store, stranger = (Store(database, Owner("a", each)) for each in (LOCAL, STRANGER))
    for each in (store, stranger):
        for label, due, repeat in (
            ("pills", 0.0, ""), ("someday", None, ""), ("daily", 0.0, "FREQ=DAILY")
        ):  # fmt: skip
            each.add_alert(AlertKind.REMINDER, label, due, "s", repeat=repeat)
        each.add_item("shopping", "milk")
        each.place_order("Anna", "1 latte", placed=0.0)
    told = store.add_alert(AlertKind.TIMER, "pasta", 50.0, "s")
    store.tell_alert(told)
    database.write(*(update(table).values(created=0.0) for table in (alerts, list_items)))
    day_s = 86_400.0
    kept = ToolsConfig(keep_alerts_days=3, keep_lists_days=5, keep_orders_days=7)
    left = {}
    for days in (0.9, 2.9, 3.1, 4.9, 5.1, 6.9, 7.1):
        database.sweep(kept, now_s=days * day_s)
        left[days] = [
            (sorted(alert.label for alert in each.alerts()), each.items("shopping"), each.orders())
            for each in (store, stranger)
        ]
    order = [(0.0, "Anna", "1 latte")]
    everything = (["daily", "pills", "someday"], ["milk"], order)
    assert left == {
        0.9: [everything, everything],
        2.9: [everything, ([], [], order)],
        3.1: [(["daily", "someday"], ["milk"], order), ([], [], order)],
        4.9: [(["daily", "someday"], ["milk"], order), ([], [], order)],
        5.1: [([], [], order), ([], [], order)],
        6.9: [([], [], order), ([], [], order)],
        7.1: [([], [], []), ([], [], [])],
    }
    assert told.label not in json.dumps(database.export(LOCAL))
    database.close()


def test_appointments_and_flows_are_kept_for_their_time(database: Database) -> None:
    stores = [Store(database, Owner("clinic", caller)) for caller in (LOCAL, STRANGER)]
    for number, store in enumerate(stores):
        store.book(100.0 + number, "Anna", "a cough")
        store.save_flow("here", saved=0.0, session_id="one", until=0.0)
    database.delete_stranger(STRANGER)
    kept = ToolsConfig(keep_orders_days=1, keep_flows_minutes=60)
    left = []
    for now_s in (3500.0, 3700.0, 90_000.0):
        database.sweep(kept, now_s)
        left.append(
            [
                (len(each.appointments(0)), each.take_flow("two", 1.0, 2.0, after=-1))
                for each in stores
            ]
        )
    assert left == [[(1, "here"), (1, "")], [(1, ""), (1, "")], [(0, ""), (0, "")]]


def test_a_fact_whose_correction_is_undone_is_kept_as_long_as_before(database: Database) -> None:
    day_s, inverses = 86_400.0, Inverses()
    store = Store(database, Owner("assistant", ADA), inverses)
    store.keep_fact("my car is red", changed=0.0)
    (fact,) = store.facts()
    inverses.clear()
    store.keep_fact("my car is blue", changed=2 * day_s, was=fact)
    (undo,) = inverses
    undo()
    left = []
    for days in (2.9, 3.1):
        database.sweep(ToolsConfig(), days * day_s, MemoryConfig(keep_days=3))
        left.append(store.facts())
    assert left == [[fact], []]


async def test_a_sweep_comes_by_itself(toolbox: Toolbox, clock: Clock) -> None:
    store = Store(toolbox.database, Owner("assistant", LOCAL))
    store.place_order("Anna", "1 latte", placed=clock().timestamp())
    clock.advance(days=8)
    async with asyncio.timeout(PATIENCE_S), toolbox.running():
        while store.orders():
            await asyncio.sleep(0.01)


VISITS: set[Owner] = set()


@tool(keeps=Keeps("visits", VISITS.discard))
def visit(*, scope: SessionScope) -> str:
    """Note a visit."""
    VISITS.add(scope.owner)
    return "Noted."


async def test_what_an_agents_own_tools_keep_is_named_and_forgotten_with_the_rest() -> None:
    toolbox = Toolbox(ToolsConfig(modules=(__name__,), database=":memory:"), TurnConfig())
    vet, shop = SessionScope("s1", "vet", ADA), SessionScope("s2", "shop", ADA)
    asked = []
    for scope, names in ((vet, ("visit", "forget_me")), (shop, ("forget_me",))):
        confirmation = toolbox.specs(names, scope)[-1].confirmation
        assert confirmation is not None
        asked.append(confirmation.question({}))
        await toolbox.run(ToolCall("1", "visit", {}), scope)
    assert asked == [
        "That deletes your visits. Shall I delete it all?",
        "That deletes what I keep for you. Shall I delete it all?",
    ]
    told = await toolbox.run(ToolCall("2", "forget_me", {}), vet)
    assert told.content == "I have deleted your visits."
    assert {shop.owner} == VISITS

    def fails(_: Owner) -> None:
        raise OSError

    shop.keeps += [Keeps("calls", fails), Keeps("visits", VISITS.discard), Keeps("notes", fails)]
    told = await toolbox.run(ToolCall("3", "forget_me", {}), shop)
    assert told.content == "Error: The forget me tool failed."
    assert not VISITS
    await toolbox.close()


@asynccontextmanager
async def talking() -> AsyncGenerator[tuple[Call, Model, Store], None]:
    """A conversation with a model that clears a list whenever something is to be deleted."""
    model = Model(lambda asked: forgets(last_user(asked)))
    loaded = parts(model, None, None, "turn.idle_timeout_s=0", "drafting.enabled=false")
    named = loaded.agent.model_copy(update={"tools": ("forget_me", "clear_list", "set_timer")})
    async with calling(replace(loaded, agent=named), ADA) as line:
        fill(loaded.toolbox.database, line.session.scope.owner, SECRET)
        yield line, model, Store(loaded.toolbox.database, line.session.scope.owner)


def forgets(said: str) -> Answer:
    if said.startswith("forget everything"):
        return call("forget_me")
    return call("clear_list", list="shopping") if "delete" in said else "Fine."


async def answer(line: Call, said: str) -> str:
    """What the agent says to a typed message."""
    line.session.add_item(f"item {len(line.events)}", Message(Role.USER, said), None)
    line.session.create_response()
    return (await line.next(ReplyEnded)).text


@pytest.mark.parametrize(
    "yes",
    ["yes delete everything", "Yes.", "yes please", "Delete it all.", "okay, erase my data please",
     "sure, go ahead", "forget all you know about me"],
)  # fmt: skip
@virtual
async def test_a_yes_forgets_whatever_the_model_would_call(yes: str) -> None:
    async with talking() as (line, model, store):
        assert await answer(line, "forget everything about me") == QUESTION
        assert store.items("shopping") == [SECRET]
        asked = len(model.prompts)
        assert await answer(line, yes) == f"I have deleted {KEPT}."
        assert asked == len(model.prompts)
        assert store.alerts() == store.orders() == store.items("shopping") == []


@pytest.mark.parametrize("no", ["No.", "no, don't delete anything", "keep it please", "not yet"])
@virtual
async def test_a_no_leaves_everything_and_a_later_yes_is_none_to_it(no: str) -> None:
    async with talking() as (line, model, store):
        assert await answer(line, "forget everything about me") == QUESTION
        asked = len(model.prompts)
        assert await answer(line, no) == LEFT_ALONE
        assert asked == len(model.prompts)
        assert await answer(line, "yes") == "Fine."
        assert len(store.alerts()) == len(store.orders()) == len(store.items("shopping")) == 1


@pytest.mark.parametrize("else_", ["yes but keep the alarms", "what time is it", "Goodbye.", "hmm"])
@virtual
async def test_what_is_neither_yes_nor_no_forgets_nothing(else_: str) -> None:
    async with talking() as (line, _, store):
        assert await answer(line, "forget everything") == QUESTION
        assert await answer(line, else_) == "Fine."
        assert await answer(line, "forget everything") == QUESTION
        assert len(store.alerts()) == len(store.orders()) == len(store.items("shopping")) == 1


@virtual
async def test_a_yes_behind_a_timer_that_rang_forgets_nothing() -> None:
    async with talking() as (line, _, store):
        assert await answer(line, "forget everything") == QUESTION
        store.add_alert(AlertKind.TIMER, "pasta", 0.0, "s")
        line.session._resources.toolbox.ringer.wake()
        assert "pasta" in (await line.next(ReplyEnded)).text
        assert await answer(line, "yes") == "Fine."
        assert store.items("shopping") == [SECRET]


async def test_a_strangers_data_ends_with_the_conversation_but_for_the_order(
    tmp_path: Path, toolbox: Toolbox, clock: Clock
) -> None:
    stranger, known = SessionScope("s1", "coffee"), SessionScope("s2", "coffee", ADA)
    for scope in (stranger, known):
        fill(toolbox.database, scope.owner, f"{SECRET} {scope.session_id}")
        toolbox.end(scope)
    await toolbox.drain()
    mine, hers = (Store(toolbox.database, scope.owner) for scope in (stranger, known))
    assert mine.alerts() == mine.items("shopping") == []
    assert [order[1] for order in mine.orders()] == [f"{SECRET} s1"]
    assert len(hers.alerts()) == len(hers.items("shopping")) == len(hers.orders()) == 1


async def test_what_a_tool_keeps_behind_a_strangers_conversation_is_deleted_too(
    tmp_path: Path, clock: Clock
) -> None:
    config = ToolsConfig(database=":memory:", modules=("tests.voice.tools.late_tool",))
    box, scope = (
        Toolbox(config, TurnConfig(tool_timeout_s=PATIENCE_S), now=clock),
        SessionScope("s1", "coffee"),
    )
    running = asyncio.create_task(box.run(ToolCall("c", "note_late", {"what": SECRET}), scope))
    await asyncio.sleep(0)
    box.end(scope)
    assert (await running).content == "Noted."
    await box.drain()
    assert Store(box.database, scope.owner).items("late") == []
    await box.close()
