"""Any OpenAI-compatible endpoint in the engine's place, for the same table of others' models."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from dlm.engine import Finished, Request
from dlm.live import Usage
from dlm.template import Answer, Turn, turn_of

TIMEOUT_S = 60.0
KEY = "OPENAI_API_KEY"


class Endpoint:
    """A chat completions endpoint.

    Args:
        url: Base address, up to and including ``/v1``.
        model: Its name there.

    The key is read from the environment variable ``OPENAI_API_KEY``, and may be missing.
    """

    def __init__(self, url: str, model: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must begin with http:// or https://, got {url!r}")
        self._url, self._model = f"{url.rstrip('/')}/chat/completions", model

    def __call__(self, request: Request) -> Finished | None:
        """Answer a request at temperature 0; None when the answer is malformed.

        Raises:
            ConnectionError: The endpoint cannot be reached, or refuses.
        """
        body = json.dumps(_body(request, self._model)).encode()
        headers = {"content-type": "application/json"}
        if key := os.environ.get(KEY):
            headers["authorization"] = f"Bearer {key}"
        asked = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as reply:
                told = json.load(reply)
        except urllib.error.HTTPError as error:
            raise ConnectionError(f"{self._url}: status {error.code}") from error
        except urllib.error.URLError as error:
            raise ConnectionError(f"{self._url}: {error.reason}") from error
        return _finished(told)


def _body(request: Request, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": _messages(request.turns), "temperature": 0}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    return body


def _messages(turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
    """Turns in OpenAI's form, where results name the call that they answer."""
    messages: list[dict[str, Any]] = []
    waiting: list[str] = []
    for turn in turns:
        message: dict[str, Any] = {"role": turn.role, "content": turn.content}
        if turn.calls:
            start = sum(len(m.get("tool_calls", ())) for m in messages)
            waiting = [f"call_{start + i}" for i in range(len(turn.calls))]
            message["tool_calls"] = [
                {
                    "id": name,
                    "type": "function",
                    "function": {"name": c.name, "arguments": json.dumps(dict(c.arguments))},
                }
                for name, c in zip(waiting, turn.calls, strict=True)
            ]
        elif turn.role == "tool" and waiting:
            message["tool_call_id"] = waiting.pop(0)
        messages.append(message)
    return messages


def _finished(told: Mapping[str, Any]) -> Finished | None:
    try:
        turn = turn_of(told["choices"][0]["message"])
    except (KeyError, IndexError, ValueError):
        return None
    used = told.get("usage") or {}
    usage = Usage(used.get("prompt_tokens", 0), 0, used.get("completion_tokens", 0), 0)
    return Finished(Answer(turn.content, turn.calls), "stop", usage)
