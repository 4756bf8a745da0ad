"""A telephone call over a connection: moves messages, enforces limits, and closes the connection.

Signatures and keys have been checked before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect

from voice.access.closing import CloseCode, Closing, close_reason, close_stream, first_of
from voice.access.rate_limits import TOO_FAST, TokenBucket
from voice.errors import ProtocolError, origins
from voice.events import SessionEvent
from voice.telephony.call_bridge import MAX_KEYS, CallBridge
from voice.telephony.codec import (
    CallAudio,
    CallCodec,
    CallEnded,
    CallEvent,
    CallStarted,
    KeyPressed,
    LineMessage,
)

if TYPE_CHECKING:
    from voice.session.session import Session

DRAIN_S = 2.0
"""How long a line may take to report that everything was played, once its audio has ended."""

_CLOSE_TIMEOUT_S = 1.0
_READ_BYTES = 4096

_log = logging.getLogger(__name__)


class TooLarge(ProtocolError):
    """A message is longer than allowed."""


class CallConnection(Protocol):
    """A WebSocket or a TCP connection."""

    async def receive(self) -> LineMessage | None:
        """The next message; None if the other side has gone.

        Raises:
            TooLarge: The message is longer than allowed.
        """

    async def send(self, message: LineMessage) -> None:
        """Send a message; it is dropped if the other side has gone."""

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""


class SocketConnection:
    """A WebSocket as a `CallConnection`.

    Args:
        socket: The WebSocket, already accepted.
        max_bytes: Length of the longest message allowed.
    """

    def __init__(self, socket: WebSocket, max_bytes: int) -> None:
        self._socket = socket
        self._max_bytes = max_bytes

    async def receive(self) -> LineMessage | None:
        """As `CallConnection.receive`."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        data: LineMessage = message["text"] if message.get("text") is not None else message["bytes"]
        if len(data) > self._max_bytes:
            raise TooLarge(f"the message is longer than {self._max_bytes} bytes")
        return data

    async def send(self, message: LineMessage) -> None:
        """As `CallConnection.send`."""
        # uvicorn raises RuntimeError once it has closed the connection itself.
        with suppress(WebSocketDisconnect, RuntimeError):
            if isinstance(message, str):
                await self._socket.send_text(message)
            else:
                await self._socket.send_bytes(message)

    async def close(self, code: int, reason: str) -> None:
        """As `CallConnection.close`."""
        with suppress(WebSocketDisconnect, RuntimeError):
            # Starlette raises RuntimeError if the other side has closed the connection first.
            await self._socket.close(code, reason)


class StreamConnection:
    """A TCP connection as a `CallConnection`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> LineMessage | None:
        """As `CallConnection.receive`."""
        try:
            return await self._reader.read(_READ_BYTES) or None
        except OSError:
            return None

    async def send(self, message: LineMessage) -> None:
        """As `CallConnection.send`."""
        assert isinstance(message, bytes)
        with suppress(OSError):
            self._writer.write(message)
            await self._writer.drain()

    async def close(self, code: int, reason: str) -> None:
        """As `CallConnection.close`; TCP has neither codes nor reasons."""
        await close_stream(self._writer)


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of a call.

    Attributes:
        start_s: Time from the connection to the start of the call.
        idle_s: Time without any message.
        longest_s: Length of the whole call.
        send_s: Time to send one message.
        messages_per_s: Average rate of messages; ten seconds' worth may come at once.
        audio_speed: Average seconds of audio per second; ten seconds' worth may come at once.
        digits_s: Pause that ends an entry of keys.
    """

    start_s: float = 5.0
    idle_s: float = 30.0
    longest_s: float = 3600.0
    send_s: float = 10.0
    messages_per_s: float = 200.0
    audio_speed: float = 2.0
    digits_s: float = 2.5


@dataclass(frozen=True, slots=True)
class Opened:
    """The conversation of a call that has started.

    Attributes:
        session: The session, not yet running.
        observe: Called with every session event.
        hung_up: Called once the agent has ended the call.
    """

    session: Session
    observe: Callable[[SessionEvent], None]
    hung_up: Callable[[], None] = lambda: None


Send = Callable[[list[LineMessage]], None]
Connect = Callable[[CallStarted, CallCodec, Send], Opened]


class _Over(Exception):
    """Ends the tasks of a call."""


class Call:
    """One call.

    Args:
        connection: The connection, already accepted.
        codec: Codec of the call's protocol.
        connect: Sets up the conversation of a call that has started; a `ProtocolError` refuses it.
        limits: Limits of time, messages and audio.
    """

    def __init__(
        self, connection: CallConnection, codec: CallCodec, connect: Connect, limits: CallLimits
    ) -> None:
        self._connection = connection
        self._codec = codec
        self._connect = connect
        self._limits = limits
        self._messages = TokenBucket(limits.messages_per_s, 10 * limits.messages_per_s)
        self._audio_s = TokenBucket(limits.audio_speed, 10 * limits.audio_speed)
        self._out: deque[LineMessage] = deque()
        self._changed = asyncio.Event()
        self._silent = asyncio.Event()
        self._gone = False

    async def run(self) -> None:
        """Run the call until either side ends it. Raises nothing."""
        closing = Closing(CloseCode.NORMAL, "")
        try:
            async with asyncio.timeout(self._limits.longest_s):
                await self._answer()
        except* Closing as raised:
            closing = first_of(raised)
        except* ProtocolError as raised:
            error = first_of(raised)
            code = CloseCode.TOO_LARGE if isinstance(error, TooLarge) else CloseCode.POLICY
            closing = Closing(code, str(error))
        except* TimeoutError:
            closing = Closing(CloseCode.POLICY, "the call took too long")
        except* Exception as raised:
            _log.error("a call failed: %s", origins(raised))
            closing = Closing(CloseCode.INTERNAL, "internal error")
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._connection.close(closing.code, close_reason(closing.reason))
        except TimeoutError:
            _log.debug("the line does not read")

    async def _answer(self) -> None:
        # If more keys than that are pressed, the last ones count.
        keys: deque[CallEvent] = deque(maxlen=MAX_KEYS)
        try:
            async with asyncio.timeout(self._limits.start_s):
                while (message := await self._receive()) is not None:
                    rest = deque(self._codec.receive(message))
                    while rest and isinstance(rest[0], KeyPressed):
                        keys.append(rest.popleft())
                    if rest:
                        break
        except TimeoutError as error:
            raise Closing(CloseCode.POLICY, "the call did not start") from error
        if message is None:
            return
        started = rest.popleft()
        if isinstance(started, CallEnded):
            return
        if not isinstance(started, CallStarted):
            raise ProtocolError("got another event before the start of the call")
        await self._converse(started, [*keys, *rest])

    async def _converse(self, started: CallStarted, rest: list[CallEvent]) -> None:
        opened = self._connect(started, self._codec, self._push)
        session = opened.session
        bridge = CallBridge(session, self._codec, self._out, time.monotonic, self._limits.digits_s)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen(bridge, session, rest))
                group.create_task(self._speak(bridge))
                await session.run(partial(self._from_session, bridge, opened))
                await self._hang_up(bridge, opened)
                raise _Over
        except* _Over:
            _log.debug("session %s: the call is over", session.session_id)
        finally:
            session.close("connection ended")

    def _from_session(self, bridge: CallBridge, opened: Opened, event: SessionEvent) -> None:
        opened.observe(event)
        bridge.from_session(event)
        self._changed.set()

    async def _hang_up(self, bridge: CallBridge, opened: Opened) -> None:
        """Hang up once the caller has heard everything, unless the caller has hung up."""
        if self._gone:
            return
        opened.hung_up()
        unheard_s = bridge.unheard_s()
        if unheard_s is not None:
            self._silent.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(unheard_s + DRAIN_S):
                    await self._silent.wait()
        for message in self._codec.hang_up():
            await self._send(message)

    async def _listen(self, bridge: CallBridge, session: Session, rest: list[CallEvent]) -> None:
        session.greet()
        for event in rest:
            self._hear(bridge, event)
        while True:
            try:
                async with asyncio.timeout(self._limits.idle_s):
                    message = await self._receive()
            except TimeoutError as error:
                raise Closing(CloseCode.POLICY, "the line is silent") from error
            if message is None:
                self._gone = True
                self._changed.set()
                session.close("the caller hung up")
                return
            for event in self._codec.receive(message):
                self._hear(bridge, event)
            # As in `RealtimeConnection`: let other tasks run between messages that have already
            # arrived.
            await asyncio.sleep(0)

    def _hear(self, bridge: CallBridge, event: CallEvent) -> None:
        self._gone = self._gone or isinstance(event, CallEnded)
        if isinstance(event, CallAudio) and not self._audio_s.take(
            len(event.samples) / event.rate_hz
        ):
            raise Closing(CloseCode.POLICY, TOO_FAST)
        bridge.from_line(event)
        self._changed.set()

    async def _receive(self) -> LineMessage | None:
        message = await self._connection.receive()
        if message is not None and not self._messages.take(1):
            raise Closing(CloseCode.POLICY, "too many messages")
        return message

    async def _speak(self, bridge: CallBridge) -> None:
        """Send messages as they become due, for as long as the call lasts."""
        while True:
            self._changed.clear()
            wait_s = bridge.tick()
            while self._out:
                await self._send(self._out.popleft())
            if self._gone or bridge.unheard_s() is None:
                self._silent.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()

    async def _send(self, message: LineMessage) -> None:
        try:
            async with asyncio.timeout(self._limits.send_s):
                await self._connection.send(message)
        except TimeoutError as error:
            raise Closing(CloseCode.POLICY, "the line does not read") from error

    def _push(self, messages: list[LineMessage]) -> None:
        self._out += messages
        self._changed.set()
