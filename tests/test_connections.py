import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect

from tests.serving import serving
from voice.config import ServerConfig
from voice.connections import Connections


def test_connections_are_counted_by_address_and_in_all() -> None:
    connections = Connections(most=3, most_per_address=2)
    assert [connections.enter("a") for _ in range(3)] == [True, True, False]
    assert connections.enter("b")
    assert not connections.enter("c")
    connections.leave("a")
    assert connections.enter("c")
    assert connections.total == 3


def test_a_proxy_stands_for_many() -> None:
    connections = Connections(most=3, most_per_address=1, proxies=("10.0.0.1",))
    assert [connections.enter("10.0.0.1") for _ in range(4)] == [True, True, True, False]


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse((await request.body()).decode() or "hello")


async def _echo(socket: WebSocket) -> None:
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(text)


@asynccontextmanager
async def running(**options: Any) -> AsyncGenerator[str, None]:
    routes = [Route("/", _hello, methods=["GET", "POST"]), WebSocketRoute("/ws", _echo)]
    async with serving(Starlette(routes=routes), ServerConfig(port=0, **options)) as address:
        yield address


async def opened(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = address.split(":")
    return await asyncio.open_connection(host, int(port))


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """What arrives until the connection ends, by whatever end."""
    async with asyncio.timeout(5):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [b"GET / HTTP/1.1\r\nHost: x\r\n"],
        [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", b"slow"],
    ],
)
async def test_a_request_that_does_not_arrive_is_not_waited_for(pieces: list[bytes]) -> None:
    async with running(handshake_timeout_s=0.1) as address:
        reader, writer = await opened(address)
        for piece in pieces:
            writer.write(piece)
        assert await read_all(reader) == b""
        writer.close()


async def test_a_second_request_is_not_waited_for_either() -> None:
    async with running(handshake_timeout_s=0.1) as address:
        reader, writer = await opened(address)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(5):
            assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HT")
        assert await read_all(reader) == b""
        writer.close()


async def test_a_request_in_time_is_answered_and_its_connection_kept() -> None:
    async with (
        running(handshake_timeout_s=0.2) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        for body in ("", "one", "two"):
            assert (await http.post("/", content=body)).text == body or "hello"
        async with connect(f"ws://{address}/ws") as socket:
            # The deadline was for the request; the conversation is not bound by it.
            await asyncio.sleep(0.3)
            await socket.send("still here")
            assert await socket.recv() == "still here"


async def test_one_connection_too_many_gets_no_answer() -> None:
    async with running(max_connections_per_address=2) as address:
        async with connect(f"ws://{address}/ws") as first, connect(f"ws://{address}/ws") as second:
            reader, writer = await opened(address)
            assert await read_all(reader) == b""
            writer.close()
            for socket in (first, second):
                await socket.send("x")
                assert await socket.recv() == "x"
        # Ended WebSockets have given their places back.
        async with httpx.AsyncClient(base_url=f"http://{address}") as http:
            assert (await http.get("/")).text == "hello"


async def test_idle_connections_leave_room_for_a_live_one() -> None:
    async with running(max_connections_per_address=256) as address:
        idle = [await opened(address) for _ in range(200)]
        async with connect(f"ws://{address}/ws") as socket:
            await socket.send("x")
            assert await socket.recv() == "x"
        for _, writer in idle:
            writer.close()
