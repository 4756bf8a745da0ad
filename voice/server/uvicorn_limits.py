"""uvicorn's protocols with limits on connections, on slow requests and on clients that do not read.

uvicorn neither counts connections by address nor bounds the time for a request to arrive. Behind a
trusted proxy requests are counted instead, by the client address that it forwards.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Mapping
from http import HTTPStatus
from ipaddress import IPv6Address, IPv6Network, ip_network
from typing import Any

import h11
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from dlm.server.request_checks import parsed_address
from voice.access.closing import CloseCode
from voice.access.origins import in_networks
from voice.access.rate_limits import RETRY_AFTER_S, TokenBucket
from voice.config.server import ServerConfig

FRAMES_PER_MESSAGE = 8
"""Pings, pongs and fragments of large messages that may come for each message."""
LEAST_BODY_BYTES = 16 * 1024
"""Amount of a large body that must come within the time allowed for a request to arrive."""
UNKNOWN = "?"
"""Stands for the address of all clients that a proxy does not name."""

_log = logging.getLogger(__name__)


class Proxies:
    """The trusted reverse proxies: addresses and networks."""

    def __init__(self, trusted: Collection[str] = ()) -> None:
        self._networks = [ip_network(one) for one in trusted]

    def __contains__(self, address: object) -> bool:
        return in_networks(str(address), self._networks)

    def client_of(self, forwarded_for: str) -> str:
        """The client behind a proxy: the last untrusted address in ``X-Forwarded-For``.

        Addresses before it are merely claimed by that client.
        """
        for named in reversed(forwarded_for.split(",")):
            address = _without_port(named.strip())
            if parsed_address(address) is None:
                return UNKNOWN
            if address not in self:
                return address
        return UNKNOWN


class Connections:
    """Counts connections, in all and per address; proxies have no limit per address."""

    def __init__(self, most: int, most_per_address: int, proxies: Proxies | None = None) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._proxies = proxies or Proxies()
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """Connections counted now."""
        return self._counts.total()

    def enter(self, address: str) -> HTTPStatus | None:
        """Count a connection; if there are too many, return a status and count nothing."""
        key = _counted_as(address)
        if self.total >= self._most:
            return HTTPStatus.SERVICE_UNAVAILABLE
        if self._counts[key] >= self._most_per_address and address not in self._proxies:
            return HTTPStatus.TOO_MANY_REQUESTS
        self._counts[key] += 1
        return None

    def leave(self, address: str) -> None:
        """End a connection that was counted."""
        key = _counted_as(address)
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]


class ForwardedClients:
    """Counts trusted proxies' requests by client address, and gives it to the application."""

    def __init__(self, app: ASGIApp, proxies: Proxies, clients: Connections) -> None:
        self._app = app
        self._proxies = proxies
        self._clients = clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 429 or 503."""
        peer = scope.get("client") or ("", 0)
        if scope["type"] not in ("http", "websocket") or peer[0] not in self._proxies:
            await self._app(scope, receive, send)
            return
        address = self._proxies.client_of(_forwarded_for(scope))
        refused = self._clients.enter(address)
        if refused is not None:
            await _busy(refused)(scope, receive, send)
            return
        try:
            await self._app({**scope, "client": (address, 0)}, receive, send)
        finally:
            self._clients.leave(address)


class ClosesUnread(asyncio.Protocol):
    """A connection that is closed when the other side does not read.

    Attributes:
        unread_s: How long the other side may read nothing; the connection is closed after at most
            twice as long.
    """

    transport: asyncio.Transport
    unread_s: float
    _full = False
    _waited = False
    _look_again: asyncio.TimerHandle | None = None

    def watch_reader(self) -> None:
        """Start the periodic check."""
        self._look_again = asyncio.get_running_loop().call_later(self.unread_s, self._look)

    def unwatch_reader(self) -> None:
        """Stop the periodic check."""
        if self._look_again is not None:
            self._look_again.cancel()

    def pause_writing(self) -> None:
        """The write buffer is full."""
        self._full = True
        super().pause_writing()

    def resume_writing(self) -> None:
        """The write buffer has drained."""
        self._full = self._waited = False
        super().resume_writing()

    def _look(self) -> None:
        if self.transport.get_protocol() is not self:
            # The connection has become a WebSocket's.
            return
        # A connection that is closing but not yet closed still has unsent data.
        waits = self._full or self.transport.is_closing()
        if waits and self._waited:
            self.transport.abort()
            return
        self._waited = waits
        self.watch_reader()


class LimitedHttp(ClosesUnread, H11Protocol):
    """An HTTP connection, until it becomes a WebSocket.

    Attributes:
        guard: Counts the connection.
        arrival_s: Longest that a request, or each part of a large body, may take to arrive.
    """

    guard: Connections
    arrival_s: float
    _counted = False
    _part_bytes = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or refuse it at once."""
        refused = self.guard.enter(_address(transport))
        self._counted = refused is None
        if refused is not None:
            transport.write(_refusal(refused))
            transport.close()
            return
        super().connection_made(transport)
        self.watch_reader()
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request from the client."""
        super().data_received(data)
        self._part_bytes += len(data)
        if not self._arriving() or self._part_bytes >= LEAST_BODY_BYTES:
            self._stop_waiting()
        if self._arriving() and self._deadline is None:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._stop_waiting()
        if self._counted:
            self.unwatch_reader()
            self.guard.leave(_address(self.transport))
            super().connection_lost(exc)

    def _arriving(self) -> bool:
        """Whether a request has begun to arrive and is not complete."""
        if self.transport.get_protocol() is not self:
            # The connection has become a WebSocket's.
            return False
        state = self.conn.their_state
        begun = self.scope is None or bool(self.conn.trailing_data[0])
        return state is h11.SEND_BODY or (state is h11.IDLE and begun)

    def _expect_request(self) -> None:
        self._part_bytes = 0
        self._deadline = self.loop.call_later(self.arrival_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class LimitedWebSocket(ClosesUnread, WebSocketsSansIOProtocol):
    """A WebSocket, whose connection was counted when it was still HTTP.

    On a busy machine the answer to a ping is read only after audio that was sent before it. So a
    client counts as gone only if nothing at all has arrived while the server was reading from it.

    Attributes:
        guard: Counts the connection.
        messages_per_s: Average rate of messages; ten seconds' worth may come at once.
    """

    guard: Connections
    messages_per_s: float
    _received = False
    _frames: TokenBucket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection over from HTTP."""
        super().connection_made(transport)
        self.watch_reader()
        frames_per_s = FRAMES_PER_MESSAGE * self.messages_per_s
        self._frames = TokenBucket(frames_per_s, 10 * frames_per_s)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the other side."""
        self._received = True
        super().data_received(data)

    async def send(self, message: Any) -> None:
        """Send a message from the application."""
        await super().send(message)
        if self.close_sent and not self.handshake_complete:
            # The application refused it, which uvicorn would take for a forgotten handshake.
            self.handshake_complete = True
            assert self.initial_response is not None
            _log.warning("a WebSocket was refused: %d", self.initial_response[0])

    def handle_cont(self, event: Frame) -> None:
        """Take a further fragment of a message."""
        if self._takes_frame():
            super().handle_cont(event)

    def handle_ping(self) -> None:
        """Answer a ping."""
        if self._takes_frame():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Take a pong, solicited or not."""
        if self._takes_frame():
            super().handle_pong(event)

    def send_keepalive_ping(self) -> None:
        """Ping the other side."""
        self._received = False
        super().send_keepalive_ping()

    def keepalive_timeout(self) -> None:
        """Drop a peer that has sent nothing; give more time to one that has, or was not read."""
        if (self._received or self.read_paused) and self.ping_timeout is not None:
            self._received = False
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
            return
        super().keepalive_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self.unwatch_reader()
        self.guard.leave(_address(self.transport))
        super().connection_lost(exc)

    def _takes_frame(self) -> bool:
        """Whether one more frame is within the limit; the connection is closed if not.

        Whole messages are counted by `ClientLimits`, which never gets to see other frames.
        """
        if self.close_sent:
            return False
        if self._frames.take():
            return True
        self.conn.fail(CloseCode.POLICY, "too many frames")
        self.handle_parser_exception()
        return False


def limited_protocols(
    config: ServerConfig,
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """Uvicorn's classes for HTTP and WebSockets, which count connections together."""
    connections = Connections(
        config.max_connections, config.max_connections_per_address, Proxies(config.trusted_proxies)
    )

    class Http(LimitedHttp):
        guard = connections
        arrival_s = config.handshake_timeout_s
        unread_s = config.send_timeout_s

    class WebSocket(LimitedWebSocket):
        guard = connections
        unread_s = config.send_timeout_s
        messages_per_s = config.max_messages_per_s

    return Http, WebSocket


def forwarded_clients(app: ASGIApp, config: ServerConfig) -> ASGIApp:
    """Wrap the application to limit the requests that trusted proxies forward."""
    clients = Connections(config.max_connections, config.max_connections_per_address)
    return ForwardedClients(app, Proxies(config.trusted_proxies), clients)


def _forwarded_for(scope: Mapping[str, Any]) -> str:
    named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return b",".join(named).decode("latin-1")


def _busy(status: HTTPStatus) -> Response:
    return Response(status_code=status, headers={"Retry-After": str(RETRY_AFTER_S)})


def _refusal(status: HTTPStatus) -> bytes:
    """`_busy` as raw bytes, for a connection whose request has not been read."""
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nRetry-After: {RETRY_AFTER_S}\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n"
    ).encode()


def _counted_as(address: str) -> str:
    """The address, or its IPv6 /64 network, since a client commonly has all addresses of one."""
    read = parsed_address(address)
    if isinstance(read, IPv6Address):
        return str(IPv6Network((int(read) >> 64 << 64, 64)))
    return address if read is None else str(read)


def _without_port(named: str) -> str:
    if named.startswith("["):
        return named[1:].partition("]")[0]
    return named.partition(":")[0] if named.count(":") == 1 else named


def _address(transport: asyncio.BaseTransport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""
