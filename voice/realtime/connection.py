"""One Realtime conversation over an accepted WebSocket, or a data channel of WebRTC.

It moves text between the socket, the protocol and the session, and decides with which close code
the connection ends. Keys, origins and the number of sessions are checked before.
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
    """What carries the messages: a WebSocket, or what receives, sends and closes like one."""

    async def receive(self) -> Message:
        """The next message, as ASGI has it."""

    async def send_text(self, data: str) -> None:
        """Send a message."""

    async def close(self, code: int, reason: str | None = None) -> None:
        """End the connection."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A conversation that does not run yet."""

    session: Session
    protocol: RealtimeProtocol
    assigned: Assigned[Resources]


class SlowClient(VoiceError):
    """More messages wait for the client than may."""


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    audio_of: str | None


class Outbox:
    """Server events on their way to a client that may be slow; one reader.

    Bounded in bytes. Overflow rule: the client counts as one that does not read, and its connection
    ends; nothing is dropped silently but audio that an interruption has made stale.

    Args:
        max_bytes: Most that may wait.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._messages: deque[_Text] = deque()
        self._bytes = 0
        self._closed = False
        self._changed = asyncio.Event()

    def put(self, events: Iterable[ServerEvent]) -> int:
        """Add events; they are dropped when the outbox is closed.

        Returns:
            How many bytes were added.

        Raises:
            SlowClient: More than the limit is waiting.
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
        """Drop audio that has not left yet, of the replies whose ids are ``stale``."""
        kept = [m for m in self._messages if m.audio_of is None or not stale(m.audio_of)]
        self._messages = deque(kept)
        self._bytes = sum(len(message.text) for message in kept)

    def close(self) -> None:
        """Accept no more events; `get` returns those left and then None. May be called again."""
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
        socket: Accepted already.
        session: Not yet running.
        protocol: Of this session.
        observe: Called with every session event.
        send_timeout_s: Longest wait for a client that does not read.
        limits: On what the client sends; None is no limit.
        idle_s: Longest silence of the client; None is no limit.
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
        # What a client's message brings about is sent behind the answer to it.
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
        """Send what the door itself has to say; see `Outbox.put`."""
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
                # RuntimeError: uvicorn has closed it, at shutdown or without a pong. `_receive`
                # gets the disconnect too, and ends the session.
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
                # What has arrived comes without a wait: other conversations are let in between.
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
        """End the connection, if the client has not. Raises nothing; waits a second at most."""
        try:
            # The close frame is queued after what the client has not read; it may never leave.
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._socket.close(code, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            # Starlette raises RuntimeError when the other side has closed it first.
            _log.debug("session %s: the client had gone", self._protocol.session_id)


def _json(event: ServerEvent) -> str:
    # ASCII: the length in characters is the length in bytes, and no lone surrogate in a model's
    # output can make a message that cannot be sent.
    try:
        return json.dumps(event, separators=(",", ":"), allow_nan=False)
    except ValueError:
        # A remote model's arguments may be infinite: null, as JavaScript writes it.
        finite = json.loads(json.dumps(event), parse_constant=lambda name: None)
        return json.dumps(finite, separators=(",", ":"))
