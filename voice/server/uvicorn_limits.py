"""Connections of the server: how many there may be, and how long a request may take to arrive.

uvicorn counts neither by address nor waits only so long for a request's headers; these are its
protocols with both added, and with an end to waiting for a far side that does not read. Behind a
proxy whole requests are counted, by the address that it names. It knows nothing of what is served.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

import h11
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from voice.access.rate_limits import TokenBucket
from voice.config.server import ServerConfig

RETRY_AFTER_S = 5
POLICY_VIOLATION = 1008
FRAMES_PER_MESSAGE = 8
"""Frames that are no message of their own, to each message that a client may send: pings, and the
pieces in which large messages come."""
UNREADABLE = "?"
"""Stands for all whom a proxy does not name."""


class Proxies:
    """Those who speak for others.

    Args:
        trusted: Addresses and networks.
    """

    def __init__(self, trusted: Collection[str] = ()) -> None:
        self._networks = [ip_network(one) for one in trusted]

    def __contains__(self, address: object) -> bool:
        read = _read(str(address))
        return read is not None and any(read in network for network in self._networks)

    def client_of(self, forwarded_for: str) -> str:
        """Whom a proxy speaks for: the last in ``X-Forwarded-For`` that is no proxy of ours.

        What stands before it is that client's own word.
        """
        for named in reversed(forwarded_for.split(",")):
            address = _without_port(named.strip())
            if _read(address) is None:
                return UNREADABLE
            if address not in self:
                return address
        return UNREADABLE


class Connections:
    """Counts connections.

    Args:
        most: In all.
        most_per_address: From one address.
        proxies: Are counted in all alone.
    """

    def __init__(self, most: int, most_per_address: int, proxies: Proxies | None = None) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._proxies = proxies or Proxies()
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many there are."""
        return self._counts.total()

    def enter(self, address: str) -> HTTPStatus | None:
        """Count one; when there are too many none is counted, and this is why."""
        key = _counted_as(address)
        if self.total >= self._most:
            return HTTPStatus.SERVICE_UNAVAILABLE
        if self._counts[key] >= self._most_per_address and address not in self._proxies:
            return HTTPStatus.TOO_MANY_REQUESTS
        self._counts[key] += 1
        return None

    def leave(self, address: str) -> None:
        """One that was counted has ended."""
        key = _counted_as(address)
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]


class ForwardedClients:
    """Counts the requests that come through trusted proxies, by the address they come from.

    Args:
        app: Gets the request, with that address for its client's.
        proxies: Whose ``X-Forwarded-For`` is believed.
        clients: Counts.
    """

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


class AwaitsReader(asyncio.Protocol):
    """A connection that ends where the far side does not take what is sent to it.

    Attributes:
        unread_s: Longest that it may take nothing, and at the most twice as long.
    """

    transport: asyncio.Transport
    unread_s: float
    _full = False
    _waited = False
    _look_again: asyncio.TimerHandle | None = None

    def watch_reader(self) -> None:
        """Begin to look, now and again."""
        self._look_again = asyncio.get_running_loop().call_later(self.unread_s, self._look)

    def unwatch_reader(self) -> None:
        """The connection is over."""
        if self._look_again is not None:
            self._look_again.cancel()

    def pause_writing(self) -> None:
        """More waits to be read than may."""
        self._full = True
        super().pause_writing()

    def resume_writing(self) -> None:
        """The far side has read."""
        self._full = self._waited = False
        super().resume_writing()

    def _look(self) -> None:
        if self.transport.get_protocol() is not self:
            # It has become a WebSocket's.
            return
        # One that is being closed, and is not over, has something left that is to be read first.
        waits = self._full or self.transport.is_closing()
        if waits and self._waited:
            self.transport.abort()
            return
        self._waited = waits
        self.watch_reader()


class GuardedHttp(AwaitsReader, H11Protocol):
    """A connection, until it becomes a WebSocket's.

    Attributes:
        guard: Counts it.
        arrival_s: Longest that a request may take to arrive.
    """

    guard: Connections
    arrival_s: float
    _counted = False
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or refuse it and wait for nothing."""
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
        """Go on with a request."""
        super().data_received(data)
        if not self._arriving():
            self._stop_waiting()
        elif self._deadline is None:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the connection."""
        self._stop_waiting()
        if self._counted:
            self.unwatch_reader()
            self.guard.leave(_address(self.transport))
            super().connection_lost(exc)

    def _arriving(self) -> bool:
        """Whether a request has begun and is not complete."""
        if self.transport.get_protocol() is not self:
            # It has become a WebSocket's.
            return False
        state = self.conn.their_state
        begun = self.scope is None or bool(self.conn.trailing_data[0])
        return state is h11.SEND_BODY or (state is h11.IDLE and begun)

    def _expect_request(self) -> None:
        self._deadline = self.loop.call_later(self.arrival_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class GuardedWebSocket(AwaitsReader, WebSocketsSansIOProtocol):
    """A connection that was counted when it was HTTP's.

    On a busy machine the answer to a ping waits to be read behind audio that was sent before it. So
    a far side counts as gone only when nothing at all has come of it, though it was listened to.

    Attributes:
        guard: Counts it.
        messages_per_s: What a client may send, on average, and ten seconds' worth at once.
    """

    guard: Connections
    messages_per_s: float
    _heard = False
    _frames: TokenBucket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection over from HTTP."""
        super().connection_made(transport)
        self.watch_reader()
        frames_per_s = FRAMES_PER_MESSAGE * self.messages_per_s
        self._frames = TokenBucket(frames_per_s, 10 * frames_per_s)

    def data_received(self, data: bytes) -> None:
        """Go on with what the far side sends."""
        self._heard = True
        super().data_received(data)

    def handle_cont(self, event: Frame) -> None:
        """Take a further piece of a message."""
        if self._takes_frame():
            super().handle_cont(event)

    def handle_ping(self) -> None:
        """Answer a ping."""
        if self._takes_frame():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """Take the answer to a ping, or one that nobody has asked for."""
        if self._takes_frame():
            super().handle_pong(event)

    def send_keepalive_ping(self) -> None:
        """Ask whether the far side is there."""
        self._heard = False
        super().send_keepalive_ping()

    def keepalive_timeout(self) -> None:
        """Drop a far side that is gone; wait on for one that has been heard, or not listened to."""
        if (self._heard or self.read_paused) and self.ping_timeout is not None:
            self._heard = False
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
            return
        super().keepalive_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the connection."""
        self.unwatch_reader()
        self.guard.leave(_address(self.transport))
        super().connection_lost(exc)

    def _takes_frame(self) -> bool:
        """Whether there may be one more; whoever sends too many is sent away.

        What makes a message is counted where messages are; the rest never gets there.
        """
        if self.close_sent:
            return False
        if self._frames.take():
            return True
        self.conn.fail(POLICY_VIOLATION, "too many frames")
        self.handle_parser_exception()
        return False


def guarded_protocols(
    config: ServerConfig,
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """The classes that uvicorn is to use for HTTP and for WebSockets, with one count for both."""
    connections = Connections(
        config.max_connections, config.max_connections_per_address, Proxies(config.trusted_proxies)
    )

    class Http(GuardedHttp):
        guard = connections
        arrival_s = config.handshake_timeout_s
        unread_s = config.send_timeout_s

    class WebSocket(GuardedWebSocket):
        guard = connections
        unread_s = config.send_timeout_s
        messages_per_s = config.max_messages_per_s

    return Http, WebSocket


def forwarded_clients(app: ASGIApp, config: ServerConfig) -> ASGIApp:
    """The application behind the count of requests that trusted proxies pass on."""
    clients = Connections(config.max_connections, config.max_connections_per_address)
    return ForwardedClients(app, Proxies(config.trusted_proxies), clients)


def _forwarded_for(scope: Mapping[str, Any]) -> str:
    named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return b",".join(named).decode("latin-1")


def _busy(status: HTTPStatus) -> Response:
    return Response(status_code=status, headers={"Retry-After": str(RETRY_AFTER_S)})


def _refusal(status: HTTPStatus) -> bytes:
    """The same before a request has been read."""
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nRetry-After: {RETRY_AFTER_S}\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n"
    ).encode()


def _read(address: str) -> IPv4Address | IPv6Address | None:
    try:
        read = ip_address(address)
    except ValueError:
        return None
    return getattr(read, "ipv4_mapped", None) or read


def _counted_as(address: str) -> str:
    """One who has an IPv6 network has all of its addresses."""
    read = _read(address)
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
