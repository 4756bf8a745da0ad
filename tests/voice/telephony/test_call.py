from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EHOSTUNREACH

import numpy as np
import pytest

from tests.support.fakes import FakeSession
from tests.support.patience import PATIENCE_S
from tests.voice.telephony.test_asterisk import PLAIN_START
from voice.errors import ProtocolError
from voice.events import ReplyAudio, ReplyEnded, ReplyStarted, ReplyStatus, SessionEvent
from voice.telephony.asterisk import ChanWebSocket
from voice.telephony.call import Call, CallLimits, Opened, StreamConnection, TooLarge
from voice.telephony.codec import CallStarted, LineMessage

WORD = np.zeros(800, np.int16)
FRAME = b"\xff" * 160


@dataclass
class FakeWire:
    """A line that a test speaks on.

    Attributes:
        deaf: Whether it never takes what is sent.
        on_sent: Called with each message.
    """

    incoming: asyncio.Queue[LineMessage | Exception | None] = field(default_factory=asyncio.Queue)
    sent: list[LineMessage] = field(default_factory=list)
    closed: tuple[int, str] | None = None
    deaf: bool = False
    on_sent: Callable[[LineMessage], None] = lambda message: None

    async def receive(self) -> LineMessage | None:
        message = await self.incoming.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def send(self, message: LineMessage) -> None:
        if self.deaf:
            await asyncio.Event().wait()
        self.sent.append(message)
        self.on_sent(message)

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason

    def tell(self, *messages: LineMessage | Exception | None) -> None:
        for message in messages:
            self.incoming.put_nowait(message)


class Bench:
    """A call to a fake session."""

    def __init__(self, **limits: float) -> None:
        self.wire = FakeWire()
        self.session = FakeSession()
        self.observed: list[SessionEvent] = []
        self.hung_up = 0
        self.limits = CallLimits(**limits)

    def connect(self, started: CallStarted, codec: object, send: object) -> Opened:
        if started.call_id == "refused":
            raise ProtocolError("there is no such agent here")

        def hung_up() -> None:
            self.hung_up += 1

        return Opened(self.session, self.observed.append, hung_up)  # type: ignore[arg-type]

    async def run(self) -> tuple[int, str]:
        call = Call(self.wire, ChanWebSocket({}), self.connect, self.limits)  # type: ignore[arg-type]
        async with asyncio.timeout(PATIENCE_S):
            await call.run()
        assert self.wire.closed is not None
        return self.wire.closed


async def test_the_agent_hangs_up_behind_its_last_word() -> None:
    bench = Bench()

    def play(message: LineMessage) -> None:
        if isinstance(message, str) and message.startswith("MARK_MEDIA"):
            bench.wire.tell(f"MEDIA_MARK_PROCESSED {message.split()[1]}")

    def told(session: FakeSession, samples: np.ndarray) -> None:
        session.emit(ReplyStarted("r1", "i1", 1, None), ReplyAudio("r1", WORD, 8000))
        session.emit(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Bye.", 1, 1))
        session.close("ended by the agent")

    bench.wire.on_sent = play
    bench.session.on_audio = told
    bench.wire.tell(PLAIN_START, FRAME)
    assert await bench.run() == (1000, "")
    assert bench.session.calls[:2] == [("greet",), ("append_audio", 160, 8000)]
    assert bench.wire.sent == ["ANSWER", *[FRAME] * 5, "MARK_MEDIA m1", "HANGUP"]
    assert bench.session.calls[-1] == ("played", "r1", 101.0)
    assert bench.hung_up == 1
    assert isinstance(bench.observed[0], ReplyStarted)


class Unreachable(asyncio.Transport):
    """A connection on which nothing arrives any more."""

    def is_closing(self) -> bool:
        return True

    def write(self, data: object) -> None:
        pass

    def close(self) -> None:
        pass

    def abort(self) -> None:
        pass


async def test_a_peer_that_cannot_be_reached_any_more_has_gone() -> None:
    reader, transport = asyncio.StreamReader(), Unreachable()
    protocol = asyncio.StreamReaderProtocol(reader)
    protocol.connection_made(transport)
    loop = asyncio.get_running_loop()
    connection = StreamConnection(reader, asyncio.StreamWriter(transport, protocol, reader, loop))
    protocol.connection_lost(OSError(EHOSTUNREACH, "No route to host"))
    assert await connection.receive() is None
    await connection.send(b"x")
    await connection.close(1000, "")


async def test_a_connection_to_who_does_not_read_is_closed_all_the_same() -> None:
    taken: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    server = await asyncio.start_server(lambda *one: taken.put_nowait(one), "127.0.0.1", 0)
    async with server:
        _, far = await asyncio.open_connection(*server.sockets[0].getsockname())
        reader, writer = await taken.get()
        socket, connection = writer.get_extra_info("socket"), StreamConnection(reader, writer)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                while True:
                    await connection.send(bytes(2**20))
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await connection.close(1000, "")
        async with asyncio.timeout(PATIENCE_S):
            while socket.fileno() != -1:
                await asyncio.sleep(0.01)
        far.close()
        with suppress(ConnectionResetError):
            await far.wait_closed()


async def test_a_connection_to_who_reads_late_is_closed_behind_the_last_byte() -> None:
    taken: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    server = await asyncio.start_server(lambda *one: taken.put_nowait(one), "127.0.0.1", 0)
    async with server, asyncio.timeout(PATIENCE_S):
        late, far = await asyncio.open_connection(*server.sockets[0].getsockname())
        reader, writer = await taken.get()
        # More than the kernel takes.
        writer.write(bytes(2**25))
        closing = asyncio.create_task(StreamConnection(reader, writer).close(1000, ""))
        assert len(await late.read()) == 2**25
        await closing
        far.close()
        await far.wait_closed()


async def test_a_caller_who_hangs_up() -> None:
    for goodbye in ("HANGUP", None):
        bench = Bench()
        bench.wire.tell(PLAIN_START, goodbye)
        assert await bench.run() == (1000, "")
        assert bench.session.closed == "the caller hung up"
        assert bench.hung_up == 0
        assert "HANGUP" not in bench.wire.sent


@pytest.mark.parametrize("goodbye", ["HANGUP", None])
async def test_a_caller_who_hangs_up_before_the_call_has_started(goodbye: str | None) -> None:
    bench = Bench()
    bench.wire.tell(goodbye)
    assert await bench.run() == (1000, "")
    assert bench.session.closed is None


async def test_keys_before_the_start_are_heard_behind_it() -> None:
    bench = Bench()
    bench.wire.tell("DTMF_END digit:4", "DTMF_END digit:2", PLAIN_START, "DTMF_END digit:#")
    bench.wire.tell("HANGUP")
    assert await bench.run() == (1000, "")
    assert bench.session.messages["item_keys_1"].content == "4 2"


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        (["nonsense", "MEDIA_XON"], 1008, "another event before the start"),
        ([FRAME], 1008, "before the start"),
        ([PLAIN_START, "{"], 1008, "not valid JSON"),
        ([PLAIN_START, PLAIN_START], 1008, "second"),
        (["MEDIA_START connection_id:refused format:ulaw"], 1008, "no such agent"),
        ([PLAIN_START, TooLarge("the message is longer")], 1009, "longer"),
    ],
)
async def test_a_broken_protocol_ends_the_call(
    messages: list[LineMessage], code: int, reason: str
) -> None:
    bench = Bench()
    bench.wire.tell(*messages)
    found_code, found_reason = await bench.run()
    assert found_code == code
    assert reason in found_reason


async def test_a_session_that_fails_ends_its_call(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.session.run_error = KeyError("secret")
    bench.wire.tell(PLAIN_START)
    assert await bench.run() == (1011, "internal error")
    assert "a call failed: KeyError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("limits", "messages", "reason"),
    [
        ({"start_s": 0.02}, [], "the call did not start"),
        ({"idle_s": 0.02}, [PLAIN_START], "the line is silent"),
        ({"longest_s": 0.05}, [PLAIN_START], "the call took too long"),
        ({"send_s": 0.02}, [PLAIN_START], "the line does not read"),
        ({"messages_per_s": 1}, [PLAIN_START, *["MEDIA_XON"] * 20], "too many messages"),
    ],
)
async def test_what_passes_a_limit_ends_the_call(
    limits: dict[str, float], messages: list[LineMessage], reason: str
) -> None:
    bench = Bench(**limits)
    bench.wire.deaf = "send_s" in limits
    bench.wire.tell(*messages)
    assert await bench.run() == (1008, reason)


async def test_audio_faster_than_it_can_be_spoken() -> None:
    bench = Bench(audio_speed=1.0)
    bench.wire.tell(PLAIN_START, *[FRAME * 100] * 6)
    assert await bench.run() == (1008, "audio comes faster than it can be spoken")
    # Ten seconds' worth was taken.
    assert len([call for call in bench.session.calls if call[0] == "append_audio"]) == 5


async def test_a_line_that_never_tells_what_it_played_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("voice.telephony.call.DRAIN_S", 0.05)
    bench = Bench()
    bench.session.emit(ReplyStarted("r1", "i1", 1, None), ReplyAudio("r1", WORD, 8000))
    bench.session.emit(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Bye.", 1, 1))
    bench.session.close("ended by the agent")
    bench.wire.tell(PLAIN_START)
    assert await bench.run() == (1000, "")
    assert bench.wire.sent[-1] == "HANGUP"


async def test_cancelling_ends_it() -> None:
    bench = Bench()
    bench.wire.tell(PLAIN_START)
    call = asyncio.create_task(bench.run())
    while ("greet",) not in bench.session.calls:
        await asyncio.sleep(0)
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call
    assert call.cancelled()
    assert bench.session.closed is not None
