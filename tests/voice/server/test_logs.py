"""What the log has of clients that are refused or send rubbish: a line, and no more with more.

And what it has of errors: where they arose.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from voice.server.seldom import MOST

UPGRADE = (
    b"Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
RUBBISH = {
    "no HTTP": b"GARBAGE\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "no key": b"GET /ws HTTP/1.1\r\n" + UPGRADE.replace(b"Sec-WebSocket-Key", b"X"),
    "a bad key": b"GET /ws HTTP/1.1\r\n" + UPGRADE.replace(b"AAAA==", b"A"),
    "no upgrade to have": b"GET / HTTP/1.1\r\n" + UPGRADE.replace(b"websocket", b"h2c"),
    "another method": b"POST /ws HTTP/1.1\r\n" + UPGRADE,
    "refused": b"GET /denied HTTP/1.1\r\n" + UPGRADE,
    "a frame that is none": b"GET /ws HTTP/1.1\r\n" + UPGRADE + b"\xff" * 8,
    "a text that is none": b"GET /ws HTTP/1.1\r\n" + UPGRADE + b"\x81\x81\0\0\0\0\xff",
    "a header that is none": b"GET /ws HTTP/1.1\r\nX: \xff\r\n" + UPGRADE,
    "a path that is none": b"GET /\xff HTTP/1.1\r\n" + UPGRADE,
    "a query that is none": b"GET /ws?%ff HTTP/1.1\r\n" + UPGRADE,
}
"""What is sent; some of it is refused, some ends the connection."""
SAID = "what somebody said"


async def talk(socket: WebSocket) -> None:
    await socket.accept()
    async for _ in socket.iter_text():
        pass


async def fail(request: Request) -> StreamingResponse:
    async def pieces() -> AsyncIterator[str]:
        yield "a"
        raise ValueError(SAID)

    return StreamingResponse(pieces())


async def deny(socket: WebSocket) -> None:
    await socket.send_denial_response(PlainTextResponse("no", 403))


async def send(address: str, data: bytes) -> None:
    host, port = address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    writer.write_eof()
    async with asyncio.timeout(PATIENCE_S):
        with suppress(ConnectionError):
            await reader.read()
    writer.close()


async def logged(data: bytes, times: int, capfd: pytest.CaptureFixture[str]) -> list[str]:
    app = Starlette(routes=[WebSocketRoute("/ws", talk), WebSocketRoute("/denied", deny)])
    async with serving(app) as address:
        for _ in range(times):
            await send(address, data)
    return capfd.readouterr().err.splitlines()


@pytest.mark.parametrize("data", RUBBISH.values(), ids=RUBBISH)
async def test_a_client_is_a_line_at_most(
    data: bytes, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    told = await logged(data, 1, capfd)
    assert len(told) + len(caplog.records) <= 1, (told, caplog.text)
    assert not [line for line in told if "ERROR" in line]
    assert not [record for record in caplog.records if record.exc_info]


async def test_who_is_refused_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    app = Starlette(routes=[WebSocketRoute("/denied", deny)])
    async with serving(app) as address:
        await send(address, RUBBISH["refused"])
    assert [record.getMessage() for record in caplog.records] == ["a WebSocket was refused: 403"]


async def test_more_of_the_same_is_no_more_lines(capfd: pytest.CaptureFixture[str]) -> None:
    told = await logged(RUBBISH["no HTTP"], 30, capfd)
    assert len(told) == MOST
    assert told[-1].endswith("(for a while no more lines like this one)")
    assert told[0].endswith("Invalid HTTP request received.")


async def test_an_error_is_told_without_its_text(capfd: pytest.CaptureFixture[str]) -> None:
    async with serving(Starlette(routes=[Route("/", fail)])) as address:
        await send(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    told = capfd.readouterr().err
    assert "Exception in ASGI application\nValueError\n" in told
    assert f'File "{__file__}"' in told
    assert SAID not in told
