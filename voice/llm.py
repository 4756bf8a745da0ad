"""The language model behind one Protocol: the engine in this process, or a remote server.

A prompt goes in; pieces of final text, views of the draft and at last the calls come out. Closing
the iteration cancels the request.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from voice.config import LlmConfig, secret
from voice.errors import ConfigError, ModelError
from voice.types import Message, Role, ToolCall, ToolSpec

if TYPE_CHECKING:
    from dlm.engine import Engine, Usage
    from dlm.template import Answer


class MalformedAnswer(ModelError):
    """The model's answer does not have the form of words and tool calls."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to answer.

    Attributes:
        messages: The dialogue, a system message first.
        tools: What may be called.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        said: Texts of the user that string arguments are taken from.
        effort: instant, low, medium or high.
        max_tokens: Longest answer.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    said: tuple[str, ...] = ()
    effort: str = "instant"
    max_tokens: int = 96


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Final text that the answer goes on with."""

    text: str


@dataclass(frozen=True, slots=True)
class DraftView:
    """The answer as it stands, for display; ``step`` counts model forwards."""

    text: str
    step: int


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The answer is complete.

    Attributes:
        calls: In the order in which they are to run.
        cut: Whether it ended for being too long.
    """

    calls: tuple[ToolCall, ...]
    cut: bool
    input_tokens: int
    output_tokens: int


ModelEvent = TextPiece | DraftView | AnswerDone


class ReplyModel(Protocol):
    """A language model that answers prompts."""

    name: str

    def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """Events of an answer, the last an `AnswerDone`.

        Raises:
            MalformedAnswer: What the model wrote is no answer; trying again may help.
            ModelError: The model failed or cannot be reached.
        """
        ...

    def warm_up(self, prompt: Prompt) -> None:
        """Make the first answer as quick as the others, if that takes something; blocks."""
        ...

    async def close(self) -> None:
        """Release what the model holds."""
        ...


def new_call_id() -> str:
    """A call id that no other call has."""
    return f"call_{uuid.uuid4().hex[:16]}"


class EmbeddedModel:
    """The diffusion engine in this process."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self.name = name

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

    def warm_up(self, prompt: Prompt) -> None:
        """Load the grammar's library, and keep the keys and values of the prompt's beginning."""
        import queue

        from dlm.engine import Event, Failed, Finished

        events: queue.Queue[Event] = queue.Queue()
        self._engine.submit(_request(prompt), events.put)
        while not isinstance(events.get(), Finished | Failed):
            pass

    async def close(self) -> None:
        """Stop the engine's thread."""
        self._engine.close()


class RemoteModel:
    """An OpenAI-compatible server: Mercury 2, vLLM, or this project's own."""

    def __init__(self, config: LlmConfig) -> None:
        from openai import AsyncOpenAI

        remote = config.remote
        key = secret(remote.api_key_env)
        if key is None:
            raise ConfigError(
                f"llm.remote.api_key_env: got {remote.api_key_env}, which is not set; "
                f"expected the key for {remote.base_url} in the environment"
            )
        self.name = f"{remote.model} at {remote.base_url}"
        self._config = config
        self._client = AsyncOpenAI(
            base_url=remote.base_url, api_key=key, timeout=remote.timeout_s, max_retries=1
        )

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        import openai

        remote = self._config.remote
        body: dict[str, Any] = {"reasoning_effort": prompt.effort, **remote.extra_body}
        fields: dict[str, Any] = {
            "model": remote.model,
            "messages": [_chat_message(message) for message in prompt.messages],
            "max_tokens": prompt.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            "extra_body": body,
        }
        if prompt.tools:
            fields["tools"] = [_chat_tool(tool) for tool in prompt.tools]
            fields["tool_choice"] = _chat_choice(prompt.tool_choice)
        calls: dict[int, _Partial] = {}
        finish, usage = None, (0, 0)
        try:
            async for chunk in await self._client.chat.completions.create(**fields):
                if chunk.usage is not None:
                    usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
                for choice in chunk.choices:
                    finish = choice.finish_reason or finish
                    if choice.delta.content:
                        yield TextPiece(choice.delta.content)
                    for delta in choice.delta.tool_calls or ():
                        calls.setdefault(delta.index, _Partial()).add(delta)
        except openai.OpenAIError as error:
            raise ModelError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        done = tuple(calls[index].call(prompt.tools) for index in sorted(calls))
        yield AnswerDone(done, finish == "length", *usage)

    def warm_up(self, prompt: Prompt) -> None:
        """Nothing: a remote model has its own warmth, and every request costs."""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


class _Partial:
    """A tool call that arrives in pieces."""

    def __init__(self) -> None:
        self.name = ""
        self.arguments = ""

    def add(self, delta: Any) -> None:
        if delta.function is not None:
            self.name += delta.function.name or ""
            self.arguments += delta.function.arguments or ""

    def call(self, tools: tuple[ToolSpec, ...]) -> ToolCall:
        names = [tool.name for tool in tools]
        if self.name not in names:
            raise MalformedAnswer(f"tool: got {self.name!r}, expected one of {names}")
        try:
            arguments = json.loads(self.arguments or "{}")
        except json.JSONDecodeError as error:
            raise MalformedAnswer(f"{self.name}: arguments are not JSON") from error
        if not isinstance(arguments, dict):
            raise MalformedAnswer(f"{self.name}: arguments are not an object")
        # Some servers number the calls of each answer anew, which tools take for a repetition.
        return ToolCall(new_call_id(), self.name, arguments)


def load_model(config: LlmConfig) -> tuple[ReplyModel, str]:
    """Load the model that the configuration names; slow, and to be run in a thread.

    Returns:
        The model, and a line that says which and why.

    Raises:
        ConfigError: A remote model's key is missing.
        ModelError: The checkpoint is missing or malformed.
    """
    if config.engine == "remote":
        remote = RemoteModel(config)
        return remote, f"language model: {remote.name} (llm.engine = remote)"
    import torch

    from dlm.engine import SHIPPED, Engine

    directory = Path(config.checkpoint).expanduser() if config.checkpoint else SHIPPED
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    # bfloat16 products are slower by far than float32 on most CPUs.
    dtype = config.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
    torch.set_num_threads(config.threads or min(4, os.cpu_count() or 1))
    try:
        engine = Engine.load(directory, getattr(torch, dtype), device)
    except (OSError, ValueError) as error:
        raise ModelError(f"llm.checkpoint: {error}") from error
    line = f"language model: {directory.name} on {device}, {dtype} (llm.engine = embedded)"
    return EmbeddedModel(engine, directory.name), line


def _request(prompt: Prompt) -> Any:
    from dlm.effort import Effort
    from dlm.engine import Request
    from dlm.template import Tool

    return Request(
        turns=tuple(_turn(message) for message in prompt.messages),
        tools=tuple(Tool(t.name, t.description, t.parameters) for t in prompt.tools),
        tool_choice=prompt.tool_choice,
        said=prompt.said or None,
        effort=Effort(prompt.effort),
        max_tokens=prompt.max_tokens,
    )


def _done(answer: Answer, cut: bool, usage: Usage) -> AnswerDone:
    calls = tuple(ToolCall(new_call_id(), call.name, dict(call.arguments)) for call in answer.calls)
    return AnswerDone(calls, cut, usage.prompt_tokens, usage.answer_tokens)


def _turn(message: Message) -> Any:
    from dlm.template import Call, Turn

    calls = tuple(Call(call.name, call.arguments) for call in message.tool_calls)
    role = "assistant" if message.role is Role.AGENT else message.role.value
    return Turn(role, message.content, calls)


def _chat_message(message: Message) -> dict[str, Any]:
    if message.role is Role.TOOL:
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if message.role is not Role.AGENT:
        return {"role": message.role.value, "content": message.content}
    out: dict[str, Any] = {"role": "assistant", "content": message.content or None}
    if message.tool_calls:
        out["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    return out


def _chat_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _chat_choice(choice: str) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}
