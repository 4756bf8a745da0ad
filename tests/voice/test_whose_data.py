"""What one caller stores, no other hears, lists, changes, cancels or is rung by.

All doors of real servers, every tool, one database. Each caller asks for the same, one right after
the other; whoever is alone gets the same answers. The tools are the toolbox's: a new one needs a
place in the plan.
"""

from __future__ import annotations

import asyncio
import io
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
    suppress,
)
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from rich.console import Console
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect

from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from tests.support.virtual_parts import Model, VirtualParts, Voice, parts
from tests.voice.telephony.test_l16_stream import JAMBONZ_START
from tests.voice.tools.services import Clock, closed_url
from voice.callers import LOCAL, Caller, CallerKind, Owner
from voice.config import (
    AgentConfig,
    Config,
    LocalConfig,
    ServerConfig,
    TelephonyConfig,
    ToolsConfig,
    TurnConfig,
)
from voice.events import ReplyText, SessionEvent
from voice.inputs import SessionOptions
from voice.local import __main__ as local_program
from voice.local.playback_queue import PlaybackQueue
from voice.server.app import build_app
from voice.session.resources import Resources
from voice.session.session import Session
from voice.tools import SessionScope, Toolbox
from voice.tools.builtin.house import House
from voice.tools.scope import Line
from voice.tools.store import Store
from voice.types import SAMPLE_RATE_HZ, Segment, SpeechChunk, ToolCall

KEY = "the-operators-key"
WHO = "{who}"
"""Stands for the caller's own word in what is asked and answered."""

Plan = Sequence[tuple[str, dict[str, str]]]

STORING: Plan = (
    ("set_timer", {"duration": "ten minutes", "name": WHO}),
    ("set_timer", {"duration": "an hour", "name": f"{WHO} tea"}),
    ("change_timer", {"duration": "five more minutes", "name": f"{WHO} tea"}),
    ("set_alarm", {"when": "seven p m"}),
    ("set_alarm", {"when": "every day at eight a m"}),
    ("change_alarm", {"to": "nine p m", "when": "seven p m"}),
    ("set_reminder", {"text": f"call {WHO}", "when": "in twenty minutes"}),
    ("set_reminder", {"text": f"pay {WHO}"}),
    ("remember_fact", {"fact": f"my {WHO} lives in the third house"}),
    ("remember_fact", {"fact": "my car is red"}),
    ("call_me", {"name": WHO}),
    ("change_fact", {"to": f"my {WHO} lives in the fourth house"}),
    ("change_reminder", {"text": f"pay {WHO}", "when": "tomorrow at five"}),
    ("add_to_list", {"item": f"{WHO}, milk and eggs"}),
    ("add_to_list", {"item": "milk"}),
    ("remove_from_list", {"item": "eggs"}),
    ("move_item", {"item": WHO, "to": "party"}),
    ("order_drink", {"drink": "latte"}),
    ("change_drink", {"drink": "latte", "size": "large"}),
    ("swap_in_order", {"old": "large", "new": "small"}),
    ("confirm_order", {"name": WHO}),
    ("order_drink", {"drink": "mocha"}),
    ("cancel_timer", {"name": WHO}),
    ("choose_time", {"day": "monday", "time": "ten"}),
    # Nothing of the sort is known here; tests/voice/tools/test_appointments.py books.
    ("book_appointment", {}),
    ("request_call_back", {}),
)  # fmt: skip
READING: Plan = (
    ("list_timers", {}),
    ("list_alarms", {}),
    ("list_reminders", {}),
    ("read_list", {}),
    ("read_list", {"list": "party"}),
    ("read_order", {}),
    ("answer_question", {"message": "what did I order"}),
    ("coming_up", {"message": "what is coming up"}),
    ("list_facts", {}),
    ("recall_fact", {"question": "what is my name"}),
    ("list_appointments", {}),
    ("find_appointment", {"name": "Tom Reed"}),
    ("get_opening_hours", {}),
    ("start_over", {}),
    ("get_time", {}),
    ("get_date", {}),
    ("days_until", {"date": "christmas"}),
    ("calculate", {"expression": "two plus two"}),
    ("convert_units", {"amount": "two", "from_unit": "miles", "to_unit": "feet"}),
    ("convert_currency", {"amount": "two", "from_currency": "euros", "to_currency": "dollars"}),
    ("get_weather", {"place": "oslo"}),
    ("get_stock_price", {"company": "apple"}),
    ("search_documents", {"query": "wifi"}),
)  # fmt: skip
ENDING: Plan = (
    ("cancel_timer", {"name": "all timers"}),
    ("cancel_alarm", {"when": "nine p m"}),
    ("cancel_reminder", {"text": f"pay {WHO}"}),
    ("clear_list", {"list": "party"}),
    ("forget_fact", {"what": "my car"}),
    ("remove_drink", {"drink": "mocha"}),
    ("keep_drink", {}),
    ("undo_last", {"message": "undo that"}),
    ("cancel_order", {}),
    ("change_appointment", {"to": "eleven"}),
    ("cancel_appointment", {}),
    *READING,
    ("add_to_list", {"item": "bread"}),
    ("forget_me", {}),
    *READING,
    ("send_digits", {"digits": "one"}),
    ("transfer_call", {"to": "nobody"}),
    ("end_conversation", {}),
)  # fmt: skip
OF_THE_CONVERSATION = ("alerts", "list_items", "appointments", "flows", "facts")
OF_THE_LINE = ("send_digits", "transfer_call")
"""Answers that tell one line from another, and no caller."""


class Beep(Voice):
    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        yield SpeechChunk(segment, np.full(1600, 8000, np.int16), SAMPLE_RATE_HZ, last=True)


class Watched(Session):
    """Remembers what it says."""

    said = ""
    ended = False

    async def run(self, take: Callable[[SessionEvent], None]) -> None:
        def see(event: SessionEvent) -> None:
            if isinstance(event, ReplyText):
                self.said += event.delta
            take(event)

        try:
            await super().run(see)
        finally:
            self.ended = True


class World:
    """Two servers, with a key and without, and the same agent behind them.

    Attributes:
        opened: The sessions that doors have made, in order.
    """

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self.toolbox = toolbox(str(file), self.clock)
        self.toolbox.warm_up()
        loaded = parts(Model(lambda _: "Fine."), Beep())
        agent = AgentConfig(name="test", instructions="Be brief.", tools=self.toolbox.names)
        self.parts: VirtualParts = replace(loaded, toolbox=self.toolbox, agent=agent)
        self.opened: list[Watched] = []
        self.calls = count()
        self._environment = monkeypatch

    def open(
        self,
        resources: Resources,
        options: SessionOptions | None = None,
        line: Line | None = None,
        caller: Caller | None = None,
    ) -> Session:
        session = Watched(resources, options, line, caller)
        session.scope.now = self.clock
        self.opened.append(session)
        return session

    @asynccontextmanager
    async def serving(self, key: str) -> AsyncGenerator[str, None]:
        self._environment.setenv("QUICKSILVER_API_KEY", key)
        config = Config(
            server=ServerConfig(port=0, max_sessions=20),
            telephony=TelephonyConfig(doors=("jambonz",)),
        )
        app = build_app(self.parts, config, None, self.open)

        async def requests(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                raise NotImplementedError("the parts are shared")
            await app(scope, receive, send)

        async with serving(requests, config.server) as address:
            yield address

    async def ask(
        self, who: str, scope: SessionScope, name: str, arguments: Mapping[str, str]
    ) -> str:
        """The answer of a tool, without the caller's own word."""
        said = {key: value.replace(WHO, who) for key, value in arguments.items()}
        call = ToolCall(f"call-{next(self.calls)}", name, said)
        answer = (await self.toolbox.run(call, scope)).content.lower().replace(who, WHO)
        return "" if name in OF_THE_LINE else answer


def toolbox(file: str, clock: Clock) -> Toolbox:
    nowhere = closed_url()
    urls = {name: nowhere for name in ("weather_url", "geocoding_url", "currency_url", "stock_url")}
    return Toolbox(
        ToolsConfig(database=file, **urls), TurnConfig(tool_timeout_s=PATIENCE_S), now=clock
    )


def number(called: str) -> str:
    return JAMBONZ_START.replace("+1555", called).replace("coffee", "test")


@asynccontextmanager
async def conversations(
    world: World, open_at: str, keyed_at: str
) -> AsyncGenerator[dict[str, Watched], None]:
    """A conversation of each caller, by a word of the caller's own."""
    found: dict[str, Watched] = {}
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=f"http://{keyed_at}"))

        async def came(who: str) -> None:
            async with asyncio.timeout(PATIENCE_S):
                while len(world.opened) == len(found):
                    await asyncio.sleep(0.01)
            found[who] = world.opened[-1]

        async def connected(who: str, url: str, key: str = "", first: str = "") -> None:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            socket = await stack.enter_async_context(connect(url, additional_headers=headers))
            if first:
                await socket.send(first)
            await came(who)

        async def ephemeral(user: str) -> str:
            answer = await http.post(
                "/v1/realtime/client_secrets",
                json={"user": user} if user else {},
                headers={"Authorization": f"Bearer {KEY}"},
            )
            return str(answer.json()["value"])

        world.opened.clear()
        keyed, phone = f"ws://{keyed_at}/v1/realtime", f"ws://{open_at}/telephone/jambonz"
        await connected("otto", f"ws://{open_at}/v1/realtime")
        await connected("olga", keyed, KEY)
        for who, user in (("anna", "ada"), ("bruno", "bob"), ("carla", ""), ("david", "")):
            await connected(who, keyed, await ephemeral(user))
        for who, called in (
            ("ella", "+491571"), ("felix", "+491572"), ("greta", "anonymous"), ("hugo", "anonymous")
        ):  # fmt: skip
            await connected(who, phone, first=number(called))
        yield found


CALLERS = {
    "otto": LOCAL,
    "olga": Caller(CallerKind.OPERATOR),
    "anna": Caller(CallerKind.USER, "ada"),
    "bruno": Caller(CallerKind.USER, "bob"),
    "carla": None,
    "david": None,
    "ella": Caller(CallerKind.PHONE, "+491571"),
    "felix": Caller(CallerKind.PHONE, "+491572"),
    "greta": None,
    "hugo": None,
}
STRANGERS = [who for who, caller in CALLERS.items() if caller is None]


async def together(
    world: World, scopes: Mapping[str, SessionScope], plan: Plan
) -> dict[str, list[str]]:
    """What each is answered when all ask for each thing, one right after the other."""
    answers: dict[str, list[str]] = {who: [] for who in scopes}
    for name, arguments in plan:
        for who, scope in scopes.items():
            answers[who].append(await world.ask(who, scope, name, arguments))
    return answers


async def alone(
    plans: Sequence[Plan], minutes: float = 0.0, caller: Caller | None = LOCAL
) -> list[list[str]]:
    """What the only caller there is gets answered in two conversations, 20 minutes apart."""
    clock = Clock()
    clock.advance(minutes=minutes)
    with pytest.MonkeyPatch.context() as patch:
        world = World(Path(":memory:"), patch)
    world.clock = world.toolbox.ringer._now = clock  # type: ignore[assignment, method-assign]
    answers = []
    for name, plan in zip("abc", plans, strict=False):
        scope = SessionScope(name, "test", caller, now=clock)
        answered = await together(world, {"ines": scope}, plan)
        answers.append(answered["ines"])
        clock.advance(minutes=20)
        async with aclosing(world.toolbox.ringer.announcements(scope)) as heard:
            if name == "a" and len(plans) > 1:
                assert "call ines" in await anext(heard)
                tell(world, scope)
    await world.toolbox.close()
    return answers


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[World, None]:
    made = World(tmp_path / "voice.sqlite3", monkeypatch)
    yield made
    await made.toolbox.close()


def test_every_tool_has_its_place_in_the_plan(world: World) -> None:
    planned = {name for name, _ in (*STORING, *READING, *ENDING)}
    of_the_agent = {
        name for name, tool in world.toolbox._tools.items() if House in tool.provided.values()
    }
    # What a conversation itself has done differs between those that go on beside each other.
    assert planned == set(world.toolbox.names) - of_the_agent - {"list_done"}


async def test_nobody_has_to_do_with_another_callers_data(world: World, tmp_path: Path) -> None:
    first, second = await alone([(*STORING, *READING), ENDING])
    # What a stranger has remembered ends with the conversation.
    ((strangers_first,)) = await alone([(*STORING, *READING)], caller=None)
    ((strangers_second,)) = await alone([ENDING], minutes=20, caller=None)
    async with world.serving("") as open_at, world.serving(KEY) as keyed_at:
        async with conversations(world, open_at, keyed_at) as sessions:
            assert {who: found.scope.caller for who, found in sessions.items()} == CALLERS
            scopes = {who: found.scope for who, found in sessions.items()}
            answers = await together(world, scopes, (*STORING, *READING))
            for who in CALLERS:
                assert answers[who] == (strangers_first if who in STRANGERS else first), who
        await ended(world)
        check_rows(world, tmp_path)
        world.clock.advance(minutes=20)
        async with conversations(world, open_at, keyed_at) as sessions:
            await rung(sessions)
            scopes = {who: found.scope for who, found in sessions.items()}
            for scope in scopes.values():
                tell(world, scope)
            answers = await together(world, scopes, ENDING)
            for who in CALLERS:
                assert answers[who] == (strangers_second if who in STRANGERS else second), who
        await ended(world)


def tell(world: World, scope: SessionScope) -> None:
    """What is due was heard, whether or not this end of a line reports what it has played."""
    store = Store(world.toolbox.database, scope.owner)
    for alert in store.alerts(due_by=world.clock().timestamp()):
        store.tell_alert(alert)


async def ended(world: World) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not all(session.ended for session in world.opened):
            await asyncio.sleep(0.01)
    await world.toolbox.drain()


def check_rows(world: World, folder: Path) -> None:
    """Every table has owners, known callers have as much as each other, and strangers an order."""
    with closing(sqlite3.connect(folder / "voice.sqlite3")) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " AND name <> 'alembic_version'"
        ).fetchall()
        for (table,) in tables:
            columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            assert {"agent", "caller"} <= columns, table
    had = {found["caller"]: found["entries"] for found in world.toolbox.database.callers()}
    known = {str(caller) for caller in CALLERS.values() if caller is not None}
    assert len({tuple(had[caller].items()) for caller in known}) == 1
    left = [entries for caller, entries in had.items() if caller not in known]
    assert left == [
        {
            **dict.fromkeys(OF_THE_CONVERSATION, 0),
            "orders": 1,
        }
    ] * len(STRANGERS)


async def rung(sessions: Mapping[str, Watched]) -> None:
    """Every known caller is told of the own reminder, and nobody of another's."""
    async with asyncio.timeout(PATIENCE_S):
        while not all(f"call {who}" in sessions[who].said for who in CALLERS.keys() - STRANGERS):
            await asyncio.sleep(0.01)
    for who, session in sessions.items():
        assert [name for name in CALLERS if name in session.said] == [
            name for name in (who,) if who not in STRANGERS
        ]


async def test_the_microphone_is_this_machines_users(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def running(*_: Any) -> Iterator[None]:
        yield

    card = SimpleNamespace(
        queue=PlaybackQueue(16_000), input_rate_hz=16_000, now_s=0.0, running=running
    )
    monkeypatch.setattr(local_program, "SoundCard", lambda *_: card)
    monkeypatch.setattr(local_program, "Session", world.open)
    monkeypatch.setattr(local_program.Resources, "load", lambda _: world.parts)
    config = world.parts.config.model_copy(update={"local": LocalConfig(echo="headset")})
    talking = asyncio.create_task(local_program.converse(config, Console(file=io.StringIO())))
    async with asyncio.timeout(PATIENCE_S):
        while not world.opened:
            await asyncio.sleep(0.01)
    assert world.opened[0].scope.owner == Owner("test", LOCAL)
    talking.cancel()
    with suppress(asyncio.CancelledError):
        await talking
