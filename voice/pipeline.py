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
from contextlib import aclosing
from typing import Any

from voice.conversation import Conversation
from voice.ears import Ears, Heard
from voice.errors import ModelError, ProtocolError
from voice.events import (
    Denoising,
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    SessionEnded,
    SessionEvent,
)
from voice.llm import AnswerDone, DraftView, MalformedAnswer, ModelEvent, Prompt, TextPiece
from voice.marks import TurnMarks
from voice.mouth import Mouth
from voice.parts import Parts
from voice.tools import SessionScope
from voice.turns import (
    Announce,
    Command,
    Emit,
    EndRequested,
    Generate,
    HangUp,
    IdleElapsed,
    Input,
    ModelAnswered,
    ModelFailed,
    ModelSaid,
    RunTool,
    SessionOptions,
    Speak,
    SpeakEnd,
    StopGenerating,
    StopSpeaking,
    ToolAnswered,
    with_changes,
)
from voice.types import Message, Samples, ToolCall, TurnEnded

__all__ = ["Parts", "Session", "SessionOptions"]

EVENTS = 8192
IDLE_CHECK_S = 0.25
# Replies that a client may still speak of, by truncating them.
REMEMBERED = 8

_log = logging.getLogger(__name__)


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
        self._ears.configure(options)
        self._mouth = Mouth(parts.synthesizer, parts.mouth_threads, self._emit, self._feed)
        self._events: asyncio.Queue[SessionEvent] = asyncio.Queue()
        self._inputs: deque[Input] = deque()
        self._feeding = False
        self._group: asyncio.TaskGroup | None = None
        self._generating: dict[str, asyncio.Task[None]] = {}
        self._replies: dict[str, ReplyStarted] = {}
        self._closed = asyncio.Event()
        self._reason = ""

    @property
    def options(self) -> SessionOptions:
        """As they are now."""
        return self._conversation.options

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
        dialogue.say(item_id, self._mouth.truncate(replies[0], played_ms))

    def played(self, reply_id: str, played_ms: float) -> None:
        """The client tells how much of a reply it has played so far."""
        self._mouth.played(reply_id, played_ms)

    def _heard(self, event: Heard) -> None:
        if isinstance(event, TurnEnded):
            self._marks.ended(event)
        self._feed(event)

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
                self._generate(reply_id, prompt)
            case StopGenerating(reply_id):
                self._stop_generating(reply_id)
            case RunTool(reply_id, call):
                self._spawn(self._run_tool(reply_id, call))
            case Speak(reply_id, segment, rate_hz, speed):
                self._mouth.speak(reply_id, segment, rate_hz, speed)
            case SpeakEnd(reply_id):
                self._mouth.end(reply_id)
            case StopSpeaking(reply_id):
                self._mouth.stop(reply_id)
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
        self._events.put_nowait(event)
        if self._events.qsize() > EVENTS:
            self.close("the client does not read")
        if isinstance(event, ReplyEnded) and (measured := self._marks.measured()):
            self._events.put_nowait(measured)

    def _mark(self, reply_id: str, name: str) -> None:
        if reply_id in self._replies:
            self._marks.reached(self._replies[reply_id].turn_id, name)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        if self._group is None:
            work.close()
            raise RuntimeError("the session is not running")
        return self._group.create_task(work)

    def _generate(self, reply_id: str, prompt: Prompt) -> None:
        self._stop_generating(reply_id)
        self._generating[reply_id] = self._spawn(self._answer(reply_id, prompt))

    def _stop_generating(self, reply_id: str) -> None:
        task = self._generating.pop(reply_id, None)
        # A malformed answer is tried again from within the task that brought it.
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _answer(self, reply_id: str, prompt: Prompt) -> None:
        try:
            async with aclosing(self._parts.model.answer(prompt)) as answer:
                async for event in answer:
                    self._mark(reply_id, "first_token")
                    self._take(reply_id, event)
        except ModelError as error:
            malformed = isinstance(error, MalformedAnswer)
            self._feed(ModelFailed(reply_id, str(error), malformed))
        except Exception as error:
            # A model that raises what it should not must cost this reply only.
            _log.error("the model failed: %s", type(error).__name__)
            self._feed(ModelFailed(reply_id, "the model failed", malformed=False))

    def _take(self, reply_id: str, event: ModelEvent) -> None:
        match event:
            case TextPiece(text):
                self._feed(ModelSaid(reply_id, text))
            case DraftView(text, step):
                self._emit(Denoising(reply_id, text, step))
            case AnswerDone(calls, cut, input_tokens, output_tokens):
                if not calls:
                    self._mark(reply_id, "reply_committed")
                tokens = input_tokens, output_tokens
                self._feed(ModelAnswered(reply_id, calls, cut, *tokens))

    async def _run_tool(self, reply_id: str, call: ToolCall) -> None:
        result = await self._parts.toolbox.run(call, self._scope)
        if reply_id in self._replies:
            turn_id = self._replies[reply_id].turn_id
            self._marks.lasted(turn_id, f"tool.{call.name}", result.duration_ms)
        if self._scope.transfer_to is not None:
            self._feed(EndRequested("transferred"))
        elif self._scope.end_requested:
            self._feed(EndRequested("ended by the agent"))
        self._scope.end_requested, self._scope.transfer_to = False, None
        self._feed(ToolAnswered(reply_id, result))

    async def _announce(self) -> None:
        async for text in self._parts.toolbox.ringer.announcements(self.session_id):
            self._feed(Announce(text))

    async def _watch_idle(self) -> None:
        quiet_s = 0.0
        while True:
            await asyncio.sleep(IDLE_CHECK_S)
            quiet_s = quiet_s + IDLE_CHECK_S if self._conversation.quiet else 0.0
            if 0 < self.options.idle_timeout_s <= quiet_s:
                quiet_s = 0.0
                self._feed(IdleElapsed())


class _Over(Exception):
    """Ends the session's task group."""
