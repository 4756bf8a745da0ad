"""A language model on an OpenAI-compatible server: Mercury 2, vLLM, or this project's own."""

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
from voice.llm.openai_stream import AnswerCalls, AnswerText, without_surrogates
from voice.types import Message, Role, ToolSpec

_SHORTEST_KEY = 8
"""In characters; a shorter key (such as "none" for a server without keys) is not a secret."""
_LONGEST_REASON = 300
_RETRIED_STATUS = (408, 409, 429)
_RETRY_PAUSE_S = 0.5
"""Pause before the second try, if the server does not name one."""
_NEWER_LIMIT = "max_completion_tokens"
"""The newer name of ``max_tokens``; newer OpenAI models refuse the old one."""

_log = logging.getLogger(__name__)


class RemoteModel:
    """An OpenAI-compatible server: Mercury 2, vLLM, or this project's own.

    Raises:
        ConfigError: The key is missing or cannot be sent, or the address is not a URL.
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
        except Exception as error:  # raised by the HTTP library, which also looks up proxies here
            raise ConfigError(
                f"llm.remote: no connection to {remote.base_url} can be made: {error}"
            ) from error

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        calls, text = AnswerCalls(), AnswerText()
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
                raise self._failed("the answer is no event stream, or broke off")
            if finish == "length":
                raise self._failed(f"{prompt.max_tokens} tokens were over before the first word")
        yield AnswerDone(calls.finish(prompt.tools, finish is not None), finish == "length", *usage)

    async def _chunks(self, prompt: Prompt) -> AsyncGenerator[Any, None]:
        """The answer's chunks as the server sends them; closing this ends the request.

        Raises:
            ModelError: The server failed, or was silent for too long.
        """
        import openai

        now, timeout_s = asyncio.get_running_loop().time, self._config.remote.timeout_s
        # The client's own timeout restarts with every retry and every keep-alive line.
        deadline = now() + timeout_s
        try:
            async with asyncio.timeout_at(deadline):
                stream = await self._request(prompt, deadline)
            async with aclosing(stream):
                while True:
                    async with asyncio.timeout_at(deadline):
                        chunk = await anext(stream, None)
                    if chunk is None:
                        return
                    yield chunk
                    deadline = now() + timeout_s
        except TimeoutError as error:
            raise self._failed(f"nothing came within {timeout_s:g} s") from error
        except openai.OpenAIError as error:
            raise self._failed(f"{type(error).__name__}: {_reason(error)}") from error
        except ValueError as error:
            raise self._failed(f"a chunk of the answer cannot be read: {error}") from error

    async def _request(self, prompt: Prompt, deadline: float) -> Any:
        """The stream of an answer; a busy or unreachable server is asked a second time.

        A field or value that the server refuses is not sent again, in this request or later.
        """
        import openai

        retried = False
        while True:
            fields = self._fields(prompt)
            try:
                return await self._client.chat.completions.create(**fields)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refused = self._refused_field(error.response.text, fields)
                if refused is None:
                    raise
                if refused not in self._refused:
                    field = " ".join(refused).strip()
                    _log.warning("%s refuses %s: it is sent no more", self.name, field)
                self._refused.add(refused)
            except openai.APIError as error:
                wait_s = _retry_after_s(error)
                left_s = deadline - asyncio.get_running_loop().time()
                if retried or wait_s is None or wait_s >= left_s:
                    raise
                retried = True
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

    def _refused_field(self, message: str, fields: dict[str, Any]) -> tuple[str, str] | None:
        """The field that a server's error names, with its value if only that value is refused.

        Many servers do not know the effort "instant", and others no effort at all; Ollama calls it
        "reasoning value".
        """
        sent, theirs = fields["extra_body"], self._config.remote.extra_body
        if _NEWER_LIMIT in message and "max_tokens" in sent.keys() - theirs.keys():
            return "max_tokens", ""
        if "reasoning" in message and "reasoning_effort" in sent.keys() - theirs.keys():
            return "reasoning_effort", sent["reasoning_effort"]
        return None

    def _failed(self, reason: str) -> ModelError:
        """An error of limited length, without the key, which some servers repeat in theirs."""
        if len(self._key) >= _SHORTEST_KEY:
            reason = reason.replace(self._key, "[key]")
        return ModelError(f"{self.name} failed: {reason[:_LONGEST_REASON]}")

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """None: the API has no such request."""
        del prompt
        return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """Do nothing: the API has no such request."""

    def warm_up(self, prompt: Prompt) -> None:
        """Do nothing: the server warms itself up, and every request costs money."""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _key(config: LlmConfig) -> str:
    """The server's key.

    Raises:
        ConfigError: The key is missing, or a header cannot hold it.
    """
    remote = config.remote
    key = secret(remote.api_key_env)
    if key is None:
        raise ConfigError(
            f"llm.remote.api_key_env: got {remote.api_key_env}, which is not set; "
            f"expected the key for {remote.base_url} in the environment"
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"llm.remote.api_key_env: got {remote.api_key_env}, which a header cannot hold;"
            " expected printable ASCII"
        )
    return key


def _reason(error: Exception) -> str:
    """An error's text, with the server's message and the root cause added if it lacks them."""
    body = getattr(error, "body", None)
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    reason = str(error)
    if isinstance(message, str) and message not in reason and not message.lstrip().startswith("<"):
        reason = f"{reason} {message}"
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return reason if str(cause) in reason else f"{reason} {cause}"


def _count(tokens: Any) -> int:
    """A server's count of tokens; 0 if it sends none."""
    return tokens if isinstance(tokens, int) else 0


def _retry_after_s(error: Exception) -> float | None:
    """Pause before the second try; None if a second try would not help."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return None
    if isinstance(error, openai.APIConnectionError):
        return _RETRY_PAUSE_S
    if not isinstance(error, openai.APIStatusError):
        return None
    if error.status_code not in _RETRIED_STATUS and error.status_code < 500:
        return None
    try:
        return max(0.0, float(error.response.headers.get("retry-after", _RETRY_PAUSE_S)))
    except ValueError:
        return _RETRY_PAUSE_S


def _chat_message(message: Message) -> dict[str, Any]:
    # A message typed in a client may hold a lone surrogate, which cannot be encoded.
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
