"""Responses that Starlette does not have: error objects, and streams that end with their client."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from dlm.server.errors import ApiError
from dlm.server.running import while_connected

# nginx's status for a client that left; nobody receives it.
CLIENT_LEFT = 499


def error_response(error: ApiError) -> JSONResponse:
    """An error object with its status and headers."""
    return JSONResponse(error.body(), error.status, error.headers())


class EventStream(Response):
    """Server-sent events.

    Args:
        lines: What is sent.
        source: What the lines are made from; closed at the end in any case.
    """

    media_type = "text/event-stream"

    def __init__(
        self, lines: AsyncGenerator[bytes, None], source: AsyncGenerator[Any, None]
    ) -> None:
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._lines = lines
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        async with aclosing(self._source):
            # A client that left needs no answer.
            with suppress(ClientDisconnect, OSError):
                await while_connected(self._send(send), receive)

    async def _send(self, send: Send) -> None:
        async with aclosing(self._lines) as lines:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            async for line in lines:
                await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
