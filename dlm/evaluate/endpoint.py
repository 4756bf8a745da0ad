"""An OpenAI-compatible endpoint in place of the engine, for the same table of other models."""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from typing import Any

from dlm.datagen.examples import messages_of
from dlm.engine.engine import Finished, Request
from dlm.engine.request import Usage
from dlm.grammar.formats import JsonSchema
from dlm.language.messages import Answer
from dlm.language.template import turn_of

TIMEOUT_S = 60.0
KEY = "OPENAI_API_KEY"
_SHOWN = 300
"""Longest part of an endpoint's error message that is shown, characters."""


class Endpoint:
    """A chat completions endpoint.

    Args:
        url: Base address, up to and including ``/v1``.

    The key is read from the environment variable ``OPENAI_API_KEY``; it may be unset.

    Attributes:
        timeout_s: Longest time that the endpoint may send nothing.
    """

    def __init__(self, url: str, model: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must begin with http:// or https://, got {url!r}")
        self._url, self._model = f"{url.rstrip('/')}/chat/completions", model
        self.timeout_s = TIMEOUT_S

    def __call__(self, request: Request) -> Finished | None:
        """Answer a request at temperature 0; None when the answer is malformed.

        Raises:
            ConnectionError: The endpoint cannot be reached, is silent, breaks off, or refuses.
        """
        body = json.dumps(_body(request, self._model)).encode()
        headers = {"content-type": "application/json"}
        if key := os.environ.get(KEY):
            headers["authorization"] = f"Bearer {key}"
        asked = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(asked, timeout=self.timeout_s) as reply:
                text = reply.read()
        except urllib.error.HTTPError as error:
            message = f"{self._url}: status {error.code}: {_reason(error)}"
            raise ConnectionError(message.rstrip(": ")) from error
        except TimeoutError as error:
            raise ConnectionError(f"{self._url}: silent for {self.timeout_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise ConnectionError(f"{self._url}: {reason}") from error
        return self._finished(text)

    def _finished(self, text: bytes) -> Finished | None:
        try:
            reply = json.loads(text)
        except ValueError:
            return None
        # Some gateways report errors with status 200.
        if isinstance(reply, dict) and reply.get("error"):
            raise ConnectionError(f"{self._url}: {_message(reply['error'])}")
        return _finished(reply)


def _body(request: Request, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": messages_of(request.turns),
        "temperature": 0,
    }
    if request.tools:
        body["tools"] = [tool.declared for tool in request.tools]
    if isinstance(request.format, JsonSchema):
        schema = {"name": "answer", "schema": request.format.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _reason(error: urllib.error.HTTPError) -> str:
    """The message of an error reply; empty if it cannot be read."""
    try:
        reply = json.loads(error.read())
    except (OSError, ValueError, http.client.HTTPException):
        return ""
    return _message(reply.get("error", reply)) if isinstance(reply, dict) else ""


def _message(error: Any) -> str:
    message = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(message).split())[:_SHOWN]


def _finished(reply: Any) -> Finished | None:
    try:
        turn = turn_of(reply["choices"][0]["message"])
    except (KeyError, IndexError, ValueError, TypeError, AttributeError):
        return None
    used = reply.get("usage") or {}
    usage = Usage(used.get("prompt_tokens") or 0, 0, used.get("completion_tokens") or 0, 0)
    return Finished(Answer(turn.content, turn.calls), "stop", usage)
