"""A language model behind an OpenAI-compatible API: Mercury 2, vLLM, or this project's own."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from voice.config import LlmConfig, secret
from voice.errors import ConfigError, ModelError
from voice.llm.base import AnswerDone, ModelEvent, Prompt, TextPiece
from voice.llm.openai_calls import Calls
from voice.llm.openai_text import AnswerText, without_surrogates
from voice.types import Message, Role, ToolSpec

_SHORTEST_KEY = 8
"""Characters; what is shorter ("none", for a server that wants no key) is no secret."""
_LONGEST_REASON = 300
_PASSING = (408, 409, 429)
_PAUSE_S = 0.5
"""Before a request is made once more, where the server does not say how long."""
_NEWER_LIMIT = "max_completion_tokens"
"""What newer models of OpenAI's call ``max_tokens``, which they refuse."""

_log = logging.getLogger(__name__)


class RemoteModel:
    """An OpenAI-compatible server: Mercury 2, vLLM, or this project's own.

    Raises:
        ConfigError: The key is missing or cannot be sent, or the address is none.
    """

    def __init__(self, config: LlmConfig) -> None:
        from openai import AsyncOpenAI

        remote = config.remote
        self._key = _key(config)
        self.name = f"{remote.model} at {remote.base_url}"
        self._config = config
        self._refused: set[tuple[str, str]] = set()
        if not remote.base_url.startswith(("http://", "https://")):
            raise ConfigError(
                f"llm.remote.base_url: got {remote.base_url!r}; expected an address that begins"
                " with http:// or https://"
            )
        try:
            self._client = AsyncOpenAI(
                base_url=remote.base_url, api_key=self._key, timeout=remote.timeout_s, max_retries=0
            )
        except Exception as error:  # of the HTTP library, which looks for proxies here as well
            raise ConfigError(
                f"llm.remote: no connection to {remote.base_url} can be made: {error}"
            ) from error

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        calls, text = Calls(), AnswerText()
        finish, usage = None, (0, 0)
        async with aclosing(self._chunks(prompt)) as chunks:
            async for chunk in chunks:
                if chunk.usage is not None:
                    tokens = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
                    usage = (_count(tokens[0]), _count(tokens[1]))
                for choice in chunk.choices or ():
                    finish = choice.finish_reason or finish
                    if choice.delta is None:
                        continue
                    if piece := text.push(choice.delta.content or choice.delta.refusal):
                        yield TextPiece(piece)
                    for delta in choice.delta.tool_calls or ():
                        calls.add(delta)
        if piece := text.flush():
            yield TextPiece(piece)
        if finish == "content_filter":
            raise self._failed("the server's filter ended the answer")
        if not text.any and not calls:
            if finish is None:
                raise self._failed("the answer is no stream of events, or broke off")
            if finish == "length":
                raise self._failed(f"{prompt.max_tokens} tokens were over before the first word")
        yield AnswerDone(calls.made(prompt.tools, finish is not None), finish == "length", *usage)

    async def _chunks(self, prompt: Prompt) -> AsyncGenerator[Any, None]:
        """The answer's chunks as the server sends them; closing this ends the request.

        Raises:
            ModelError: The server failed, or was silent for too long.
        """
        import openai

        now, longest_s = asyncio.get_running_loop().time, self._config.remote.timeout_s
        # The client's own time limit begins anew with each retry and each keep-alive line.
        until = now() + longest_s
        try:
            async with asyncio.timeout_at(until):
                stream = await self._asked(prompt, until)
            async with aclosing(stream):
                while True:
                    async with asyncio.timeout_at(until):
                        chunk = await anext(stream, None)
                    if chunk is None:
                        return
                    yield chunk
                    until = now() + longest_s
        except TimeoutError as error:
            raise self._failed(f"nothing came within {longest_s:g} s") from error
        except openai.OpenAIError as error:
            raise self._failed(f"{type(error).__name__}: {_reason(error)}") from error
        except ValueError as error:
            raise self._failed(f"a chunk of the answer cannot be read: {error}") from error

    async def _asked(self, prompt: Prompt, until: float) -> Any:
        """Ask, and once more where a server that is busy or gone may be back in time.

        What the server refuses to be told is left out, and from now on.
        """
        import openai

        tried = False
        while True:
            fields = self._fields(prompt)
            try:
                return await self._client.chat.completions.create(**fields)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refused = self._refused_in(error.response.text, fields)
                if refused is None:
                    raise
                if refused not in self._refused:
                    told = " ".join(refused).strip()
                    _log.warning("%s refuses %s: it is sent no more", self.name, told)
                self._refused.add(refused)
            except openai.APIError as error:
                wait_s = _again_after_s(error)
                left_s = until - asyncio.get_running_loop().time()
                if tried or wait_s is None or wait_s >= left_s:
                    raise
                tried = True
                await asyncio.sleep(wait_s)

    def _fields(self, prompt: Prompt) -> dict[str, Any]:
        remote = self._config.remote
        limit = _NEWER_LIMIT if ("max_tokens", "") in self._refused else "max_tokens"
        body: dict[str, Any] = {limit: prompt.max_tokens}
        if ("reasoning_effort", prompt.effort) not in self._refused:
            body["reasoning_effort"] = prompt.effort
        fields: dict[str, Any] = {
            "model": remote.model,
            "messages": [_chat_message(message) for message in prompt.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "extra_body": {**body, **remote.extra_body},
        }
        if prompt.tools:
            fields["tools"] = [_chat_tool(tool) for tool in prompt.tools]
            fields["tool_choice"] = _chat_choice(prompt.tool_choice)
        return fields

    def _refused_in(self, told: str, fields: dict[str, Any]) -> tuple[str, str] | None:
        """Which field a server complains of, and its value where others may do.

        vLLM and OpenAI's models know no effort "instant", others none at all; Ollama calls it
        "reasoning value".
        """
        sent, theirs = fields["extra_body"], self._config.remote.extra_body
        if _NEWER_LIMIT in told and "max_tokens" in sent.keys() - theirs.keys():
            return "max_tokens", ""
        if "reasoning" in told and "reasoning_effort" in sent.keys() - theirs.keys():
            return "reasoning_effort", sent["reasoning_effort"]
        return None

    def _failed(self, reason: str) -> ModelError:
        """What went wrong, without the key, which some servers repeat, and not at any length."""
        if len(self._key) >= _SHORTEST_KEY:
            reason = reason.replace(self._key, "[key]")
        return ModelError(f"{self.name} failed: {reason[:_LONGEST_REASON]}")

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


def _key(config: LlmConfig) -> str:
    """The key, without the line's end that a file leaves behind it.

    Raises:
        ConfigError: There is none, or it cannot stand in a header.
    """
    remote = config.remote
    key = (secret(remote.api_key_env) or "").strip()
    if not key:
        raise ConfigError(
            f"llm.remote.api_key_env: got {remote.api_key_env}, which is not set; "
            f"expected the key for {remote.base_url} in the environment"
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"llm.remote.api_key_env: got {remote.api_key_env}, which holds what no header can;"
            " expected printable ASCII"
        )
    return key


def _reason(error: Exception) -> str:
    """What an error of the client's says, and what is behind one that says nothing."""
    body = getattr(error, "body", None)
    told = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    reason = str(error)
    if isinstance(told, str) and told not in reason and not told.lstrip().startswith("<"):
        reason = f"{reason} {told}"
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return reason if str(cause) in reason else f"{reason} {cause}"


def _count(tokens: Any) -> int:
    """How many tokens a server says; 0 where it does not."""
    return tokens if isinstance(tokens, int) else 0


def _again_after_s(error: Exception) -> float | None:
    """How long to wait before asking again; None where that would not help."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return None
    if isinstance(error, openai.APIConnectionError):
        return _PAUSE_S
    if not isinstance(error, openai.APIStatusError):
        return None
    if error.status_code not in _PASSING and error.status_code < 500:
        return None
    try:
        return max(0.0, float(error.response.headers.get("retry-after", _PAUSE_S)))
    except ValueError:
        return _PAUSE_S


def _chat_message(message: Message) -> dict[str, Any]:
    # What a client typed may hold one, and nothing can be sent that does.
    content = without_surrogates(message.content)
    if message.role is Role.TOOL:
        return {"role": "tool", "tool_call_id": message.call_id, "content": content}
    if message.role is not Role.AGENT:
        return {"role": message.role.value, "content": content}
    out: dict[str, Any] = {"role": "assistant", "content": content or None}
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
