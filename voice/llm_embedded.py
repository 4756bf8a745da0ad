"""The language model in this process: prompts for `dlm.engine`, and its events for the agent."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice.config import LlmConfig
from voice.errors import ModelError
from voice.llm import (
    AnswerDone,
    DraftView,
    MalformedAnswer,
    ModelEvent,
    Prompt,
    TextPiece,
    new_call_id,
)
from voice.types import Message, Role, ToolCall

if TYPE_CHECKING:
    from dlm.engine import Engine, Usage
    from dlm.template import Answer


_log = logging.getLogger(__name__)


class EmbeddedModel:
    """The diffusion engine in this process."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self.name = name

    @property
    def engine(self) -> Engine:
        """The engine, which others may ask as well."""
        return self._engine

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        import queue

        from dlm.engine import Finished, Snapshot, TextDelta
        from dlm.template import AnswerError

        try:
            # Closed at once when the caller leaves: a cancelled request must not wait for garbage
            # collection.
            async with aclosing(self._engine.stream(_request(prompt))) as events:
                async for event in events:
                    match event:
                        case TextDelta(text):
                            yield TextPiece(text)
                        case Snapshot(text, forwards):
                            yield DraftView(text, forwards)
                        case Finished(answer, reason, usage):
                            yield _done(answer, reason == "length", usage)
        except AnswerError as error:
            raise MalformedAnswer(str(error)) from error
        except queue.Full as error:
            raise ModelError("the model is busy with other conversations") from error
        except (ValueError, RuntimeError) as error:
            raise ModelError(f"the model cannot answer: {error}") from error

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """See `ReplyModel.end_of_message`; one short forward."""
        import queue

        request = _request(prompt)
        try:
            return await asyncio.to_thread(
                self._engine.end_of_message, request.turns, request.tools, request.priority
            )
        except (queue.Full, ValueError, RuntimeError) as error:
            _log.debug("no opinion on the end of a message: %s", type(error).__name__)
            return None

    def warm_up(self, prompt: Prompt) -> None:
        """Load the grammar's library, and keep the keys and values of the prompt's beginning."""
        # What the answer is does not matter, nor whether it is one.
        with contextlib.suppress(ValueError):
            self._engine.answer(_request(prompt))

    async def close(self) -> None:
        """Stop the engine's thread."""
        self._engine.close()


def load_embedded(config: LlmConfig) -> tuple[EmbeddedModel, str]:
    """Load a checkpoint; slow.

    Returns:
        The model, and a line that says which and where it runs.

    Raises:
        ModelError: The checkpoint is missing or malformed.
    """
    import torch

    from dlm.engine import SHIPPED, Engine

    checkpoint = config.checkpoint or SHIPPED
    name = Path(checkpoint).name
    device = None if config.device == "auto" else config.device
    dtype = None if config.dtype == "auto" else getattr(torch, config.dtype)
    try:
        engine = Engine.load(checkpoint, dtype, device, config.threads, config.kernels)
    except (OSError, ValueError) as error:
        raise ModelError(f"llm.checkpoint: {error}") from error
    engine.prefixes.limit_bytes = config.prompt_cache_mib * 2**20
    line = f"language model: {name} on {engine.placement} (llm.engine = embedded)"
    return EmbeddedModel(engine, name), line


def _request(prompt: Prompt) -> Any:
    from dlm.effort import Effort
    from dlm.engine import Request
    from dlm.sources import sources
    from dlm.template import Tool

    turns = tuple(_turn(message) for message in prompt.messages)
    return Request(
        turns=turns,
        tools=tuple(Tool(t.name, t.description, t.parameters) for t in prompt.tools),
        tool_choice=prompt.tool_choice,
        said=sources(turns) or None,
        effort=Effort(prompt.effort),
        max_tokens=prompt.max_tokens,
        draft=_answer(prompt.draft) if prompt.draft else None,
        priority=prompt.priority,
        # Whoever listens would wait for it.
        reasoning=False,
    )


def _done(answer: Answer, cut: bool, usage: Usage) -> AnswerDone:
    calls = tuple(ToolCall(new_call_id(), call.name, dict(call.arguments)) for call in answer.calls)
    tokens = usage.prompt_tokens, usage.answer_tokens
    return AnswerDone(calls, cut, *tokens, forwards=usage.forwards, kept=usage.kept)


def _answer(draft: Message) -> Answer:
    from dlm.template import Answer, Call

    calls = tuple(Call(call.name, call.arguments) for call in draft.tool_calls)
    return Answer(draft.content, calls)


def _turn(message: Message) -> Any:
    from dlm.template import Call, Turn

    calls = tuple(Call(call.name, call.arguments) for call in message.tool_calls)
    role = "assistant" if message.role is Role.AGENT else message.role.value
    return Turn(role, message.content, calls)
