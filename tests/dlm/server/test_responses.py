from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from starlette.types import Message

from dlm.server.errors import ApiError, error_response
from dlm.server.execution import EventStream

SCOPE = {"type": "http", "method": "POST", "headers": []}


async def stay() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def leave() -> Message:
    return {"type": "http.disconnect"}


class Lines:
    """Two lines, then nothing for ever if it is to hang."""

    def __init__(self, hangs: bool) -> None:
        self._hangs = hangs
        self.closed = False

    async def run(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            yield b"b"
            if self._hangs:
                await asyncio.Event().wait()
        finally:
            self.closed = True


async def test_lines_are_sent_as_they_are() -> None:
    lines, source = Lines(hangs=False), Lines(hangs=False)
    begun = source.run()
    await anext(begun)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await EventStream(lines.run(), begun)(SCOPE, stay, send)
    headers = dict(sent[0]["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert b"content-length" not in headers
    assert [message["body"] for message in sent[1:]] == [b"a", b"b", b""]
    assert lines.closed
    assert source.closed


async def test_a_client_that_leaves_ends_the_stream() -> None:
    source = Lines(hangs=True)
    begun = source.run()
    await anext(begun)

    async def send(message: Message) -> None:
        pass

    async with asyncio.timeout(5):
        await EventStream(Lines(hangs=True).run(), begun)(SCOPE, leave, send)
    assert source.closed


async def test_a_client_that_cannot_be_sent_to_ends_the_stream() -> None:
    source = Lines(hangs=True)
    begun = source.run()
    await anext(begun)

    async def send(message: Message) -> None:
        raise OSError("gone")

    await EventStream(Lines(hangs=True).run(), begun)(SCOPE, stay, send)
    assert source.closed


def test_an_error_object_with_its_status() -> None:
    response = error_response(ApiError(429, "busy", "engine_full"))
    assert response.status_code == 429
    assert response.headers["retry-after"] == "1"
    assert b'"rate_limit_error"' in bytes(response.body)
