"""Typed conversations with the agent, by the ids that Home Assistant gives them.

Each request of Home Assistant comes over a connection of its own; its conversation is kept for a
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
"""That are kept; the one that has been silent longest is forgotten for another."""
KEPT_S = 300.0
MOST_EVENTS = 1024
"""Of a reply; one with more ends its conversation. Between replies nothing is kept."""
LONGEST_TEXT = 2000
"""Characters of a message."""

_log = logging.getLogger(__name__)


class Conversations:
    """Holds conversations.

    Args:
        resources: What they are made of.
        group: In which they run.
    """

    def __init__(self, resources: Resources, group: asyncio.TaskGroup) -> None:
        self._resources = resources
        self._group = group
        self._kept: OrderedDict[str, _Conversation] = OrderedDict()

    async def answer(self, words: str, conversation_id: str) -> AsyncGenerator[str]:
        """Tell the agent something; the answer, as it is made.

        Args:
            words: Of the user.
            conversation_id: Of one that goes on, or begins.

        Raises:
            ProtocolError: There is nothing to answer, it is too long, or too many talk at once.
            ModelError: The agent failed.
        """
        if not words.strip() or len(words) > LONGEST_TEXT:
            raise ProtocolError(f"text: expected 1 to {LONGEST_TEXT} characters", param="text")
        for name, one in list(self._kept.items()):
            if one.running.done() or (one.free and one.age_s > KEPT_S):
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
        """End a conversation, if there is one of the id."""
        if one := self._kept.pop(conversation_id, None):
            one.session.close()

    def close(self) -> None:
        """End all."""
        for conversation_id in list(self._kept):
            self.forget(conversation_id)


class _Conversation:
    """One of them; ``running`` is done once the agent, or a failure, has ended it.

    Nobody is there to hear a timer ring, so the agent has no tools that would set one.
    """

    def __init__(self, resources: Resources, group: asyncio.TaskGroup) -> None:
        options = resources.options()
        can_ring = resources.toolbox.can_ring
        tools = tuple(name for name in options.agent_tools if not can_ring((name,)))
        silent = replace(options, speak=False, idle_timeout_s=0.0, agent_tools=tools)
        self.session = Session(resources, silent, None, LOCAL)
        self.running = group.create_task(self._run())
        self._told: asyncio.Queue[SessionEvent] = asyncio.Queue(MOST_EVENTS)
        self._turn = asyncio.Lock()
        self._used_s = 0.0

    @property
    def free(self) -> bool:
        """Whether it is not being asked anything."""
        return not self._turn.locked()

    @property
    def age_s(self) -> float:
        """Since it was asked last."""
        return asyncio.get_running_loop().time() - self._used_s

    async def answer(self, words: str) -> AsyncGenerator[str]:
        """See `Conversations.answer`."""
        async with self._turn:
            # A session takes requests once it runs.
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
                    return

    def _take(self, event: SessionEvent) -> None:
        if not self.free and isinstance(event, ReplyText | ReplyEnded | SessionEnded):
            self._told.put_nowait(event)

    async def _run(self) -> None:
        try:
            await self.session.run(self._take)
        except Exception as error:
            # It costs this conversation only; the errors' texts may quote it.
            _log.error("a conversation failed\n%s", origins(error))
