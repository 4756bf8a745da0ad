"""A typed conversation with an agent: a real session with tools and its own store, without audio.

It is for programs that measure agents or make training lessons from conversations; judging a turn
is left to them. By default the clock starts at ten on a Wednesday morning, so that "tonight at
eight" means the same whenever a program runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from voice.events import ReplyEnded, ReplyToolCall, ReplyToolResult, SessionEnded, SessionEvent
from voice.session.resources import Resources
from voice.session.session import Session
from voice.tools import Toolbox
from voice.tools.scope import MachineClock, local_now
from voice.types import Message, Role, ToolCall

TURN_LIMIT_S = 60.0


class MorningClock(MachineClock):
    """A clock that starts at ten on a Wednesday morning, in the machine's time zone."""

    def __init__(self) -> None:
        begun = local_now()
        self._ahead = datetime(2026, 11, 25, 10, tzinfo=begun.tzinfo) - begun

    def __call__(self) -> datetime:
        """The time by this clock."""
        return local_now() + self._ahead


@dataclass(frozen=True, slots=True)
class TypedTurn:
    """What one message led to.

    Attributes:
        calls: Every call that was made, in order.
        results: What the tools answered.
        reply: What the agent said.
        ended: Whether the conversation is over.
        proposed: The calls that the agent asks the user to confirm; a "yes" would make them.
    """

    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]
    reply: str
    ended: bool
    proposed: tuple[ToolCall, ...] = ()


class TypedConversation:
    """A conversation in progress; `typing` opens one.

    Attributes:
        read_only: Names of the tools that change nothing.
        ended: Whether the agent has hung up.
    """

    def __init__(self, session: Session, toolbox: Toolbox) -> None:
        self.read_only = frozenset(name for name in toolbox.names if toolbox.is_read_only(name))
        self.ended = False
        self._session = session
        self._said = 0
        self._calls: list[ToolCall] = []
        self._results: list[str] = []
        self._replies: list[str] = []
        self._over = asyncio.Event()

    def take(self, event: SessionEvent) -> None:
        """Note an event; never blocks."""
        match event:
            case ReplyToolCall(call=call):
                self._calls.append(call)
            case ReplyToolResult(result=result):
                self._results.append(result.content)
            case ReplyEnded(text=text):
                self._replies.append(text.strip())
                self._over.set()
            case SessionEnded():
                self.ended = True
                self._over.set()

    async def say(self, text: str) -> TypedTurn:
        """Send a message and wait for the answer, which is empty once the conversation has ended.

        Raises:
            TimeoutError: No answer came within `TURN_LIMIT_S`.
        """
        if self.ended:
            return TypedTurn((), (), "", True)
        for had in (self._calls, self._results, self._replies):
            had.clear()
        self._over.clear()
        self._session.add_item(f"item_typed_{self._said}", Message(Role.USER, text), None)
        self._said += 1
        self._session.create_response()
        async with asyncio.timeout(TURN_LIMIT_S):
            await self._over.wait()
            # The end of the conversation is fed after the reply.
            await asyncio.sleep(0)
        reply = " ".join(self._replies)
        made, results = tuple(self._calls), tuple(self._results)
        return TypedTurn(made, results, reply, self.ended, self._session.proposed)


@asynccontextmanager
async def typing(
    resources: Resources, clock: MachineClock | None = None
) -> AsyncIterator[TypedConversation]:
    """A conversation with an agent and its own data; ``clock`` defaults to a `MorningClock`."""
    toolbox = Toolbox(resources.config.tools, resources.config.turn, clock or MorningClock())
    await asyncio.to_thread(toolbox.warm_up)
    own = replace(resources, toolbox=toolbox)
    session = Session(own, replace(own.options(), speak=False))
    conversation = TypedConversation(session, toolbox)
    running = asyncio.create_task(session.run(conversation.take))
    try:
        await asyncio.sleep(0)
        yield conversation
    finally:
        session.close()
        await running
        await toolbox.close()
