import asyncio
import socket as sockets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidMessage, InvalidStatus

from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from tests.support.steady_time import steady
from voice.config import ServerConfig
from voice.server.uvicorn_limits import LEAST_BODY_BYTES, UNKNOWN, Connections, Proxies

TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def test_connections_are_counted_by_address_and_in_all() -> None:
    connections = Connections(most=3, most_per_address=2)
    assert [connections.enter("a") for _ in range(3)] == [None, None, TOO_MANY]
    assert connections.enter("b") is None
    assert connections.enter("c") is HTTPStatus.SERVICE_UNAVAILABLE
    connections.leave("a")
    assert connections.enter("c") is None
    assert connections.total == 3
    behind = Connections(most=3, most_per_address=1, proxies=Proxies(["10.0.0.0/8"]))
    full = HTTPStatus.SERVICE_UNAVAILABLE
    assert [behind.enter("10.0.0.1") for _ in range(4)] == [None, None, None, full]


def test_one_network_of_ipv6_is_one_address() -> None:
    connections = Connections(most=9, most_per_address=2)
    ours = [connections.enter(f"2001:db8:0:1::{number}") for number in range(3)]
    assert ours == [None, None, TOO_MANY]
    assert connections.enter("2001:db8:0:2::1") is None
    assert connections.enter("::ffff:192.0.2.1") is None
    assert connections.enter("192.0.2.1") is None
    assert connections.enter("::ffff:192.0.2.1") is TOO_MANY


@pytest.mark.parametrize(
    ("forwarded_for", "client"),
    [
        ("203.0.113.7", "203.0.113.7"),
        # A client writes what it likes in front; the proxy appends whom it sees.
        ("127.0.0.1, 203.0.113.7", "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7, 10.0.0.2", "203.0.113.7"),
        ("203.0.113.7:4711", "203.0.113.7"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("203.0.113.7, nonsense", UNKNOWN),
        ("10.0.0.3", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_whom_a_proxy_speaks_for(forwarded_for: str, client: str) -> None:
    assert Proxies(["10.0.0.0/8"]).client_of(forwarded_for) == client


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


# A connection without a request lasts as long where nothing else is asked for.
BY_DEFAULT_S = ServerConfig().handshake_timeout_s


async def opened(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = address.split(":")
    return await asyncio.open_connection(host, int(port))


async def read_all(reader: asyncio.StreamReader, within_s: float = PATIENCE_S) -> bytes:
    """What arrives until the connection ends, by whatever end."""
    async with asyncio.timeout(within_s):
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
        assert await read_all(reader, BY_DEFAULT_S) == b""
        writer.close()


@steady
async def test_a_large_body_may_take_longer_as_long_as_it_comes() -> None:
    async with running(handshake_timeout_s=1.0) as address:
        for pause_s, answer in ((0.15, b"HTTP/1.1 200"), (1.5, b"")):
            reader, writer = await opened(address)
            body = b"x" * LEAST_BODY_BYTES
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n")
            writer.write(f"Content-Length: {10 * len(body)}\r\n\r\n".encode())
            for _ in range(10):
                writer.write(body)
                await asyncio.sleep(pause_s)
                if writer.is_closing():
                    break
            assert (await read_all(reader)).startswith(answer)
            assert writer.is_closing() == (not answer)
            writer.close()


@steady
async def test_a_second_request_is_not_waited_for_either() -> None:
    # The first has to arrive within that.
    async with running(handshake_timeout_s=1.0) as address:
        reader, writer = await opened(address)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S):
            assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HT")
        assert await read_all(reader, BY_DEFAULT_S) == b""
        writer.close()


@steady
async def test_a_request_in_time_is_answered_and_its_connection_kept() -> None:
    async with (
        running(handshake_timeout_s=1.0) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        for body in ("", "one", "two"):
            assert (await http.post("/", content=body)).text == (body or "hello")
        async with connect(f"ws://{address}/ws") as socket:
            # The deadline was for the request; the conversation is not bound by it.
            await asyncio.sleep(1.2)
            await socket.send("still here")
            assert await socket.recv() == "still here"


async def test_one_connection_too_many_is_told_to_come_again() -> None:
    async with running(max_connections_per_address=2) as address:
        async with connect(f"ws://{address}/ws") as first, connect(f"ws://{address}/ws") as second:
            reader, writer = await opened(address)
            answer = await read_all(reader)
            assert answer.startswith(b"HTTP/1.1 429 ")
            assert b"Retry-After: 5" in answer
            writer.close()
            for socket in (first, second):
                await socket.send("x")
                assert await socket.recv() == "x"
        # Ended WebSockets have given their places back.
        async with httpx.AsyncClient(base_url=f"http://{address}") as http:
            assert (await http.get("/")).text == "hello"


async def test_behind_a_proxy_each_of_its_clients_has_its_own_limit() -> None:
    limits = {"max_connections_per_address": 1, "trusted_proxies": ["127.0.0.0/8"]}

    def named(client: str) -> dict[str, Any]:
        return {"additional_headers": {"X-Forwarded-For": f"10.9.9.9, {client}"}}

    async with running(**limits) as address:
        url = f"ws://{address}/ws"
        async with connect(url, **named("203.0.113.7")), connect(url, **named("203.0.113.8")):
            with pytest.raises(InvalidStatus) as refused:
                async with connect(url, **named("203.0.113.7")):
                    pass
            assert refused.value.response.status_code == 429
            assert refused.value.response.headers["Retry-After"] == "5"
            async with httpx.AsyncClient(base_url=f"http://{address}") as http:
                same = {"X-Forwarded-For": "203.0.113.8"}
                assert (await http.get("/", headers=same)).status_code == 429
                other = {"X-Forwarded-For": "203.0.113.9"}
                assert (await http.get("/", headers=other)).text == "hello"
        async with connect(url, **named("203.0.113.7")) as socket:
            await socket.send("x")
            assert await socket.recv() == "x"


async def test_nobody_else_is_believed_about_who_they_are() -> None:
    async with running(max_connections_per_address=2) as address:
        url = f"ws://{address}/ws"
        one, two, three = (
            {"additional_headers": {"X-Forwarded-For": f"203.0.113.{n}"}} for n in (1, 2, 3)
        )
        async with connect(url, **one), connect(url, **two):
            reader, writer = await opened(address)
            assert (await read_all(reader)).startswith(b"HTTP/1.1 429 ")
            writer.close()
            with pytest.raises((InvalidStatus, InvalidMessage, ConnectionError)):
                async with connect(url, **three):
                    pass


async def test_the_application_learns_whom_a_trusted_proxy_named() -> None:
    async def whoami(request: Request) -> PlainTextResponse:
        assert request.client is not None
        return PlainTextResponse(request.client.host)

    app = Starlette(routes=[Route("/", whoami)])
    named = {"X-Forwarded-For": "203.0.113.7"}
    for trusted, seen in (((), "127.0.0.1"), (("127.0.0.1",), "203.0.113.7")):
        config = ServerConfig(port=0, trusted_proxies=trusted)
        async with (
            serving(app, config) as address,
            httpx.AsyncClient(base_url=f"http://{address}") as http,
        ):
            assert (await http.get("/", headers=named)).text == seen


async def test_a_dead_peer_is_noticed() -> None:
    over = asyncio.Event()

    async def endpoint(socket: WebSocket) -> None:
        await socket.accept()
        assert (await socket.receive())["type"] == "websocket.disconnect"
        over.set()

    app = Starlette(routes=[WebSocketRoute("/ws", endpoint)])
    async with serving(app, ServerConfig(port=0, ping_s=0.1)) as address:
        reader, writer = await opened(address)
        writer.write(UPGRADE)
        # It takes what it is sent, pings among it, and answers none of it.
        reading = asyncio.create_task(read_all(reader))
        async with asyncio.timeout(ServerConfig().ping_s):
            await over.wait()
        writer.close()
        assert (await reading).startswith(b"HTTP/1.1 101 ")


@steady
async def test_a_server_that_is_behind_drops_nobody() -> None:
    async def endpoint(socket: WebSocket) -> None:
        await socket.accept()
        async for text in socket.iter_text():
            # Busy for much longer, all messages together, than a ping's answer may take.
            await asyncio.sleep(0.03)
            if text == "last":
                await socket.send_text(text)

    app = Starlette(routes=[WebSocketRoute("/ws", endpoint)])
    async with (
        serving(app, ServerConfig(port=0, ping_s=0.1)) as address,
        connect(f"ws://{address}/ws") as socket,
    ):
        for text in [*["x" * 1000] * 20, "last"]:
            await socket.send(text)
        async with asyncio.timeout(PATIENCE_S):
            assert await socket.recv() == "last"


async def test_idle_connections_leave_room_for_a_live_one() -> None:
    async with running(max_connections_per_address=256) as address:
        idle = [await opened(address) for _ in range(200)]
        async with connect(f"ws://{address}/ws") as socket:
            await socket.send("x")
            assert await socket.recv() == "x"
        for _, writer in idle:
            writer.close()


PING, PONG, TEXT_BEGUN, TEXT_GOES_ON = b"\x89", b"\x8a", b"\x01", b"\x00"
# Empty, and masked with zeros.
EMPTY = b"\x80\x00\x00\x00\x00"


async def _much(request: Request) -> PlainTextResponse:
    # More than the system keeps for a far side.
    return PlainTextResponse("x" * 8_000_000)


async def _some(request: Request) -> PlainTextResponse:
    return PlainTextResponse("x" * 300_000)


async def _talkative(socket: WebSocket) -> None:
    await socket.accept()
    with suppress(TimeoutError):
        async with asyncio.timeout(0.2):
            while True:
                await socket.send_text("x" * 300_000)


def deaf(address: str) -> sockets.socket:
    """A connection that takes little before it is read from."""
    far = sockets.socket()
    far.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    host, port = address.split(":")
    far.connect((host, int(port)))
    far.setblocking(False)
    return far


@pytest.mark.parametrize(
    "asked",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 20,
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        UPGRADE,
    ],
    ids=["many answers", "one answer, the connection over", "a conversation, given up"],
)
async def test_who_does_not_read_does_not_keep_a_place(asked: bytes) -> None:
    app = Starlette(routes=[Route("/", _much), WebSocketRoute("/ws", _talkative)])
    config = ServerConfig(port=0, max_connections_per_address=1, send_timeout_s=0.2)
    async with serving(app, config) as address:
        with closing(deaf(address)) as far:
            await asyncio.get_running_loop().sock_sendall(far, asked)
            async with asyncio.timeout(PATIENCE_S):
                while not await _is_let_in(address):
                    await asyncio.sleep(0.05)


async def _is_let_in(address: str) -> bool:
    async with httpx.AsyncClient(base_url=f"http://{address}") as http:
        try:
            return (await http.get("/")).status_code == 200
        except httpx.TransportError:
            # Refused before it was read.
            return False


@steady
async def test_who_reads_slowly_gets_all() -> None:
    app = Starlette(routes=[Route("/", _some)])
    async with serving(app, ServerConfig(port=0, send_timeout_s=0.3)) as address:
        loop = asyncio.get_running_loop()
        with closing(deaf(address)) as far:
            await loop.sock_sendall(far, b"GET / HTTP/1.0\r\nHost: x\r\n\r\n")
            got = b""
            async with asyncio.timeout(PATIENCE_S):
                while piece := await loop.sock_recv(far, 20_000):
                    got += piece
                    await asyncio.sleep(0.03)
        assert got.endswith(b"\r\n\r\n" + b"x" * 300_000)


@pytest.mark.parametrize(
    ("first", "more"),
    [(b"", PING), (b"", PONG), (TEXT_BEGUN + EMPTY, TEXT_GOES_ON)],
    ids=["pings", "pongs", "pieces"],
)
async def test_frames_that_are_no_messages_are_counted(first: bytes, more: bytes) -> None:
    async with running(max_messages_per_s=10) as address:
        reader, writer = await opened(address)
        writer.write(UPGRADE)
        async with asyncio.timeout(PATIENCE_S):
            await reader.readuntil(b"\r\n\r\n")
        # Ten seconds' worth, eight for each message, and more.
        writer.write(first + (more + EMPTY) * 1500)
        answer = await read_all(reader, ServerConfig().ping_s / 2)
        assert answer.endswith(b"too many frames") or not answer
        writer.close()


async def test_a_message_may_come_in_many_pieces() -> None:
    async with (
        running(max_messages_per_s=10) as address,
        connect(f"ws://{address}/ws") as socket,
    ):
        for _ in range(3):
            await socket.send(["x"] * 200)
            assert await socket.recv() == "x" * 200
