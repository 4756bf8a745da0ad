"""Doors to a server on virtual time: a real Realtime client and a real session, and no socket.

Client and server have two queues between them. Each word of the caller's is a level of sound, which
survives resampling, so that fake ears can tell it. The model calls `reserve` for what was asked
for, and often once more. What was done is counted here, not by what the server says of it.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosedOK
from websockets.frames import Close

from tests.support.virtual_parts import Answer, Model, Recognizer, Stream, Tape, VirtualParts, parts
from voice.config import AgentConfig
from voice.demo.client import RATE_HZ, RealtimeClient
from voice.llm.base import Prompt
from voice.prove.doors import Line, Store, Trouble, running_tools
from voice.prove.ledger import Errand, Fault, Kind, Site, trouble
from voice.prove.sound import Utterance
from voice.realtime.connection import RealtimeConnection
from voice.realtime.protocol import RealtimeProtocol
from voice.server.app import _names
from voice.session.session import Session
from voice.tools import SessionScope, ToolError, tool
from voice.types import AudioFrame, Role, ToolCall

WORDS = ("reserve", "apples", "pears", "what", "time", "is", "it")
THINGS = ("apples", "pears")
STEP = 3000
"""From one word's level to the next one's."""
WORD_MS = 240
AGAIN = 0.3
OURS = {"type": "realtime", "quicksilver": {"events": ["tools", "hold"], "greet": False}}
THEIRS = {
    "type": "realtime",
    "tools": [
        {
            "type": "function",
            "name": "reserve",
            "description": "Reserve something.",
            "parameters": {"type": "object", "properties": {"what": {"type": "string"}}},
        }
    ],
}
TROUBLE: dict[str, Trouble] = {}
DONE: dict[str, list[dict[str, Any]]] = {}
"""By session."""


@tool()
async def reserve(what: str, *, session: SessionScope) -> str:
    """Reserve something."""
    call = ToolCall("", "reserve", {"what": what})
    if refused := await TROUBLE[session.session_id](call):
        raise ToolError(refused)
    await asyncio.sleep(0.3)
    DONE[session.session_id].append({"what": what})
    return f"Reserved {what}."


def spoken(text: str) -> Utterance:
    """A text as its words' levels."""
    levels = [STEP * (WORDS.index(word) + 1) for word in text.split()]
    samples = np.repeat(np.array(levels, np.int16), WORD_MS * RATE_HZ // 1000)
    return Utterance(text, samples, 0, len(samples))


def levels(frame: AudioFrame) -> AudioFrame:
    """A frame in which each sample is the number of a word; 0 is silence."""
    # The middle one: what resampling does at an edge is no word.
    middle = np.sort(frame.samples)[len(frame.samples) // 2]
    number = round(int(middle) / STEP)
    return replace(frame, samples=np.full(len(frame.samples), number, np.int16))


class Detector:
    """Hears levels."""

    def probability(self, frame: AudioFrame) -> float:
        return float(levels(frame).samples[0] > 0)

    def reset(self) -> None:
        pass


class LevelStream(Stream):
    """Reads levels."""

    def accept(self, frame: AudioFrame) -> None:
        super().accept(levels(frame))


class LevelRecognizer(Recognizer):
    """Reads levels."""

    def open(self, turn_id: int, *_: object) -> Stream:
        return LevelStream(self, turn_id)


class Parts(VirtualParts):
    """With a detector of levels."""

    def vad(self) -> Detector:  # type: ignore[override]
        return Detector()


def answering(chance: random.Random, again: float) -> Callable[[Prompt], Answer]:
    """A model that knows what it has called, and at times calls it once more all the same."""
    numbers = itertools.count(1)

    def answer(prompt: Prompt) -> Answer:
        told = list(enumerate(prompt.messages))
        calls = []
        for thing in THINGS:
            asked = [at for at, m in told if m.role is Role.USER and thing in m.content.split()]
            if not asked:
                continue
            behind = [m for at, m in told if at > asked[-1]]
            made = any(c.arguments.get("what") == thing for m in behind for c in m.tool_calls)
            words = any(m.role is Role.AGENT and m.content.strip() for m in behind)
            if not made or (not words and chance.random() < again):
                calls.append(ToolCall(f"call{next(numbers)}", "reserve", {"what": thing}))
        return calls or "That is done and here is all that there is to say about it."

    return answer


class Wire:
    """Both ends of a connection: `RealtimeConnection`'s channel, and the client's socket."""

    def __init__(self) -> None:
        self.up: asyncio.Queue[dict[str, Any]] = asyncio.Queue(10_000)
        self.down: asyncio.Queue[str | None] = asyncio.Queue(10_000)
        self.transport = SimpleNamespace(abort=self.hang_up)
        self.protocol = SimpleNamespace(close_exc=SimpleNamespace(rcvd=True))
        self.close_code, self.close_reason = 1000, ""
        self.closed = False

    async def send(self, text: str) -> None:
        if self.closed:
            raise ConnectionClosedOK(Close(1000, ""), None)
        self.up.put_nowait({"type": "websocket.receive", "text": text})

    def hang_up(self) -> None:
        if not self.closed:
            self.closed = True
            self.up.put_nowait({"type": "websocket.disconnect"})
            self.down.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (text := await self.down.get()) is not None:
            yield text

    async def receive(self) -> dict[str, Any]:
        return await self.up.get()

    async def send_text(self, data: str) -> None:
        if not self.closed:
            self.down.put_nowait(data)

    async def close(self, code: int, reason: str | None = None) -> None:
        self.close_code = code
        self.hang_up()


@dataclass
class VirtualServer:
    """A server that can be restarted.

    Args:
        seed: Of what the model does by chance.
        again: Chance that the model makes a call once more.
    """

    seed: int
    loaded: Parts = field(init=False)
    calls: dict[asyncio.Task[None], Session] = field(default_factory=dict)
    again: float = AGAIN

    def __post_init__(self) -> None:
        self.load()

    def load(self) -> None:
        tape = Tape([(word, word) for word in WORDS])
        model = Model(answering(random.Random(self.seed), self.again))
        module = 'tools.modules=["tests.support.virtual_door"]'
        made = parts(model, None, LevelRecognizer(tape), module)
        agent = AgentConfig(name="test", instructions="Be brief.", tools=("reserve",))
        given = {name: getattr(made, name) for name in made.__dataclass_fields__}
        self.loaded = Parts(**{**given, "agent": agent})

    async def restart(self) -> None:
        """As a server does: conversations end, and what has begun is finished."""
        old, self.seed = self.loaded, self.seed + 1
        for session in self.calls.values():
            session.close("restart")
        await asyncio.wait(self.calls)
        await old.toolbox.close()
        self.load()


@dataclass(frozen=True)
class VirtualDoor:
    """A way to a server; ``ours`` lets it run the tools, else the caller's side does."""

    server: VirtualServer
    fault: Fault
    ours: bool

    @asynccontextmanager
    async def open(self, agent: str, background: np.ndarray) -> AsyncGenerator[Line, None]:
        """See `voice.prove.doors.Door`."""
        loaded = self.server.loaded
        options = loaded.options()
        session = Session(loaded, options if self.ours else replace(options, agent_tools=()))
        wire = Wire()
        scope = SessionScope(session.session_id if self.ours else f"client-{session.session_id}")
        DONE[scope.session_id] = []
        TROUBLE[scope.session_id] = trouble(self.fault if self.ours else Fault(Kind.RETRY, 0))

        async def store() -> Store:
            return {"reserved": DONE[scope.session_id]}

        connection = RealtimeConnection(
            wire, session, RealtimeProtocol(session, _names(loaded)), lambda _: None, 5.0
        )
        serving = asyncio.create_task(connection.run())
        self.server.calls[serving] = session
        client = RealtimeClient(wire, background, extended=self.ours)  # type: ignore[arg-type]
        async with client.conversing(OURS if self.ours else THEIRS):
            if self.ours:
                yield Line(client, store)
            else:
                async with running_tools(client, loaded.toolbox, scope, trouble(self.fault)):
                    yield Line(client, store)
        wire.hang_up()
        await serving
        del self.server.calls[serving]


def virtual_site(seed: int, ours: bool) -> Site:
    """A server on virtual time, and a caller."""
    # What a client runs is handed to it as often as the model calls it.
    server = VirtualServer(seed, again=AGAIN if ours else 0.0)
    first, second = (
        Errand(f"reserve {thing}", "reserve", "reserved", {"what": thing}) for thing in THINGS
    )
    return Site(
        door=lambda fault: VirtualDoor(server, fault, ours),
        agent="test",
        errands=(first, second),
        other="what time is it",
        speak=spoken,
        background=np.zeros(RATE_HZ, np.int16),
        restart=server.restart,
        ours=ours,
    )
