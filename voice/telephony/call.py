"""A telephone call over a connection: the shell around `voice.telephony.call_bridge`.

It moves messages, keeps time and limits, and decides how the connection ends. Signatures and keys
were checked before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from starlette.websockets import WebSocket, WebSocketDisconnect

from voice.access.rate_limits import TokenBucket
from voice.errors import ProtocolError, origins
from voice.events import SessionEvent
from voice.telephony.call_bridge import CallBridge
from voice.telephony.codec import (
    CallAudio,
    CallCodec,
    CallEnded,
    CallEvent,
    CallStarted,
    KeyPressed,
    LineMessage,
)
from voice.telephony.keypad import MAX_KEYS

if TYPE_CHECKING:
    from voice.session.session import Session

NORMAL, POLICY, TOO_LARGE, INTERNAL = 1000, 1008, 1009, 1011

DRAIN_S = 2.0
"""How much longer than its audio lasts a call may take to tell that all was heard."""

_CLOSE_TIMEOUT_S = 1.0
_MAX_REASON_BYTES = 123
_READ_BYTES = 4096

E = TypeVar("E", bound=Exception)

_log = logging.getLogger(__name__)


def close_reason(text: str) -> str:
    """As much of a text as a WebSocket's close frame holds."""
    return text.encode(errors="replace")[:_MAX_REASON_BYTES].decode(errors="ignore")


class TooLarge(ProtocolError):
    """A message is longer than any should be."""


class CallConnection(Protocol):
    """A connection."""

    async def receive(self) -> LineMessage | None:
        """The next message; None when the other side has gone.

        Raises:
            TooLarge: It is longer than allowed.
        """

    async def send(self, message: LineMessage) -> None:
        """Send a message; one to a side that has gone is dropped."""

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""


class SocketConnection:
    """A WebSocket as a `CallConnection`.

    Args:
        socket: Accepted already.
        max_bytes: Longest message.
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
        # uvicorn raises RuntimeError once it has closed the connection by itself.
        with suppress(WebSocketDisconnect, RuntimeError):
            if isinstance(message, str):
                await self._socket.send_text(message)
            else:
                await self._socket.send_bytes(message)

    async def close(self, code: int, reason: str) -> None:
        """As `CallConnection.close`."""
        with suppress(WebSocketDisconnect, RuntimeError):
            # Starlette raises RuntimeError when the other side has closed it first.
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
        except ConnectionError:
            return None

    async def send(self, message: LineMessage) -> None:
        """As `CallConnection.send`."""
        assert isinstance(message, bytes)
        with suppress(ConnectionError):
            self._writer.write(message)
            await self._writer.drain()

    async def close(self, code: int, reason: str) -> None:
        """As `CallConnection.close`; TCP knows neither codes nor reasons."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What a call may take.

    Attributes:
        start_s: From the connection to the start of the call.
        idle_s: Without any message.
        longest_s: In all.
        send_s: For one message to leave.
        messages_per_s: On average; ten seconds' worth may come at once.
        audio_speed: Seconds of audio per second, on average; likewise.
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
    """What a call that has started is connected to.

    Attributes:
        session: Not yet running.
        observe: Is shown every session event.
        hung_up: Called once the agent has ended the call.
    """

    session: Session
    observe: Callable[[SessionEvent], None]
    hung_up: Callable[[], None] = lambda: None


Send = Callable[[list[LineMessage]], None]
Connect = Callable[[CallStarted, CallCodec, Send], Opened]


class _Closing(Exception):
    """Ends the call with a close code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class _Over(Exception):
    """Ends the call's tasks."""


class Call:
    """One call.

    Args:
        connection: Accepted already.
        codec: Of its protocol.
        connect: Makes the conversation for a call that has started; a `ProtocolError` refuses it.
        limits: What it may take.
    """

    def __init__(
        self,
        connection: CallConnection,
        codec: CallCodec,
        connect: Connect,
        limits: CallLimits,
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
        """Hold the call until either side ends it; no failure of this one leaves here."""
        closing = _Closing(NORMAL, "")
        try:
            async with asyncio.timeout(self._limits.longest_s):
                await self._answer()
        except* _Closing as raised:
            closing = _first(raised, _Closing)
        except* ProtocolError as raised:
            error = _first(raised, ProtocolError)
            closing = _Closing(TOO_LARGE if isinstance(error, TooLarge) else POLICY, str(error))
        except* TimeoutError:
            closing = _Closing(POLICY, "the call took too long")
        except* Exception as raised:
            _log.error("a call failed: %s", origins(raised))
            closing = _Closing(INTERNAL, "internal error")
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._connection.close(closing.code, close_reason(closing.reason))
        except TimeoutError:
            _log.debug("the line does not read")

    async def _answer(self) -> None:
        # Of an entry of keys that is longer still, the end counts.
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
            raise _Closing(POLICY, "the call did not start") from error
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
        talk = CallBridge(session, self._codec, self._out, time.monotonic, self._limits.digits_s)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(session.run())
                group.create_task(self._listen(talk, session))
                group.create_task(self._speak(talk))
                session.greet()
                for event in rest:
                    self._hear(talk, event)
                await self._follow(talk, opened)
                raise _Over
        except* _Over:
            _log.debug("session %s: the call is over", session.session_id)
        finally:
            session.close("connection ended")

    async def _follow(self, talk: CallBridge, opened: Opened) -> None:
        """Pass on what the session tells; at its end, hang up behind the last word."""
        async for event in opened.session.events():
            opened.observe(event)
            talk.tell(event)
            self._changed.set()
        if self._gone:
            return
        opened.hung_up()
        unheard_s = talk.unheard_s()
        if unheard_s is not None:
            self._silent.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(unheard_s + DRAIN_S):
                    await self._silent.wait()
        for message in self._codec.hang_up():
            await self._send(message)

    async def _listen(self, talk: CallBridge, session: Session) -> None:
        while True:
            try:
                async with asyncio.timeout(self._limits.idle_s):
                    message = await self._receive()
            except TimeoutError as error:
                raise _Closing(POLICY, "the line is silent") from error
            if message is None:
                self._gone = True
                self._changed.set()
                session.close("the caller hung up")
                return
            for event in self._codec.receive(message):
                self._hear(talk, event)

    def _hear(self, talk: CallBridge, event: CallEvent) -> None:
        self._gone = self._gone or isinstance(event, CallEnded)
        if isinstance(event, CallAudio) and not self._audio_s.take(
            len(event.samples) / event.rate_hz
        ):
            raise _Closing(POLICY, "audio comes faster than it can be spoken")
        talk.hear(event)
        self._changed.set()

    async def _receive(self) -> LineMessage | None:
        message = await self._connection.receive()
        if message is not None and not self._messages.take(1):
            raise _Closing(POLICY, "too many messages")
        return message

    async def _speak(self, talk: CallBridge) -> None:
        """Send what is due, for as long as the call lasts."""
        while True:
            self._changed.clear()
            wait_s = talk.tick()
            while self._out:
                await self._send(self._out.popleft())
            if self._gone or talk.unheard_s() is None:
                self._silent.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()

    async def _send(self, message: LineMessage) -> None:
        try:
            async with asyncio.timeout(self._limits.send_s):
                await self._connection.send(message)
        except TimeoutError as error:
            raise _Closing(POLICY, "the line does not read") from error

    def _push(self, messages: list[LineMessage]) -> None:
        self._out += messages
        self._changed.set()


def _first(group: BaseExceptionGroup[E], kind: type[E]) -> E:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, kind)
    return error
