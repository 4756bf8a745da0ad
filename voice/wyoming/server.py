"""The Wyoming server's sockets: who may connect, how much may come, how events are read and sent.

A peer that sends what is no event is told so and disconnected; one that sends a bad event is told
so and stays. What events mean is known to `voice.wyoming.services`.
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

from voice.errors import ConfigError, ProtocolError, VoiceError, origins
from voice.session.resources import Resources
from voice.wyoming.conversations import Conversations
from voice.wyoming.satellite import Outbox
from voice.wyoming.services import Services

MOST_CONNECTIONS = 32
LARGEST_PART_BYTES = 256 * 1024
"""Of an event's data or payload; a second of sound at 48 kHz in stereo is 192,000 bytes."""
IDLE_S = 300.0
"""A client that sends nothing for so long is disconnected."""
SEND_S = 10.0
"""A client that takes nothing for so long is."""
PING_S = 20.0
"""A satellite to which nothing else is sent is pinged so often; one that sends nothing for three
times as long is connected to anew."""
AGAIN_S = 5.0
"""Between attempts to reach a satellite."""

_log = logging.getLogger(__name__)


class WyomingServer:
    """Serves clients, and connects to satellites, which wait for a server to connect to them.

    Args:
        resources: Loaded; they stay the caller's.
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
            port: 0 takes a free one.
            satellites: Hosts and ports to connect to.

        Yields:
            The port.

        Raises:
            ConfigError: The address cannot be listened on.
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
                await _receive(reader, services, outbox, idle_s)
                await services.close()
                await outbox.put(None)
                await sending
        except* (OSError, TimeoutError):
            _log.debug("a client has left")
        except* Exception as error:
            # One bad peer costs itself only; the errors' texts may quote the conversation.
            _log.error("a connection failed\n%s", origins(error))
        finally:
            writer.close()


async def _receive(
    reader: asyncio.StreamReader, services: Services, outbox: Outbox, idle_s: float
) -> None:
    """Take events until the peer leaves, sends nothing for too long, or what is no event."""
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
    """Reads events as `wyoming` does, which alone would wait for as much as a peer announces."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def event(self) -> Event | None:
        """The next one; None where the peer has left.

        Raises:
            ProtocolError: It is none, or too large.
        """
        try:
            event = await async_read_event(self)  # type: ignore[arg-type]
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise ProtocolError("expected an event of the Wyoming protocol") from error
        if event is None and not self._reader.at_eof():
            raise ProtocolError("expected an event of the Wyoming protocol")
        return event

    async def readline(self) -> bytes:
        """The header; asyncio limits its length."""
        return await self._reader.readline()

    async def readexactly(self, size: int) -> bytes:
        """Data or payload.

        Raises:
            ProtocolError: It is larger than `LARGEST_PART_BYTES`.
        """
        if size > LARGEST_PART_BYTES:
            text = f"got a part of {size} bytes; expected at most {LARGEST_PART_BYTES}"
            raise ProtocolError(text, "too_large")
        return await self._reader.readexactly(size)
