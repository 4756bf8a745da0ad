"""The Wyoming server's sockets: who may connect, how much they may send, and the events' transport.

A peer that sends something other than an event is told so and disconnected; one that sends a wrong
event is told so and stays. `voice.wyoming.services` interprets the events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress

from wyoming.error import Error
from wyoming.event import Event, async_read_event, async_write_event
from wyoming.ping import Ping
from wyoming.satellite import RunSatellite

from voice.access.closing import close_stream
from voice.errors import ConfigError, ProtocolError, VoiceError, origins
from voice.session.resources import Resources
from voice.wyoming.conversations import Conversations
from voice.wyoming.satellite import Outbox
from voice.wyoming.services import Services

MOST_CONNECTIONS = 32
LARGEST_PART_BYTES = 256 * 1024
"""Size of an event's data or payload; a second of 48 kHz stereo audio is 192,000 bytes."""
IDLE_S = 300.0
"""A client that sends nothing for this long is disconnected."""
SEND_S = 10.0
"""A client that reads nothing for this long is disconnected."""
PING_S = 20.0
"""A satellite is pinged after this long without another event to it. If it sends nothing for three
times as long, the server reconnects to it."""
AGAIN_S = 5.0
"""Pause between attempts to reach a satellite."""

_log = logging.getLogger(__name__)


class WyomingServer:
    """Serves clients, and connects to satellites, which wait to be connected to.

    Args:
        resources: Already loaded; the caller closes them.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._connected: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(
        self, host: str, port: int, satellites: Sequence[tuple[str, int]] = ()
    ) -> AsyncGenerator[int]:
        """Serve within the block.

        Args:
            host: Where to listen.
            port: The port to listen on; 0 takes a free one.
            satellites: Hosts and ports to connect to.

        Yields:
            The port that is listened on.

        Raises:
            ConfigError: The server cannot listen on the address.
        """
        async with asyncio.TaskGroup() as group:
            conversations = Conversations(self._resources, group)

            async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                if len(self._connected) >= MOST_CONNECTIONS:
                    await _turn_away(writer)
                    return
                task = group.create_task(self._converse(conversations, reader, writer, IDLE_S))
                self._connected.add(task)
                task.add_done_callback(self._connected.discard)

            try:
                server = await asyncio.start_server(accept, host, port)
            except OSError as error:
                raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror}") from error
            dialling = [group.create_task(self._attend(conversations, *one)) for one in satellites]
            try:
                yield int(server.sockets[0].getsockname()[1])
            finally:
                server.close()
                conversations.close()
                for task in (*dialling, *self._connected):
                    task.cancel()

    async def _attend(self, conversations: Conversations, host: str, port: int) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(host, port)
                await async_write_event(RunSatellite().event(), writer)
                await self._converse(conversations, reader, writer, 3 * PING_S, PING_S)
            await asyncio.sleep(AGAIN_S)

    async def _converse(
        self,
        conversations: Conversations,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        idle_s: float,
        ping_s: float | None = None,
    ) -> None:
        outbox: Outbox = asyncio.Queue(1024)
        try:
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(_send(outbox, writer, ping_s))
                services = Services(self._resources, conversations, outbox, group)
                try:
                    await _receive(reader, services, outbox, idle_s)
                finally:
                    services.close()
                await outbox.put(None)
                await sending
        except* (OSError, TimeoutError):
            _log.debug("a client has left")
        except* Exception as error:
            # A bad peer affects only itself. The errors' texts may quote the conversation.
            _log.error("a connection failed\n%s", origins(error))
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(SEND_S):
                    await close_stream(writer)


async def _receive(
    reader: asyncio.StreamReader, services: Services, outbox: Outbox, idle_s: float
) -> None:
    """Handle events until the peer leaves, is silent for too long, or sends no proper event."""
    bounded = _Bounded(reader)
    while True:
        try:
            async with asyncio.timeout(idle_s):
                event = await bounded.event()
        except (TimeoutError, asyncio.IncompleteReadError):
            return
        except ProtocolError as error:
            await outbox.put(Error(str(error), error.code).event())
            return
        if event is None:
            return
        try:
            await services.take(event)
        except VoiceError as error:
            await outbox.put(Error(str(error), getattr(error, "code", "invalid_value")).event())
        # As in `RealtimeConnection`: let other tasks run between events that have already arrived.
        await asyncio.sleep(0)


async def _send(outbox: Outbox, writer: asyncio.StreamWriter, ping_s: float | None) -> None:
    while True:
        try:
            async with asyncio.timeout(ping_s):
                event = await outbox.get()
        except TimeoutError:
            event = Ping().event()
        if event is None:
            return
        async with asyncio.timeout(SEND_S):
            await async_write_event(event, writer)


async def _turn_away(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(SEND_S):
            await async_write_event(Error("too many connections", "capacity").event(), writer)
    writer.close()


class _Bounded:
    """Reads events as `wyoming` does, but bounds what is read to what a peer may announce."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def event(self) -> Event | None:
        """The next event; None if the peer has left.

        Raises:
            ProtocolError: It is not an event, or too large.
        """
        try:
            event = await async_read_event(self)  # type: ignore[arg-type]
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise ProtocolError("expected an event of the Wyoming protocol") from error
        if event is None and not self._reader.at_eof():
            raise ProtocolError("expected an event of the Wyoming protocol")
        return event

    async def readline(self) -> bytes:
        """Read the header, whose length asyncio limits."""
        return await self._reader.readline()

    async def readexactly(self, size: int) -> bytes:
        """Read data or payload.

        Raises:
            ProtocolError: It is larger than `LARGEST_PART_BYTES`.
        """
        if size > LARGEST_PART_BYTES:
            text = f"got a part of {size} bytes; expected at most {LARGEST_PART_BYTES}"
            raise ProtocolError(text, "too_large")
        return await self._reader.readexactly(size)
