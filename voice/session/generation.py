"""One session's requests to the model: what they bring goes to the conversation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

from voice.errors import ModelError
from voice.events import Denoising
from voice.inputs import Input, ModelAnswered, ModelFailed, ModelSaid
from voice.llm.base import (
    AnswerDone,
    DraftView,
    MalformedAnswer,
    ModelEvent,
    Prompt,
    ReplyModel,
    TextPiece,
)
from voice.session.preemptive_generation import PreemptiveGeneration

_log = logging.getLogger(__name__)


class Generation:
    """Asks the model, once at a time for each reply.

    Args:
        ahead: Answers, from drafts where it can; or the model itself.
        tell: Takes what the conversation has to know.
        emit: Takes what the client may see.
        reached: Called with a reply's id and the name of a stage that it has reached.
        spawn: Runs something for as long as the session lasts.
    """

    def __init__(
        self,
        ahead: PreemptiveGeneration | ReplyModel,
        tell: Callable[[Input], None],
        emit: Callable[[Denoising], None],
        reached: Callable[[str, str], None],
        spawn: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
    ) -> None:
        self._ahead = ahead
        self._tell = tell
        self._emit = emit
        self._reached = reached
        self._spawn = spawn
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, reply_id: str, prompt: Prompt) -> None:
        """Ask; an earlier request of the same reply is over."""
        self.stop(reply_id)
        self._tasks[reply_id] = self._spawn(self._answer(reply_id, prompt))

    def stop(self, reply_id: str) -> None:
        """Cancel a reply's request, if there is one."""
        task = self._tasks.pop(reply_id, None)
        # A malformed answer is tried again from within the task that brought it.
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _answer(self, reply_id: str, prompt: Prompt) -> None:
        try:
            async with aclosing(self._ahead.answer(prompt)) as answer:
                async for event in answer:
                    self._reached(reply_id, "first_token")
                    self._take(reply_id, event)
        except ModelError as error:
            malformed = isinstance(error, MalformedAnswer)
            self._tell(ModelFailed(reply_id, str(error), malformed))
        except Exception as error:
            # A model that raises what it should not must cost this reply only.
            _log.error("the model failed: %s", type(error).__name__)
            self._tell(ModelFailed(reply_id, "the model failed", malformed=False))
        finally:
            if self._tasks.get(reply_id) is asyncio.current_task():
                del self._tasks[reply_id]

    def _take(self, reply_id: str, event: ModelEvent) -> None:
        match event:
            case TextPiece(text):
                self._tell(ModelSaid(reply_id, text))
            case DraftView(text, step):
                self._emit(Denoising(reply_id, text, step))
            case AnswerDone(calls, cut, input_tokens, output_tokens):
                if not calls:
                    self._reached(reply_id, "reply_committed")
                tokens = input_tokens, output_tokens
                self._tell(ModelAnswered(reply_id, calls, cut, *tokens))
