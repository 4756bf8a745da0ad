"""What endpoints have in common: reading bounded bodies, and refusing requests."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dlm.server.request_checks import bounded as checked_length
from voice.errors import ProtocolError


def bounded(request: Request, most_bytes: int) -> AsyncGenerator[bytes, None]:
    """A request's body, piece by piece as it arrives.

    Raises:
        ProtocolError: It is too long.
    """
    too_long = ProtocolError(f"the body is longer than {most_bytes} bytes", "too_large")
    return checked_length(request.stream(), most_bytes, too_long)


def server_sent(event: Mapping[str, Any]) -> str:
    """An event of a stream, as OpenAI's audio endpoints send them."""
    return f"data: {json.dumps(event)}\n\n"


def refusal(status: int, message: str, code: str, param: str | None = None) -> Response:
    """An error response in the form of OpenAI's API."""
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    return JSONResponse({"error": error}, status)
