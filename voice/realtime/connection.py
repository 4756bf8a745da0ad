"""One Realtime conversation over an accepted WebSocket, or over a WebRTC data channel.

It moves text between the socket, the protocol and the session, and chooses the close code with
which the connection ends. Keys, origins and the number of sessions have been checked before.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from starlette.types import Message
from starlette.websockets import WebSocketDisconnect

from voice.access.closing import CloseCode, Closing, first_of
from voice.access.rate_limits import ClientLimits
from voice.errors import VoiceError, origins
from voice.events import AudioStopped, ReplyEnded, ReplyStatus, SessionEvent
from voice.realtime.protocol import RealtimeProtocol
from voice.realtime.wire import ServerEvent

if TYPE_CHECKING:
    from voice.session.resources import Resources
    from voice.session.session import Session
    from voice.session.variants import Assigned

MAX_BYTES = 16 * 1024 * 1024
"""About four minutes of speech as 24 kHz PCM in base64."""

AUDIO_DELTA = "response.output_audio.delta"

_CLOSE_TIMEOUT_S = 1.0

_log = logging.getLogger(__name__)


class Channel(Protocol):
    """Carries the messages: a WebSocket, or anything that receives, sends and closes like one."""

    async def receive(self) -> Message:
        """The next message, in ASGI's format."""

    async def send_text(self, data: str) -> None:
        """Send a message."""

    async def close(self, code: int, reason: str | None = None) -> None:
        """End the connection."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A conversation that has been set up but is not running yet."""

    session: Session
    protocol: RealtimeProtocol
    assigned: Assigned[Resources]


class SlowClient(VoiceError):
    """More messages are waiting for the client than the outbox may hold."""


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    audio_of: str | None


class Outbox:
    """Queue of server events for one client, which may be slow; it has a single reader.

    The queue is bounded in bytes. On overflow the client counts as not reading, and its connection
    ends. Nothing is dropped silently except audio that an interruption has made stale.

    Args:
        max_bytes: Most bytes that may wait.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._messages: deque[_Text] = deque()
        self._bytes = 0
        self._closed = False
        self._changed = asyncio.Event()

    def put(self, events: Iterable[ServerEvent]) -> int:
        """Add events; once the outbox is closed they are discarded.

        Returns:
            The number of bytes added.

        Raises:
            SlowClient: More bytes are waiting than the limit.
        """
        if self._closed:
            return 0
        before = self._bytes
        for event in events:
            audio_of = event["response_id"] if event["type"] == AUDIO_DELTA else None
            text = _json(event)
            self._messages.append(_Text(text, audio_of))
            self._bytes += len(text)
        if self._bytes > self._max_bytes:
            raise SlowClient(f"{self._bytes} bytes wait for a client that does not read")
        self._changed.set()
        return self._bytes - before

    def drop_audio(self, stale: Callable[[str], bool]) -> None:
        """Drop unsent audio of replies for whose ids ``stale`` returns true."""
        kept = [m for m in self._messages if m.audio_of is None or not stale(m.audio_of)]
        self._messages = deque(kept)
        self._bytes = sum(len(message.text) for message in kept)

    def close(self) -> None:
        """Accept no more events; `get` returns what is left, then None. May be called again."""
        self._closed = True
        self._changed.set()

    async def get(self) -> str | None:
        """The next message, or None after the last."""
        while not self._messages:
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        message = self._messages.popleft()
        self._bytes -= len(message.text)
        return message.text


class RealtimeConnection:
    """A conversation with one client.

    Args:
        socket: The connection, already accepted.
        session: The session, not yet running.
        protocol: The session's protocol.
        observe: Called with every session event.
        send_timeout_s: Longest wait for a client that does not read.
        limits: Limits on what the client sends; None for no limit.
        idle_s: Longest time without a message from the client; None for no limit.
    """

    def __init__(
        self,
        socket: Channel,
        session: Session,
        protocol: RealtimeProtocol,
        observe: Callable[[SessionEvent], None],
        send_timeout_s: float,
        limits: ClientLimits | None = None,
        idle_s: float | None = None,
    ) -> None:
        self._socket = socket
        self._session = session
        self._protocol = protocol
        self._observe = observe
        self._send_timeout_s = send_timeout_s
        self._limits = limits
        self._idle_s = idle_s
        self._outbox = Outbox()
        # Events caused by a client's message are sent after the answer to that message.
        self._answering = False
        self._behind: deque[SessionEvent] = deque()

    async def run(self) -> None:
        """Run the conversation until either side ends it. Raises nothing."""
        closing = Closing(CloseCode.NORMAL, "")
        try:
            await self._converse()
        except* Closing as raised:
            closing = first_of(raised)
        except* SlowClient:
            closing = Closing(CloseCode.POLICY, "the client does not read")
        except* Exception as raised:
            _log.error("session %s failed: %s", self._protocol.session_id, origins(raised))
            closing = Closing(CloseCode.INTERNAL, "internal error")
        finally:
            self._session.close("connection ended")
        await self.close(closing.code, closing.reason)

    def tell(self, events: Iterable[ServerEvent]) -> None:
        """Send events that the transport itself has to report; see `Outbox.put`."""
        self._outbox.put(events)

    async def _converse(self) -> None:
        self._outbox.put(self._protocol.opening())
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(self._send())
            receiving = group.create_task(self._receive())
            await self._session.run(self._handle)
            self._outbox.close()
            await sending
            receiving.cancel()

    def _handle(self, event: SessionEvent) -> None:
        if self._answering:
            self._behind.append(event)
            return
        self._observe(event)
        if isinstance(event, AudioStopped):
            self._outbox.drop_audio(lambda reply_id: not self._protocol.is_out_of_band(reply_id))
        if isinstance(event, ReplyEnded) and event.status is ReplyStatus.CANCELLED:
            self._outbox.drop_audio(event.reply_id.__eq__)
        self._outbox.put(self._protocol.translate(event))

    async def _send(self) -> None:
        while (text := await self._outbox.get()) is not None:
            try:
                async with asyncio.timeout(self._send_timeout_s):
                    await self._socket.send_text(text)
            except TimeoutError as error:
                raise Closing(CloseCode.POLICY, "the client does not read") from error
            except (WebSocketDisconnect, RuntimeError):
                # RuntimeError: uvicorn has closed the socket, at shutdown or because no pong came.
                # `_receive` gets the disconnect too, and ends the session.
                return

    async def _receive(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._idle_s):
                    message = await self._socket.receive()
            except TimeoutError as error:
                raise Closing(
                    CloseCode.POLICY, "the client has sent nothing for too long"
                ) from error
            if message["type"] == "websocket.disconnect":
                self._session.close("client disconnected")
                return
            text = message.get("text")
            if text is None:
                raise Closing(CloseCode.UNSUPPORTED_DATA, "expected text messages")
            if self._limits is not None and (excess := self._limits.excess(len(text))):
                raise Closing(CloseCode.POLICY, excess)
            self._answer(text)
            more = True
            while more:
                # Audio that has already arrived is processed without waiting; let others run in
                # between.
                await asyncio.sleep(0)
                more = self._protocol.hear()

    def _answer(self, text: str) -> None:
        self._answering = True
        try:
            answer_bytes = self._outbox.put(self._protocol.receive(text))
        finally:
            self._answering = False
        if self._limits is not None and (excess := self._limits.excess_of_answers(answer_bytes)):
            raise Closing(CloseCode.POLICY, excess)
        while self._behind:
            self._handle(self._behind.popleft())

    async def close(self, code: CloseCode, reason: str) -> None:
        """End the connection unless the client has. Never raises; waits at most a second."""
        try:
            # The close frame queues behind what the client has not read, so it may never leave.
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._socket.close(code, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            # Starlette raises RuntimeError if the other side has closed the connection first.
            _log.debug("session %s: the client had gone", self._protocol.session_id)


def _json(event: ServerEvent) -> str:
    # ASCII, so that the length in characters is the length in bytes, and a lone surrogate in the
    # model's output cannot make the message unsendable.
    try:
        return json.dumps(event, separators=(",", ":"), allow_nan=False)
    except ValueError:
        # A remote model's arguments may contain infinity; write null for it, as JavaScript does.
        finite = json.loads(json.dumps(event), parse_constant=lambda name: None)
        return json.dumps(finite, separators=(",", ":"))
