"""One conversation with real parts: audio and requests in, events out.

`Session` carries out what `voice.conversation` decides. Everything here runs on one event loop;
what computes runs in threads behind it. Queues: audio into the recogniser is bounded by the
longest turn, events to the transport by `EVENTS` (a transport that falls further behind loses the
session).
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import uuid
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from voice.ahead import Ahead, Workshop
from voice.config import Config
from voice.conversation import Conversation
from voice.ears import Ears, Heard
from voice.errands import Errands
from voice.errors import ProtocolError
from voice.events import (
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyToolResult,
    SessionEnded,
    SessionEvent,
)
from voice.generating import Generating
from voice.marks import TurnMarks
from voice.mouth import Mouth
from voice.parts import Parts
from voice.tools import SessionScope
from voice.turns import (
    Announce,
    CancelTool,
    Command,
    Draft,
    Emit,
    Generate,
    HangUp,
    HoldSpeaking,
    IdleElapsed,
    Input,
    ReleaseSpeaking,
    RunTool,
    SessionOptions,
    Speak,
    SpeakEnd,
    StopGenerating,
    StopSpeaking,
    with_changes,
)
from voice.types import Message, Samples, TurnEnded

__all__ = ["Parts", "Session", "SessionOptions"]

EVENTS = 8192
IDLE_CHECK_S = 0.25
# Replies that a client may still speak of, by truncating them.
REMEMBERED = 8

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Session:
    """A conversation. Made by `Parts.session`; all methods are for the event loop's thread."""

    def __init__(self, parts: Parts, options: SessionOptions) -> None:
        self.session_id = f"sess_{uuid.uuid4().hex[:16]}"
        self._parts = parts
        self._scope = SessionScope(self.session_id)
        numbers = itertools.count(1)
        unique = self.session_id[-8:]
        specs = parts.toolbox.specs(parts.agent.tools)
        self._conversation = Conversation(
            options,
            {spec.name: spec for spec in specs},
            ids=lambda prefix: f"{prefix}_{unique}_{next(numbers)}",
            max_tool_calls=parts.config.turn.max_tool_calls,
            max_history=parts.config.turn.max_history_messages,
            draft_words=_draft_words(parts.config),
        )
        self._marks = TurnMarks()
        self._ears = Ears(
            parts.recognizer,
            parts.vad(),
            parts.config.endpointing,
            parts.ear_threads,
            self._heard,
            self._marks.decoded,
        )
        self._ears.opinion = self._expect_end
        self._ears.configure(options)
        self._mouth = Mouth(parts.synthesizer, parts.mouth_threads, self._emit, self._feed)
        self._ahead = Ahead(self._workshop(), parts.config.drafting, parts.busy, self._emit)
        self._generating = Generating(self._ahead, self._feed, self._emit, self._mark, self._spawn)
        slow_s = parts.config.turn.filler_after_ms / 1000
        self._errands = Errands(parts.toolbox, self._scope, self._ahead, self._feed, slow_s)
        self._events: asyncio.Queue[SessionEvent] = asyncio.Queue()
        self._inputs: deque[Input] = deque()
        self._feeding = False
        self._group: asyncio.TaskGroup | None = None
        self._replies: dict[str, ReplyStarted] = {}
        self._closed = asyncio.Event()
        self._reason = ""

    @property
    def options(self) -> SessionOptions:
        """As they are now."""
        return self._conversation.options

    @property
    def scope(self) -> SessionScope:
        """What tools know and may change of this conversation."""
        return self._scope

    async def run(self) -> None:
        """Hold the conversation until `close`. Tools that run by then finish behind it."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                group.create_task(self._ears.run())
                group.create_task(self._mouth.run())
                group.create_task(self._announce())
                group.create_task(self._watch_idle())
                await self._closed.wait()
                raise _Over
        except* _Over:
            _log.debug("session %s closed", self.session_id)
        finally:
            self._group = None
            self._ahead.drop()
            self.close("failed")
            self._events.put_nowait(SessionEnded(self._reason))

    def close(self, reason: str = "closed") -> None:
        """End the conversation; the first reason counts."""
        if not self._closed.is_set():
            self._reason = reason
            self._closed.set()

    async def events(self) -> AsyncIterator[SessionEvent]:
        """What happens, in order; ends with `SessionEnded`."""
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, SessionEnded):
                return

    def append_audio(self, samples: Samples, rate_hz: int) -> None:
        """The user's audio, of any rate and length, (T,) int16 mono."""
        self._ears.append(samples, rate_hz)

    def commit_audio(self) -> None:
        """End the user's turn now.

        Raises:
            ProtocolError: There is less than 100 ms of audio.
        """
        self._ears.commit()

    def clear_audio(self) -> None:
        """Drop what has been heard of an unfinished turn."""
        self._ears.clear()
        self._carry_out_all(self._conversation.forget_turn())

    def update(self, **changes: Any) -> None:
        """Change options.

        Raises:
            ValueError: There is no such option.
        """
        self._conversation.options = with_changes(self.options, **changes)
        self._ears.configure(self.options)

    def add_item(self, item_id: str, message: Message, previous_item_id: str | None) -> None:
        """Put a message into the dialogue; ``root`` is the front and None the end.

        Raises:
            ProtocolError: The id is taken, or the one before it is unknown.
        """
        self._conversation.dialogue.add(item_id, message, previous_item_id)

    def delete_item(self, item_id: str) -> None:
        """Take a message out of the dialogue.

        Raises:
            ProtocolError: There is none with this id.
        """
        self._conversation.dialogue.delete(item_id)

    def item(self, item_id: str) -> Message:
        """A message of the dialogue.

        Raises:
            ProtocolError: There is none with this id.
        """
        return self._conversation.dialogue.get(item_id)

    def create_response(self, overrides: dict[str, Any] | None = None) -> None:
        """Begin a reply.

        Args:
            overrides: Options for this reply alone.

        Raises:
            ProtocolError: Another one is being made.
            ValueError: There is no such option.
        """
        options = with_changes(self.options, **(overrides or {}))
        self._carry_out_all(self._conversation.respond(options))

    def cancel_response(self, reply_id: str | None) -> None:
        """Stop the reply that is being made.

        Raises:
            ProtocolError: There is none, or it has another id.
        """
        self._carry_out_all(self._conversation.cancel(reply_id))

    def greet(self) -> None:
        """Say the agent's greeting, if it has one."""
        if self._parts.agent.greeting:
            self._feed(Announce(self._parts.agent.greeting))

    def truncate(self, item_id: str, played_ms: float) -> None:
        """The client tells how much of a reply it played; the dialogue keeps that.

        Raises:
            ProtocolError: There is no such reply, or that much was never sent.
        """
        dialogue = self._conversation.dialogue
        dialogue.get(item_id)
        replies = [reply for reply, told in self._replies.items() if told.item_id == item_id]
        if not replies:
            raise ProtocolError("the item is not a reply", "invalid_value", "item_id")
        self._conversation.heard(item_id, self._mouth.truncate(replies[0], played_ms))

    def played(self, reply_id: str, played_ms: float) -> None:
        """The client tells how much of a reply it has played so far."""
        self._mouth.played(reply_id, played_ms)

    def _heard(self, event: Heard) -> None:
        if isinstance(event, TurnEnded):
            self._marks.ended(event)
        self._feed(event)

    async def _expect_end(self, words: str) -> float | None:
        """Probability that the user's message is these words and no more, as the model sees it."""
        _, commands = self._conversation.rehearse(Draft(0, words))
        [prompt] = [command.prompt for command in commands if isinstance(command, Generate)]
        return await self._parts.model.end_of_message(prompt)

    def _feed(self, event: Input) -> None:
        """Give the conversation an input and do what it says; inputs that this brings wait."""
        self._inputs.append(event)
        if self._feeding:
            return
        self._feeding = True
        try:
            while self._inputs:
                self._carry_out_all(self._conversation.feed(self._inputs.popleft()))
        finally:
            self._feeding = False

    def _carry_out_all(self, commands: list[Command]) -> None:
        for command in commands:
            self._carry_out(command)

    def _carry_out(self, command: Command) -> None:
        match command:
            case Emit(event):
                self._emit(event)
            case Generate(reply_id, prompt):
                self._generating.start(reply_id, prompt)
            case StopGenerating(reply_id):
                self._generating.stop(reply_id)
            case RunTool(reply_id, call, key):
                self._spawn(self._errands.run(reply_id, call, key))
            case CancelTool(key):
                self._errands.cancel(key)
            case Draft():
                self._ahead.draft(command, *self._conversation.rehearse(command))
            case Speak(reply_id, segment, rate_hz, speed):
                self._mouth.speak(reply_id, segment, rate_hz, speed)
            case SpeakEnd(reply_id):
                self._mouth.end(reply_id)
            case StopSpeaking(reply_id):
                self._mouth.stop(reply_id)
            case HoldSpeaking(reply_id):
                self._mouth.hold(reply_id)
            case ReleaseSpeaking(reply_id):
                self._mouth.release(reply_id)
            case HangUp(reason):
                self.close(reason)

    def _emit(self, event: SessionEvent) -> None:
        match event:
            case ReplyStarted(reply_id):
                self._replies[reply_id] = event
                if len(self._replies) > REMEMBERED:
                    del self._replies[next(iter(self._replies))]
            case ReplyAudio(reply_id):
                self._mark(reply_id, "first_audio")
            case ReplyToolResult(reply_id, result) if reply_id in self._replies:
                turn_id = self._replies[reply_id].turn_id
                self._marks.lasted(turn_id, f"tool.{result.name}", result.duration_ms)
        self._events.put_nowait(event)
        if self._events.qsize() > EVENTS:
            self.close("the client does not read")
        if isinstance(event, ReplyEnded):
            self._ahead.drop()
            if measured := self._marks.measured():
                self._events.put_nowait(measured)

    def _mark(self, reply_id: str, name: str) -> None:
        if reply_id in self._replies:
            self._marks.reached(self._replies[reply_id].turn_id, name)

    def _workshop(self) -> Workshop:
        toolbox = self._parts.toolbox
        return Workshop(
            model=self._parts.model,
            run_tool=lambda call, key: toolbox.run(call, self._scope, key),
            is_read_only=toolbox.is_read_only,
            prepare=self._mouth.prepare,
            forget_sound=self._mouth.drop_prepared,
            spawn=self._spawn,
        )

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        if self._group is None:
            work.close()
            raise RuntimeError("the session is not running")
        return self._group.create_task(work)

    async def _announce(self) -> None:
        async for text in self._parts.toolbox.ringer.announcements(self.session_id):
            self._feed(Announce(text))

    async def _watch_idle(self) -> None:
        quiet_s = 0.0
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + IDLE_CHECK_S
            await asyncio.sleep(IDLE_CHECK_S)
            self._parts.busy.woke((loop.time() - due_s) * 1000)
            quiet_s = quiet_s + IDLE_CHECK_S if self._conversation.quiet else 0.0
            if 0 < self.options.idle_timeout_s <= quiet_s:
                quiet_s = 0.0
                self._feed(IdleElapsed())


def _draft_words(config: Config) -> int:
    """From how many words on drafts are made; 0 for never."""
    drafting = config.drafting
    wanted = drafting.enabled and (drafting.remote or config.llm.engine != "remote")
    return drafting.min_words if wanted else 0


class _Over(Exception):
    """Ends the session's task group."""
