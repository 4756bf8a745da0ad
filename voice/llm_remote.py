"""A language model behind an OpenAI-compatible API: Mercury 2, vLLM, or this project's own."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from voice.config import LlmConfig, secret
from voice.errors import ConfigError, ModelError
from voice.llm import AnswerDone, MalformedAnswer, ModelEvent, Prompt, TextPiece, new_call_id
from voice.types import Message, Role, ToolCall, ToolSpec


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

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """None: the API does not tell."""
        del prompt
        return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """Nothing: the API does not tell what it takes before it is asked."""

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
