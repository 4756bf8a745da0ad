from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.types import Message
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.support.fakes import FakeSession
from tests.support.patience import PATIENCE_S
from tests.support.serving import receive, receive_until, send, serving
from voice.access.rate_limits import ClientLimits
from voice.config import ServerConfig
from voice.events import (
    AudioStopped,
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    SessionEnded,
    SessionEvent,
    UserSpeechStarted,
)
from voice.realtime.connection import AUDIO_DELTA, Outbox, RealtimeConnection, SlowClient
from voice.realtime.protocol import LocalNames, RealtimeProtocol

SECOND = np.ones(24_000, np.int16)
CANCELLED = ReplyEnded("r1", ReplyStatus.CANCELLED, "turn_detected", "Well", 1, 1)


class Line:
    """One connection to a fake session through the real transport."""

    def __init__(self, session: FakeSession, socket: ClientConnection) -> None:
        self.session = session
        self.socket = socket
        self.observed: list[SessionEvent] = []

    async def close_code(self) -> int:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    await self.socket.recv()
                except ConnectionClosed:
                    assert self.socket.close_code is not None
                    return self.socket.close_code


@asynccontextmanager
async def line(
    prepare: Callable[[FakeSession], None] = lambda session: None,
    send_timeout_s: float = 5.0,
    limits: ClientLimits | None = None,
) -> AsyncGenerator[Line, None]:
    session = FakeSession()
    prepare(session)
    observed: list[SessionEvent] = []
    ended = asyncio.Event()

    async def endpoint(socket: WebSocket) -> None:
        await socket.accept()
        protocol = RealtimeProtocol(session, LocalNames("quicksilver", "espeak"))  # type: ignore[arg-type]
        await RealtimeConnection(
            socket,
            session,  # type: ignore[arg-type]
            protocol,
            observed.append,
            send_timeout_s,
            limits,
        ).run()
        ended.set()

    app = Starlette(routes=[WebSocketRoute("/", endpoint)])
    async with serving(app) as address, connect(f"ws://{address}/", max_size=None) as socket:
        found = Line(session, socket)
        found.observed = observed
        yield found
        await socket.close()
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()
    assert session.closed is not None


async def test_a_message_with_minutes_of_audio_lets_others_in() -> None:
    heard: list[tuple[int, int]] = []
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def take(session: FakeSession, samples: np.ndarray) -> None:
        heard.append((turns, len(samples)))

    async with line(lambda session: setattr(session, "on_audio", take)) as talk:
        running = asyncio.create_task(others())
        audio = base64.b64encode(bytes(2 * 24_000 * 30)).decode()
        await send(talk.socket, "input_audio_buffer.append", audio=audio)
        await send(talk.socket, "input_audio_buffer.commit")
        await talk.session.called("commit_audio", 1)
        running.cancel()
    assert sum(samples for _, samples in heard) == 24_000 * 30
    assert len({turn for turn, _ in heard}) == len(heard) >= 100


async def test_events_go_both_ways() -> None:
    def answer(session: FakeSession, samples: np.ndarray) -> None:
        session.emit(UserSpeechStarted(1, "i1", len(samples)))

    async with line(lambda session: setattr(session, "on_audio", answer)) as talk:
        assert (await receive(talk.socket))["type"] == "session.created"
        audio = base64.b64encode(bytes(3200)).decode()
        await send(talk.socket, "input_audio_buffer.append", audio=audio)
        started = await receive(talk.socket)
        assert (started["type"], started["audio_start_ms"]) == (
            "input_audio_buffer.speech_started",
            100,
        )
        assert talk.observed == [UserSpeechStarted(1, "i1", 1600)]


async def test_a_client_that_leaves_closes_the_session() -> None:
    async with line() as talk:
        await receive(talk.socket)
        await talk.socket.close()
    assert talk.session.closed == "client disconnected"


async def test_the_end_of_a_conversation_closes_the_connection_after_the_last_word() -> None:
    async with line() as talk:
        await receive(talk.socket)
        talk.session.emit(ReplyStarted("r1", "i2", 1, None), ReplyText("r1", "Goodbye."))
        talk.session.emit(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Goodbye.", 1, 1))
        talk.session.close("agent")
        assert (await receive_until(talk.socket, "response.done"))[0]["type"] == "response.created"
        assert await talk.close_code() == 1000


async def test_a_session_that_fails_closes_with_1011(caplog: pytest.LogCaptureFixture) -> None:
    async with line(lambda session: setattr(session, "run_error", KeyError("secret"))) as talk:
        assert await talk.close_code() == 1011
    assert "failed: KeyError" in caplog.text
    assert "secret" not in caplog.text


async def test_binary_messages_are_not_understood() -> None:
    async with line() as talk:
        await talk.socket.send(b"\x00")
        assert await talk.close_code() == 1003


async def test_an_interruption_drops_audio_that_has_not_left_and_is_not_out_of_band() -> None:
    async with line() as talk:
        await receive(talk.socket)
        aside = ReplyStarted("r2", "i4", 0, None, out_of_band=True)
        talk.session.emit(ReplyStarted("r1", "i2", 1, None), aside)
        talk.session.emit(*[ReplyAudio("r1", SECOND, 24_000)] * 30)
        talk.session.emit(ReplyAudio("r2", SECOND, 24_000))
        talk.session.emit(UserSpeechStarted(2, "i3", 0), AudioStopped(), CANCELLED)
        events = await receive_until(talk.socket, "response.done")
        audio = [e["response_id"] for e in events if e["type"] == "response.output_audio.delta"]
        assert audio.count("r2") == 6
        assert audio.count("r1") < 100


async def test_a_reply_keeps_the_form_that_it_began_with() -> None:
    def begin(session: FakeSession, samples: np.ndarray) -> None:
        session.emit(ReplyStarted("r1", "i2", 1, None))

    async with line(lambda session: setattr(session, "on_audio", begin)) as talk:
        await receive(talk.socket)
        # Both in one go: nobody has been told of the reply when the format changes.
        await send(talk.socket, "input_audio_buffer.append", audio="AAA=")
        changed = {"audio": {"output": {"format": {"type": "audio/pcmu"}}}}
        await send(talk.socket, "session.update", session=changed)
        created, updated = await receive_until(talk.socket, "session.updated")
        assert created["response"]["audio"]["output"]["format"]["type"] == "audio/pcm"
        assert updated["session"]["audio"]["output"]["format"]["type"] == "audio/pcmu"
        talk.session.emit(ReplyAudio("r1", SECOND[:960], 24_000))
        (*_, delta) = await receive_until(talk.socket, "response.output_audio.delta")
        assert len(base64.b64decode(delta["delta"])) == 2 * 960


async def test_a_client_that_does_not_read_is_dropped() -> None:
    async with line(send_timeout_s=0.2) as talk:
        await receive(talk.socket)
        talk.socket.transport.pause_reading()
        talk.session.emit(ReplyStarted("r1", "i2", 1, None))
        talk.session.emit(*[ReplyAudio("r1", SECOND, 24_000)] * 200)
        async with asyncio.timeout(ServerConfig().send_timeout_s):
            await talk.session.over.wait()
        talk.socket.transport.resume_reading()
        await talk.close_code()


async def test_a_client_that_floods_is_sent_away() -> None:
    async with line(limits=ClientLimits(ServerConfig(max_messages_per_s=1))) as talk:
        await receive(talk.socket)
        for _ in range(11):
            await send(talk.socket, "input_audio_buffer.clear")
        assert await talk.close_code() == 1008


async def test_a_client_that_asks_for_a_long_item_again_and_again_is_sent_away() -> None:
    limits = ClientLimits(ServerConfig(max_message_bytes=10_000_000))
    async with line(limits=limits) as talk:
        await receive(talk.socket)
        content = [{"type": "input_text", "text": "long " * 200_000}]
        item = {"id": "long", "type": "message", "role": "user", "content": content}
        await send(talk.socket, "conversation.item.create", item=item)
        for _ in range(30):
            await send(talk.socket, "conversation.item.retrieve", item_id="long")
        assert await talk.close_code() == 1008
        assert talk.socket.close_reason == "too much was asked for"


async def test_a_message_is_no_longer_than_it_may_be_whoever_has_let_it_through() -> None:
    async with line(limits=ClientLimits(ServerConfig(max_message_bytes=1024))) as talk:
        await receive(talk.socket)
        await send(talk.socket, "input_audio_buffer.append", audio="AAAA" * 300)
        assert await talk.close_code() == 1008
        assert talk.socket.close_reason == "the message is too long"


class Burst:
    """A channel on which many messages wait to be read."""

    def __init__(self, messages: int) -> None:
        self._left = messages

    async def receive(self) -> Message:
        if not self._left:
            return {"type": "websocket.disconnect"}
        self._left -= 1
        return {"type": "websocket.receive", "text": '{"type": "input_audio_buffer.clear"}'}

    async def send_text(self, data: str) -> None:
        pass

    async def close(self, code: int, reason: str | None = None) -> None:
        pass


async def test_a_burst_of_messages_lets_other_conversations_in_between() -> None:
    session, others = FakeSession(), 0
    protocol = RealtimeProtocol(session, LocalNames("quicksilver", "espeak"))  # type: ignore[arg-type]
    connection = RealtimeConnection(Burst(100), session, protocol, lambda _: None, 1.0)  # type: ignore[arg-type]
    running = asyncio.create_task(connection.run())
    while not running.done():
        others += 1
        await asyncio.sleep(0)
    assert len(session.calls) >= 100
    assert others > 100


async def test_the_end_is_observed_of_a_conversation_that_an_event_has_broken() -> None:
    session, observed = FakeSession(refuse=KeyError("secret")), list[SessionEvent]()
    protocol = RealtimeProtocol(session, LocalNames("quicksilver", "espeak"))  # type: ignore[arg-type]
    await RealtimeConnection(Burst(1), session, protocol, observed.append, 1.0).run()  # type: ignore[arg-type]
    assert observed == [SessionEnded("connection ended")]


async def test_a_close_that_comes_too_late_is_no_failure() -> None:
    """The server ends a connection of its own accord where frames break the protocol."""

    async def hear() -> Message:
        return {"type": "websocket.connect"}

    async def sent(message: Message) -> None:
        if message["type"] == "websocket.close":
            raise RuntimeError("Unexpected ASGI message 'websocket.close'")

    scope = {"type": "websocket", "headers": [], "path": "/", "query_string": b""}
    socket = WebSocket(scope, hear, sent)
    await socket.accept()
    session = FakeSession()
    protocol = RealtimeProtocol(session, LocalNames("quicksilver", "espeak"))  # type: ignore[arg-type]
    connection = RealtimeConnection(socket, session, protocol, lambda _: None, 1.0)  # type: ignore[arg-type]
    await connection.close(1000, "")


def audio(response_id: str) -> dict[str, str]:
    return {"type": AUDIO_DELTA, "response_id": response_id, "delta": "AAAA"}


async def drain(outbox: Outbox) -> list[dict[str, str]]:
    outbox.close()
    messages = []
    while (text := await outbox.get()) is not None:
        messages.append(json.loads(text))
    return messages


async def test_stale_audio_is_dropped_and_nothing_else() -> None:
    outbox = Outbox()
    outbox.put([{"type": "a"}, audio("r1"), audio("r2"), {"type": "b"}])
    outbox.drop_audio("r1".__eq__)
    outbox.put([audio("r1")])
    assert await drain(outbox) == [{"type": "a"}, audio("r2"), {"type": "b"}, audio("r1")]
    outbox.put([{"type": "late"}])
    assert await outbox.get() is None


async def test_it_is_bounded() -> None:
    outbox = Outbox(max_bytes=250)
    outbox.put([audio("r1"), audio("r1")])
    outbox.drop_audio(lambda _: True)
    outbox.put([audio("r2"), audio("r2")])
    await outbox.get()
    outbox.put([audio("r2")])
    with pytest.raises(SlowClient):
        outbox.put([audio("r2"), audio("r2")])


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("\ud800 ü", b'"\\ud800 \\u00fc"'),
        ({"x": [math.inf, 1.5], "y": math.nan}, b'{"x":[null,1.5],"y":null}'),
    ],
)
async def test_what_is_sent_is_always_ascii_and_json(value: object, sent: bytes) -> None:
    outbox = Outbox()
    outbox.put([{"type": "a", "value": value}])
    assert (await outbox.get() or "").encode() == b'{"type":"a","value":' + sent + b"}"
