"""Executes commands, and feeds the results back to the state machine that issued them.

One runner serves the conversation, with `LiveBackend`. Each draft of a reply has a runner of its
own, with `PreemptiveGeneration`, which has no side effects.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Protocol

from voice.dialogue.commands import Command, Generate, RunTool, StopGenerating
from voice.errors import ModelError, origins
from voice.inputs import Input, ModelAnswered, ModelFailed, ModelSaid
from voice.llm.base import AnswerDone, MalformedAnswer, ModelEvent, TextPiece

_log = logging.getLogger(__name__)

Feed = Callable[[Input], None]
Spawn = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


class Backend(Protocol):
    """Does the work of the commands."""

    def answer(self, request: Generate) -> AsyncGenerator[ModelEvent, None]:
        """Yield the model's answer; if it ends without `AnswerDone`, the answer is dropped."""

    def run_tool(self, run: RunTool, feed: Feed) -> Coroutine[Any, Any, None]:
        """Run a tool, and feed its result."""

    def perform(self, command: Command) -> None:
        """Execute any other command at once."""


class CommandRunner:
    """Runs one conversation or one draft: ``decide`` answers each input with commands."""

    def __init__(
        self, decide: Callable[[Input], list[Command]], backend: Backend, spawn: Spawn
    ) -> None:
        self._decide = decide
        self._backend = backend
        self._spawn = spawn
        self._closed = False
        self._requests: dict[str, asyncio.Task[None]] = {}

    def close(self) -> None:
        """Execute nothing more."""
        self._closed = True

    def feed(self, event: Input) -> None:
        """Pass on an input, and execute the commands it leads to."""
        self.execute(self._decide(event))

    def execute(self, commands: list[Command]) -> None:
        """Execute commands in order."""
        if self._closed:
            return
        for command in commands:
            match command:
                case Generate(reply_id):
                    self._stop(reply_id)
                    self._requests[reply_id] = self._spawn(self._answer(command))
                case StopGenerating(reply_id):
                    self._stop(reply_id)
                case RunTool():
                    self._spawn(self._backend.run_tool(command, self.feed))
                case _:
                    self._backend.perform(command)

    def _stop(self, reply_id: str) -> None:
        """Cancel a reply's request to the model, if there is one."""
        task = self._requests.pop(reply_id, None)
        # A malformed answer is retried from within its own task, which must not be cancelled.
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _answer(self, request: Generate) -> None:
        reply_id = request.reply_id
        try:
            async with aclosing(self._backend.answer(request)) as events:
                async for event in events:
                    if self._requests.get(reply_id) is not asyncio.current_task():
                        # The answer's own words have stopped it.
                        return
                    self._take(reply_id, event)
        except ModelError as error:
            malformed = isinstance(error, MalformedAnswer)
            self.feed(ModelFailed(reply_id, str(error), malformed))
        except Exception as error:
            # An error in the model, or in the dialogue over its words, must cost this reply only.
            _log.error("a reply failed: %s", origins(error))
            self.feed(ModelFailed(reply_id, "the reply failed", malformed=False))
        finally:
            if self._requests.get(reply_id) is asyncio.current_task():
                del self._requests[reply_id]

    def _take(self, reply_id: str, event: ModelEvent) -> None:
        match event:
            case TextPiece(text):
                self.feed(ModelSaid(reply_id, text))
            case AnswerDone():
                tokens = event.input_tokens, event.output_tokens
                taken = event.calls, event.cut, *tokens, event.confidence
                self.feed(ModelAnswered(reply_id, *taken))
