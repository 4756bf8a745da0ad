"""Stand-ins for the parts behind a transport: a session that says what a test tells it to say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from socket import socket as Socket
from types import SimpleNamespace
from typing import Any

from starlette.applications import Starlette

from tests.support.patience import PATIENCE_S
from voice.callers import Caller
from voice.config import AgentConfig, Config
from voice.dialogue.team import Team
from voice.errors import ProtocolError
from voice.events import SessionEnded, SessionEvent
from voice.inputs import SessionOptions
from voice.server.app import build_app
from voice.session.variants import Assigned
from voice.speech.tts import Voices
from voice.tools import SessionScope
from voice.tools.database import Database
from voice.tools.scope import Line, MachineClock
from voice.types import Message, Role, Samples, ToolCall, ToolSpec

OPTIONS = SessionOptions(instructions="You are a test.", agent_tools=("get_time", "set_timer"))


@dataclass
class FakeSession:
    """Keeps the calls made to it; `emit` is what it tells.

    Attributes:
        calls: Name and arguments of each call, in order.
        refuse: Raised by the next call, once.
        on_audio: Called with each piece of audio, to answer it.
        run_error: Raised by `run`.
        closed: The reason of `close`; `over` is set with it.
    """

    options: SessionOptions = OPTIONS
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    refuse: Exception | None = None
    on_audio: Callable[[FakeSession, Samples], None] | None = None
    run_error: Exception | None = None
    closed: str | None = None
    session_id: str = "sess_fake"
    scope: SessionScope = field(default_factory=lambda: SessionScope("sess_fake"))

    def __post_init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self._take: Callable[[SessionEvent], None] | None = None
        self._early: list[SessionEvent] = []
        self._refused: Exception | None = None
        self._called = asyncio.Event()
        self.over = asyncio.Event()

    def emit(self, *events: SessionEvent) -> None:
        for event in events:
            if self._take is None:
                self._early.append(event)
                continue
            try:
                self._take(event)
            except Exception as error:
                self._refused = error
                self.close("failed")

    async def run(self, take: Callable[[SessionEvent], None]) -> None:
        if self.run_error is not None:
            raise self.run_error
        self._take = take
        self.emit(*self._early)
        await self.over.wait()
        if self._refused is not None:
            raise self._refused

    def close(self, reason: str = "closed") -> None:
        if self.closed is None:
            self.closed = reason
            self.emit(SessionEnded(reason))
            self.over.set()

    def greet(self) -> None:
        self._call("greet")

    def append_audio(self, samples: Samples, rate_hz: int) -> None:
        self._call("append_audio", len(samples), rate_hz)
        if self.on_audio is not None:
            self.on_audio(self, samples)

    def commit_audio(self) -> None:
        self._call("commit_audio")

    def clear_audio(self) -> None:
        self._call("clear_audio")

    def update(self, **changes: Any) -> None:
        self._call("update", changes)
        self.options = replace(self.options, **changes)

    def add_item(self, item_id: str, message: Message, previous_item_id: str | None) -> None:
        self._call("add_item", item_id, message, previous_item_id)
        self.messages[item_id] = message

    def hear_item(self, item_id: str, samples: Samples, rate_hz: int, following: int = 0) -> None:
        self._call("hear_item", item_id, len(samples), rate_hz, following)

    def delete_item(self, item_id: str) -> None:
        self._call("delete_item", item_id)
        self.messages.pop(item_id, None)

    def item(self, item_id: str) -> Message:
        return self.messages.get(item_id, Message(Role.AGENT, "what was heard"))

    def create_response(
        self,
        overrides: Mapping[str, Any] | None = None,
        context: Sequence[str | Message] | None = None,
        out_of_band: bool = False,
    ) -> str:
        more = (context, out_of_band) if out_of_band or context is not None else ()
        self._call("create_response", overrides or None, *more)
        return f"r{sum(call[0] == 'create_response' for call in self.calls)}"

    def approve(self, call: ToolCall) -> str:
        self._call("approve", call)
        return "approved"

    def cancel_response(self, reply_id: str | None) -> None:
        self._call("cancel_response", reply_id)

    def interrupt(self) -> None:
        self._call("interrupt")

    def truncate(self, reply_id: str, played_ms: float) -> None:
        self._call("truncate", reply_id, played_ms)

    def played(self, reply_id: str, played_ms: float) -> None:
        self._call("played", reply_id, played_ms)

    async def called(self, name: str, times: int) -> None:
        """Wait until a method has been called so often."""
        async with asyncio.timeout(PATIENCE_S):
            while sum(call[0] == name for call in self.calls) < times:
                self._called.clear()
                await self._called.wait()

    def _call(self, *call: Any) -> None:
        error, self.refuse = self.refuse, None
        if error is not None:
            raise error
        self.calls.append(call)
        self._called.set()


class FakeModel:
    """A model that is asked nothing."""

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        pass


class FakeToolbox:
    """No tools, and a database that nobody writes to."""

    def __init__(self) -> None:
        self.clock = MachineClock()
        self.database = Database(":memory:")

    async def devices(self, names: Iterable[str]) -> tuple[str, ...]:
        return ()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        yield


@dataclass
class FakeParts:
    """Gives out fake sessions and remembers them."""

    agent: AgentConfig = field(
        default_factory=lambda: AgentConfig(
            name="test", instructions="You are a test.", tools=("get_time",)
        )
    )
    prepare: Callable[[FakeSession], None] | None = None
    sessions: list[FakeSession] = field(default_factory=list)
    synthesizer: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(name="espeak"))
    voices: Voices = field(default_factory=Voices)
    model: FakeModel = field(default_factory=lambda: FakeModel())
    toolbox: FakeToolbox = field(default_factory=FakeToolbox)
    closed: bool = False
    conversations: int = 8
    agents: dict[str, FakeParts] = field(default_factory=dict)

    def for_agent(self, name: str, option: str = "agent") -> FakeParts:
        return self.agents[name]

    def assign(self, caller: Caller | None) -> Assigned[FakeParts]:
        return Assigned(self)

    def session(
        self, options: SessionOptions, line: Line | None = None, caller: Caller | None = None
    ) -> FakeSession:
        scope = SessionScope("sess_fake", self.agent.name, caller, line=line)
        session = FakeSession(options, scope=scope)
        if self.prepare is not None:
            self.prepare(session)
        self.sessions.append(session)
        return session

    def describe(self) -> list[str]:
        return ["a fake"]

    @property
    def team(self) -> Team:
        return Team((self.agent,))

    def options(self) -> SessionOptions:
        return OPTIONS

    async def close(self) -> None:
        self.toolbox.database.close()
        self.closed = True


def fake_app(parts: FakeParts, config: Config, audiosocket: Socket | None = None) -> Starlette:
    """The application with sessions of `FakeParts`."""
    return build_app(parts, config, audiosocket, FakeParts.session)  # type: ignore[arg-type]


def refusal(code: str) -> ProtocolError:
    """What a session raises when it refuses a call."""
    return ProtocolError("refused", code)


def counting_ids() -> Callable[[str], str]:
    """Ids that count up: item_1, event_2, …"""
    count = 0

    def new_id(prefix: str) -> str:
        nonlocal count
        count += 1
        return f"{prefix}_{count}"

    return new_id
