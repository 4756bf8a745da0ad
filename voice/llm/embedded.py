"""The language model in this process: turns prompts into engine requests, and events back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voice.config import LlmConfig
from voice.errors import ConfigError, ModelError, ProtocolError
from voice.llm.base import (
    AnswerDone,
    DraftView,
    MalformedAnswer,
    ModelEvent,
    Prompt,
    TextPiece,
    new_call_id,
)
from voice.llm.context_window import ContextWindow, declaration_chars, fitted
from voice.llm.plain_letters import as_said, in_plain_letters
from voice.types import Message, Role, ToolCall, ToolSpec

if TYPE_CHECKING:
    from dlm.engine.engine import Engine, Finished, Request
    from dlm.language.chat_format import JsonCalls, MarkedCalls
    from dlm.language.messages import Answer, Call, Tool, Turn


_THREADS = 2
"""Two, so that a short prompt need not wait while a long one is fitted to the context."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """What decides which tools a model can call.

    Attributes:
        most_chars: Most characters of all declarations together.
        calls: Format in which the model writes calls.
    """

    most_chars: int
    calls: MarkedCalls | JsonCalls | None


class EmbeddedModel:
    """The diffusion engine in this process."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._knows_marks = len(engine.dialect.text("é")) == 1
        self._window = ContextWindow(
            self._room,
            engine.dialect.text,
            engine.dialect.decode,
            engine.model.config.max_position_embeddings,
        )
        # Threads of its own, because the loop's default ones may all be waiting for the engine.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="fitting")
        self.name = name

    @property
    def engine(self) -> Engine:
        """The engine, for requests from elsewhere in the process."""
        return self._engine

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        import queue

        from dlm.engine.engine import Finished, Snapshot, TextDelta
        from dlm.language.messages import AnswerError

        try:
            loop = asyncio.get_running_loop()
            request = await loop.run_in_executor(self._threads, self._fitted, prompt)
            # Closing cancels the request; this must not wait for garbage collection.
            async with aclosing(self._engine.stream(request)) as events:
                async for event in events:
                    match event:
                        case TextDelta(text):
                            yield TextPiece(text)
                        case Snapshot(text, forwards):
                            yield DraftView(text, forwards)
                        case Finished():
                            yield _done(event, prompt)
        except AnswerError as error:
            raise MalformedAnswer(str(error)) from error
        except queue.Full as error:
            raise ModelError("the model is busy with other conversations") from error
        except (ValueError, RuntimeError) as error:
            raise ModelError(f"the model cannot answer: {error}") from error

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """See `ReplyModel.end_of_message`; one short forward."""
        import queue

        try:
            loop = asyncio.get_running_loop()
            asked = await loop.run_in_executor(self._threads, self._ask_for_end, prompt)
            if asked is None:
                return None
            (nats,) = await asyncio.wrap_future(asked)
            return math.exp(nats)
        except (queue.Full, ModelError, ValueError, RuntimeError) as error:
            _log.debug("no probability for the end of a message: %s", type(error).__name__)
            return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """See `ReplyModel.check_tools`."""
        check_callable(tools, path, self.limits)

    @property
    def limits(self) -> ToolLimits:
        """What `check_callable` needs to know of the model, without the weights."""
        return ToolLimits(self._window.most_chars, self._engine.dialect.calls)

    def warm_up(self, prompt: Prompt) -> None:
        """Load the grammar's library, and fill the KV cache with the beginning of the prompt."""
        from dlm.language.messages import AnswerError

        try:
            # Neither the answer nor its form matters.
            with contextlib.suppress(AnswerError):
                self._engine.answer(self._fitted(prompt))
        except ValueError as error:
            raise ConfigError(f"the model cannot answer with the agent's tools: {error}") from error

    async def close(self) -> None:
        """Stop the engine's thread and this model's own."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._engine.close()

    def _ask_for_end(self, prompt: Prompt) -> Future[list[float]] | None:
        prompt = self._readable(prompt)
        seen = fitted(prompt, self._window)
        if seen.messages[-1:] != prompt.messages[-1:]:
            return None
        request = _request(seen)
        return self._engine.log_end_of_message(request.turns, request.tools, prompt.rank)

    def _fitted(self, prompt: Prompt) -> Request:
        return _request(fitted(self._readable(prompt), self._window))

    def _readable(self, prompt: Prompt) -> Prompt:
        return prompt if self._knows_marks else in_plain_letters(prompt)

    def _room(self, prompt: Prompt) -> int:
        from dlm.engine.engine import Request

        tools = tuple(map(_tool, prompt.tools))
        return self._engine.room(Request(_turns(prompt), tools, reasoning=False))


def check_callable(tools: Sequence[ToolSpec], path: str, limits: ToolLimits) -> None:
    """See `ReplyModel.check_tools`."""
    from dlm.grammar.formats import FormatError
    from dlm.grammar.matcher import check_tools
    from dlm.server.errors import ApiError
    from dlm.server.tool_schemas import check_parameters

    if (given := declaration_chars(tools)) > limits.most_chars:
        raise ProtocolError(
            f"{path}: got {given} characters; expected at most {limits.most_chars}", param=path
        )
    where = path
    try:
        for index, tool in enumerate(tools):
            check_parameters(tool.parameters, f"{path}.{index}.parameters")
        check_tools(tuple(map(_tool, tools)), limits.calls)
    except ApiError as error:
        code = error.code or "unsupported_schema"
        raise ProtocolError(str(error), code, error.param) from error
    except ValueError as error:
        if isinstance(error, FormatError) and error.tool is not None:
            index = [tool.name for tool in tools].index(error.tool)
            where = f"{path}.{index}.parameters"
            if error.parameter is not None:
                where = f"{where}.properties.{error.parameter}"
        raise ProtocolError(f"{where}: {error}", "unsupported_schema", where) from error


def load_embedded(config: LlmConfig) -> tuple[EmbeddedModel, str]:
    """Load a checkpoint; slow.

    Returns:
        The model, and a line that tells which one it is and where it runs.

    Raises:
        ConfigError: The device cannot be used.
        ModelError: The checkpoint is missing or malformed.
    """
    import torch

    from dlm.engine.engine import SHIPPED, Engine

    checkpoint = config.checkpoint or SHIPPED
    name = Path(checkpoint).name
    device = None if config.device == "auto" else _usable(config.device)
    dtype = None if config.dtype == "auto" else getattr(torch, config.dtype)
    try:
        engine = Engine.load(
            checkpoint,
            dtype,
            device,
            config.threads,
            config.kernels,
            config.prompt_cache_mib * 2**20,
        )
    except (OSError, ValueError) as error:
        raise ModelError(f"llm.checkpoint: {error}") from error
    line = f"language model: {name} on {engine.placement} (llm.engine = embedded)"
    return EmbeddedModel(engine, name), line


def _usable(device: str) -> str:
    """The device's name, once torch has computed on it.

    Raises:
        ConfigError: torch cannot compute on it.
    """
    import torch

    try:
        torch.zeros(1, device=device).item()
    # Each kind of device fails in its own way: a build without CUDA raises an AssertionError.
    except (RuntimeError, AssertionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigError(
            f"llm.device: got {device!r}, which cannot be used: {reason}; expected"
            " auto, cpu or cuda"
        ) from error
    return device


def _request(prompt: Prompt) -> Request:
    from dlm.effort import Effort
    from dlm.engine.engine import Request
    from dlm.language.copy_sources import sources

    turns = _turns(prompt)
    return Request(
        turns=turns,
        tools=tuple(map(_tool, prompt.tools)),
        tool_choice=prompt.tool_choice,
        copy_sources=sources(turns) or None,
        effort=Effort(prompt.effort),
        max_tokens=prompt.max_tokens,
        draft=_answer(prompt.draft) if prompt.draft else None,
        priority=prompt.priority,
        # The listener would have to wait for the reasoning.
        reasoning=False,
        # The conversation asks for missing values itself.
        asks_back=False,
    )


def _done(finished: Finished, prompt: Prompt) -> AnswerDone:
    made, usage = finished.answer.calls, finished.usage
    said = prompt.messages[::-1]
    calls = tuple(
        ToolCall(new_call_id(), call.name, as_said(call.arguments, said)) for call in made
    )
    return AnswerDone(
        calls,
        finished.reason == "length",
        usage.prompt_tokens,
        usage.answer_tokens,
        usage.forwards,
        usage.kept,
        finished.confidence,
    )


def _calls(message: Message) -> tuple[Call, ...]:
    from dlm.language.messages import Call

    return tuple(Call(call.name, call.arguments) for call in message.tool_calls)


def _answer(draft: Message) -> Answer:
    from dlm.language.messages import Answer

    return Answer(draft.content, _calls(draft))


def _tool(spec: ToolSpec) -> Tool:
    from dlm.language.messages import Reader, Tool

    readers = {
        name: Reader(one.read, one.hardly, one.whole, one.anywhere)
        for name, one in spec.readings.items()
    }
    return Tool(spec.name, spec.description, spec.parameters, readers)


def _turns(prompt: Prompt) -> tuple[Turn, ...]:
    return tuple(_turn(message) for message in prompt.messages)


def _turn(message: Message) -> Turn:
    from dlm.language.messages import Turn

    role = "assistant" if message.role is Role.AGENT else message.role.value
    return Turn(role, message.content, _calls(message))
