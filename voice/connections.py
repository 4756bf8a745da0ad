"""TCP connections of the server: how many there may be, and how long a request may take to arrive.

uvicorn counts neither by address nor waits only so long for a request's headers; these are its
protocols with both added. It knows nothing of what is served.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from voice.config_server import ServerConfig


class Connections:
    """Counts connections.

    Args:
        most: In all.
        most_per_address: From one address.
        proxies: Addresses that stand for many.
    """

    def __init__(self, most: int, most_per_address: int, proxies: Collection[str] = ()) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._proxies = frozenset(proxies)
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many there are."""
        return self._counts.total()

    def enter(self, address: str) -> bool:
        """Count one; False, and none counted, when there are too many."""
        full = address not in self._proxies and self._counts[address] >= self._most_per_address
        if full or self.total >= self._most:
            return False
        self._counts[address] += 1
        return True

    def leave(self, address: str) -> None:
        """One that was counted has ended."""
        self._counts[address] -= 1
        if not self._counts[address]:
            del self._counts[address]


class GuardedHttp(H11Protocol):
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
        """Take the connection, or end it at once."""
        self._counted = self.guard.enter(_address(transport))
        if not self._counted:
            transport.abort()
            return
        super().connection_made(transport)
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


class GuardedWebSocket(WebSocketsSansIOProtocol):
    """A connection that was counted when it was HTTP's.

    Attributes:
        guard: Counts it.
    """

    guard: Connections

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the connection."""
        self.guard.leave(_address(self.transport))
        super().connection_lost(exc)


def guarded_protocols(
    config: ServerConfig,
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """The classes that uvicorn is to use for HTTP and for WebSockets, with one count for both."""
    connections = Connections(
        config.max_connections, config.max_connections_per_address, config.trusted_proxies
    )

    class Http(GuardedHttp):
        guard = connections
        arrival_s = config.handshake_timeout_s

    class WebSocket(GuardedWebSocket):
        guard = connections

    return Http, WebSocket


def _address(transport: asyncio.BaseTransport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""
