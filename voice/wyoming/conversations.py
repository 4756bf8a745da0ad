"""Typed conversations with the agent, by the ids that Home Assistant gives them.

Each of Home Assistant's requests comes over its own connection. The conversation is kept for a
while, so that the next message may refer to it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import replace

from voice.callers import LOCAL
from voice.errors import ModelError, ProtocolError, origins
from voice.events import ReplyEnded, ReplyStatus, ReplyText, SessionEnded, SessionEvent
from voice.realtime.wire import new_id
from voice.session.resources import Resources
from voice.session.session import Session
from voice.types import Message, Role

MOST_CONVERSATIONS = 16
"""Conversations that are kept; for a new one, the one silent for longest is forgotten."""
KEPT_S = 300.0
MOST_EVENTS = 1024
"""Events of one reply; exceeding them ends the conversation. Between replies none are kept."""
LONGEST_TEXT = 2000
"""Most characters in a message."""

_log = logging.getLogger(__name__)


class Conversations:
    """Holds the conversations of all connections.

    Args:
        resources: What the conversations are made of.
        group: The task group in which they run.
    """

    def __init__(self, resources: Resources, group: asyncio.TaskGroup) -> None:
        self._resources = resources
        self._group = group
        self._kept: OrderedDict[str, _Conversation] = OrderedDict()

    async def answer(self, words: str, conversation_id: str) -> AsyncGenerator[str]:
        """Tell the agent something, and yield its answer as it is made.

        Args:
            words: The user's words.
            conversation_id: Id of the conversation; an unknown one begins a new conversation.

        Raises:
            ProtocolError: The message is empty or too long, or too many conversations are under
                way.
            ModelError: The agent failed.
        """
        if not words.strip() or len(words) > LONGEST_TEXT:
            raise ProtocolError(f"text: expected 1 to {LONGEST_TEXT} characters", param="text")
        for name, one in list(self._kept.items()):
            if one.session.closed or (one.free and one.age_s > KEPT_S):
                self.forget(name)
        if conversation_id not in self._kept:
            if len(self._kept) >= MOST_CONVERSATIONS:
                self.forget(next((name for name, one in self._kept.items() if one.free), ""))
            if len(self._kept) >= MOST_CONVERSATIONS:
                raise ProtocolError("too many conversations at once", "capacity")
            self._kept[conversation_id] = _Conversation(self._resources, self._group)
        self._kept.move_to_end(conversation_id)
        async for delta in self._kept[conversation_id].answer(words):
            yield delta

    def forget(self, conversation_id: str) -> None:
        """End the conversation with this id, if there is one."""
        if one := self._kept.pop(conversation_id, None):
            one.session.close()

    def close(self) -> None:
        """End all conversations."""
        for conversation_id in list(self._kept):
            self.forget(conversation_id)


class _Conversation:
    """One conversation, until the agent or a failure ends it.

    Nobody is there to hear a timer ring, so the agent gets no tools that would set one.
    """

    def __init__(self, resources: Resources, group: asyncio.TaskGroup) -> None:
        options = resources.options()
        can_ring = resources.toolbox.can_ring
        tools = tuple(name for name in options.agent_tools if not can_ring((name,)))
        silent = replace(options, speak=False, idle_timeout_s=0.0, agent_tools=tools)
        self.session = Session(resources, silent, None, LOCAL)
        group.create_task(self._run())
        self._told: asyncio.Queue[SessionEvent] = asyncio.Queue(MOST_EVENTS)
        self._turn = asyncio.Lock()
        self._used_s = 0.0

    @property
    def free(self) -> bool:
        """Whether no question is being answered."""
        return not self._turn.locked()

    @property
    def age_s(self) -> float:
        """Seconds since the last question was answered."""
        return asyncio.get_running_loop().time() - self._used_s

    async def answer(self, words: str) -> AsyncGenerator[str]:
        """See `Conversations.answer`."""
        async with self._turn:
            # A session accepts requests only once it runs.
            await asyncio.sleep(0)
            self.session.add_item(new_id("item"), Message(Role.USER, words), None)
            reply_id = self.session.create_response()
            try:
                async for delta in self._reply(reply_id):
                    yield delta
            except asyncio.CancelledError:
                self.session.interrupt()
                raise
            finally:
                self._used_s = asyncio.get_running_loop().time()

    async def _reply(self, reply_id: str) -> AsyncGenerator[str]:
        while True:
            match await self._told.get():
                case ReplyText(reply_id=which, delta=delta) if which == reply_id:
                    yield delta
                case ReplyEnded(reply_id=which, status=status) if which == reply_id:
                    if status == ReplyStatus.FAILED:
                        raise ModelError("the agent failed")
                    return
                case SessionEnded():
                    raise ModelError("the conversation has ended")

    def _take(self, event: SessionEvent) -> None:
        if not self.free and isinstance(event, ReplyText | ReplyEnded | SessionEnded):
            self._told.put_nowait(event)

    async def _run(self) -> None:
        try:
            await self.session.run(self._take)
        except Exception as error:
            # A failure ends this conversation only. It is logged without texts, which may quote it.
            _log.error("a conversation failed\n%s", origins(error))
