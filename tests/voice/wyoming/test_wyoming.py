"""The Wyoming server over real sockets, asked by the unmodified client."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import socket
import struct
import sys
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wyoming.asr import Transcribe, Transcript, TranscriptChunk
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.handle import Handled, HandledChunk
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import RunSatellite
from wyoming.server import AsyncEventHandler, AsyncTcpServer
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeVoice,
)
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from tests.clients.environments import python_with
from tests.support.patience import PATIENCE_S
from voice.audio import pcm16_from_samples, samples_from_pcm16
from voice.demo.recordings import load
from voice.demo.server import free_port
from voice.errors import ConfigError, ModelError
from voice.session.resources import Resources
from voice.types import SAMPLE_RATE_HZ, Samples
from voice.wyoming import satellite as satellite_module
from voice.wyoming import server as server_module
from voice.wyoming.__main__ import SERVICE, announced, main
from voice.wyoming.server import WyomingServer

CHUNK = 1600


@pytest.fixture
async def port(embedded_parts: Resources) -> AsyncIterator[int]:
    async with WyomingServer(embedded_parts).running("127.0.0.1", 0) as taken:
        yield taken


@pytest.fixture
def line() -> Samples:
    return load("assistant-1-timer")


@asynccontextmanager
async def client(port: int) -> AsyncGenerator[AsyncTcpClient]:
    async with AsyncTcpClient("127.0.0.1", port) as connected, asyncio.timeout(PATIENCE_S):
        yield connected


async def read(connected: AsyncTcpClient) -> Event:
    event = await connected.read_event()
    assert event is not None, "the server hung up"
    return event


async def until(connected: AsyncTcpClient, kind: str) -> list[Event]:
    events = [await read(connected)]
    while events[-1].type != kind:
        events.append(await read(connected))
    return events


async def send(connected: AsyncTcpClient, *told: Eventable) -> None:
    for one in told:
        await connected.write_event(one.event())


def chunks(samples: Samples, rate_hz: int = SAMPLE_RATE_HZ) -> list[AudioChunk]:
    pieces = [samples[at : at + CHUNK] for at in range(0, len(samples), CHUNK)]
    return [AudioChunk(rate_hz, 2, 1, pcm16_from_samples(piece)) for piece in pieces]


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE_HZ), np.int16)


def sound(events: list[Event]) -> tuple[Samples, int]:
    (start,) = [AudioStart.from_event(e) for e in events if e.type == "audio-start"]
    assert (start.width, start.channels) == (2, 1)
    parts = [AudioChunk.from_event(e).audio for e in events if e.type == "audio-chunk"]
    return samples_from_pcm16(b"".join(parts)), start.rate


def text_of(parts: Resources, samples: Samples, rate_hz: int) -> str:
    import soxr

    return parts.recognizer.transcribe(soxr.resample(samples, rate_hz, SAMPLE_RATE_HZ)).text.lower()


async def test_it_describes_what_it_has(port: int, embedded_parts: Resources) -> None:
    async with client(port) as connected:
        await send(connected, Ping(text="here"), Describe())
        assert Pong.from_event(await read(connected)).text == "here"
        info = Info.from_event(await read(connected))
    (ears,), (voice,), (mind,) = info.asr, info.tts, info.handle
    assert ears.supports_transcript_streaming and "en" in ears.models[0].languages
    assert voice.supports_synthesize_streaming
    assert voice.voices[0].name == embedded_parts.synthesizer.name
    assert mind.supports_handled_streaming and mind.models[0].name == "assistant"


async def test_what_was_said_comes_utterance_by_utterance(port: int, line: Samples) -> None:
    async with client(port) as connected:
        await send(connected, Transcribe(language="en"), AudioStart(SAMPLE_RATE_HZ, 2, 1))
        await send(connected, *chunks(np.concatenate([line, silence(0.8)])))
        # The first utterance is told while the stream goes on.
        before = await until(connected, "transcript-chunk")
        assert [event.type for event in before] == ["transcript-start", "transcript-chunk"]
        await send(connected, *chunks(line), AudioStop())
        (*_, last) = events = await until(connected, "transcript-stop")
        assert last.type == "transcript-stop"
        told = [
            TranscriptChunk.from_event(e).text
            for e in (*before, *events)
            if e.type == "transcript-chunk"
        ]
        whole = [Transcript.from_event(e).text for e in events if e.type == "transcript"]
        assert whole == ["".join(told)]
        assert whole[0].lower().count("timer") == 2
        # Another stream on the same connection; nothing is heard in silence.
        await send(connected, AudioStart(SAMPLE_RATE_HZ, 2, 1), *chunks(silence(1)), AudioStop())
        assert Transcript.from_event(await read(connected)).text == ""


async def test_chunks_may_end_within_a_sample(port: int, line: Samples) -> None:
    # As Home Assistant sends what is posted to it: cut at every byte that is a newline's.
    pieces = pcm16_from_samples(np.repeat(line, 2)).split(b"\n")
    sound = {"rate": SAMPLE_RATE_HZ, "width": 2, "channels": 2}
    async with client(port) as connected:
        await send(connected, AudioStart(SAMPLE_RATE_HZ, 2, 2))
        for piece in pieces:
            await connected.write_event(Event("audio-chunk", sound, piece + b"\n"))
        await send(connected, AudioStop())
        events = await until(connected, "transcript")
    assert "timer" in Transcript.from_event(events[-1]).text.lower()


async def test_a_text_is_spoken_whole_or_as_it_is_made(
    port: int, embedded_parts: Resources
) -> None:
    words = "Your table is booked for seven thirty."
    async with client(port) as connected:
        await send(connected, Synthesize(text=words))
        whole, rate_hz = sound(await until(connected, "audio-stop"))
        assert "table is booked" in text_of(embedded_parts, whole, rate_hz)
        await send(connected, SynthesizeStart(voice=SynthesizeVoice(name="espeak:en-us")))
        for at in range(0, len(words), 7):
            await send(connected, SynthesizeChunk(text=words[at : at + 7]))
        # The text as a whole comes as well, for servers that do not stream.
        await send(connected, Synthesize(text=words), SynthesizeStop())
        events = await until(connected, "synthesize-stopped")
        assert [e.type for e in events].count("audio-stop") == 1
        streamed, rate_hz = sound(events)
        assert 0.5 < len(streamed) / rate_hz < 6


async def test_a_voice_that_fails_speaks_the_next_text(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Iterator[tuple[Samples, int]]:
        raise ModelError("the voice has failed")
        yield

    async with client(port) as connected:
        with monkeypatch.context() as patched:
            patched.setattr("voice.wyoming.services.spoken_text", fails)
            await send(connected, Synthesize(text="Hello."))
            assert Error.from_event(await read(connected)).text == "the voice has failed"
        await send(connected, Synthesize(text="Hello."), Ping())
        assert (await read(connected)).type == "audio-start"


async def answer(port: int, text: str, conversation: str) -> str:
    """As Home Assistant asks: over a connection of its own."""
    async with client(port) as connected:
        await send(connected, Transcript(text=text, context={"conversation_id": conversation}))
        events = await until(connected, "handled")
        assert "not-handled" not in [event.type for event in events]
        told = [HandledChunk.from_event(e).text for e in events if e.type == "handled-chunk"]
        handled = Handled.from_event(events[-1]).text or ""
        assert handled == "".join(told)
        return handled


async def test_the_mind_runs_a_tool_once_and_remembers(port: int) -> None:
    assert "84" in await answer(port, "what is twelve times seven", "a")
    assert "oat milk" in (await answer(port, "add oat milk to my wyoming list", "b")).lower()
    listed = (await answer(port, "what is on my wyoming list", "b")).lower()
    assert listed.count("oat milk") == 1
    # What nobody would hear ring is not set.
    assert "set for" not in (await answer(port, "set a timer for ten minutes", "a")).lower()


async def test_what_is_said_right_behind_goodbye_is_answered(port: int) -> None:
    async with client(port) as connected:
        said = "goodbye", "what is twelve times seven"
        await send(connected, *(Transcript(text=text) for text in said))
        goodbye, answered = [(await until(connected, "handled"))[-1] for _ in said]
    assert Handled.from_event(goodbye).text == "Goodbye."
    assert "84" in (Handled.from_event(answered).text or "")


async def test_bad_events_are_told_and_survived(port: int) -> None:
    bad: list[Event] = [
        Event("audio-chunk", {"rate": 16000, "width": 4, "channels": 1}, b"1234"),
        Event("audio-start", {"rate": 10**9, "width": 2, "channels": 1}),
        Event("audio-chunk"),
        Event("transcribe", {"language": "xx"}),
        Event("synthesize", {"text": "word " * 1000}),
        Event("synthesize", {"text": "<speak/>", "text_format": "ssml"}),
        Event("synthesize", {"voice": 5}),
        Event("transcript", {"text": " "}),
        Event("transcript", {"text": "hello", "context": {"conversation_id": 5}}),
        Event("transcript"),
    ]
    async with client(port) as connected:
        for event in bad:
            await connected.write_event(event)
            assert Error.from_event(await read(connected)).text
        await send(connected, SynthesizeStop())
        await connected.write_event(Event("of-another-time", {"a": 1}))
        assert connected._writer is not None
        connected._writer.write(b'{"type": "ping", "data": [1]}\n')
        assert Error.from_event(await read(connected)).text
        await send(connected, Ping(text="still"))
        assert Pong.from_event(await read(connected)).text == "still"


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"[]\n",
        b"7\n",
        b'{"data": {}}\n',
        b'{"type": "describe", "data_length": "many"}\n',
        b'{"type": "describe", "data_length": 3}\n[1]',
        b'{"type": "audio-chunk", "payload_length": 99999999999}\n',
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\n",
    ],
)
async def test_what_is_no_event_is_told_and_costs_its_own_connection_only(
    port: int, data: bytes
) -> None:
    async with client(port) as other:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        async with asyncio.timeout(PATIENCE_S):
            told = await reader.read()
        writer.close()
        header, _, rest = told.partition(b"\n")
        assert json.loads(header)["type"] == "error"
        assert json.loads(rest)["text"]
        await send(other, Ping(text="on"))
        assert Pong.from_event(await read(other)).text == "on"


async def test_one_connection_too_many_is_turned_away(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 1)
    async with client(port) as first:
        await send(first, Ping())
        await read(first)
        async with client(port) as second:
            assert Error.from_event(await read(second)).code == "capacity"
            assert await second.read_event() is None
    async with client(port) as third:
        await send(third, Ping())
        assert (await read(third)).type in ("pong", "error")


async def test_who_sends_nothing_is_let_go(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "IDLE_S", 0.05)
    async with client(port) as connected:
        assert await connected.read_event() is None


async def test_who_asks_very_often_holds_up_nobody(port: int) -> None:
    passes, asked = 0, 500

    async def go_on() -> None:
        nonlocal passes
        while True:
            passes += 1
            await asyncio.sleep(0)

    async with client(port) as connected:
        assert connected._writer is not None
        others = asyncio.create_task(go_on())
        connected._writer.write(b'{"type": "ping"}\n' * asked)
        for _ in range(asked):
            assert (await read(connected)).type == "pong"
        others.cancel()
    assert passes >= asked


async def test_who_reads_nothing_is_let_go(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "SEND_S", 0.5)
    loop = asyncio.get_running_loop()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", port))
        deaf.setblocking(False)
        with pytest.raises(ConnectionError):
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    await loop.sock_sendall(deaf, b'{"type": "describe"}\n' * 1000)


async def test_nothing_is_left_of_a_conversation_whose_client_broke_off(port: int) -> None:
    before = len(asyncio.all_tasks())
    async with client(port) as connected:
        await send(connected, Transcript(text="what is twelve times seven"))
        await until(connected, "handled")
        assert connected._writer is not None
        line = connected._writer.get_extra_info("socket")
        # Closing then resets the connection.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    async with asyncio.timeout(PATIENCE_S):
        while len(asyncio.all_tasks()) > before:
            await asyncio.sleep(0.01)


class Room(AsyncEventHandler):
    """A satellite: somebody says a line once the server is there, and it streams on in silence."""

    def __init__(self, line: Samples, told: asyncio.Queue[Event], *streams: Any) -> None:
        super().__init__(*streams)
        self._line = line
        self._told = told
        self._streaming: asyncio.Task[None] | None = None

    async def handle_event(self, event: Event) -> bool:
        if RunSatellite.is_type(event.type):
            stages = {"start_stage": PipelineStage.ASR, "end_stage": PipelineStage.TTS}
            await self.write_event(RunPipeline(**stages).event())
            self._streaming = asyncio.create_task(self._stream())
        await self._told.put(event)
        return True

    async def disconnect(self) -> None:
        if self._streaming is not None:
            self._streaming.cancel()

    async def _stream(self) -> None:
        for chunk in chunks(self._line):
            await self.write_event(chunk.event())
            # Slowly enough that the agent knows that somebody speaks while they do.
            await asyncio.sleep(0.02)
        while True:
            await self.write_event(chunks(silence(0.1))[0].event())
            await asyncio.sleep(0.05)


@asynccontextmanager
async def satellite(made: Callable[..., AsyncEventHandler]) -> AsyncGenerator[tuple[str, int]]:
    """One that waits for a server; its address."""
    waiting = AsyncTcpServer("127.0.0.1", 0)
    await waiting.start(made)
    assert waiting._server is not None
    try:
        yield waiting._server.sockets[0].getsockname()[:2]
    finally:
        await waiting.stop()


async def test_a_satellite_converses(embedded_parts: Resources, line: Samples) -> None:
    told: asyncio.Queue[Event] = asyncio.Queue()
    server = WyomingServer(embedded_parts)
    async with (
        satellite(lambda *streams: Room(line, told, *streams)) as address,
        server.running("127.0.0.1", 0, [address]),
        asyncio.timeout(PATIENCE_S),
    ):
        events = [await told.get()]
        while events[-1].type != "audio-stop":
            events.append(await told.get())
    (heard,) = [Transcript.from_event(e).text for e in events if e.type == "transcript"]
    assert "timer" in heard.lower()
    reply, rate_hz = sound(events)
    assert "minutes" in text_of(embedded_parts, reply, rate_hz)


async def test_who_speaks_for_long_is_not_told_to_stop(
    embedded_parts: Resources, line: Samples
) -> None:
    (loud,) = np.nonzero(np.abs(line) > 600)
    told: asyncio.Queue[Event] = asyncio.Queue()
    words = line[loud[0] : loud[-1]]
    long = np.tile(words, math.ceil((satellite_module.NOTHING_S + 2) * SAMPLE_RATE_HZ / len(words)))
    async with (
        satellite(lambda *streams: Room(long, told, *streams)) as address,
        WyomingServer(embedded_parts).running("127.0.0.1", 0, [address]),
        asyncio.timeout(PATIENCE_S),
    ):
        events = [await told.get()]
        while events[-1].type != "audio-start":
            events.append(await told.get())
    assert "" not in [Transcript.from_event(e).text for e in events if e.type == "transcript"]


SPEAKS = """
import sys, time
said = open(sys.argv[1], "rb").read()
chunk = 2048  # 64 ms at 16 kHz
while True:
    for at in range(0, len(said), chunk):
        sys.stdout.buffer.write(said[at : at + chunk].ljust(chunk, bytes(1)))
        sys.stdout.buffer.flush()
        time.sleep(0.064)
"""


@pytest.mark.e2e
async def test_the_official_satellite_converses(
    embedded_parts: Resources, line: Samples, tmp_path: Path
) -> None:
    """wyoming-satellite, unmodified; programs that write and read sound are its devices."""
    home = python_with("wyoming-satellite", "wyoming-satellite")
    said, heard = tmp_path / "said.raw", tmp_path / "heard.raw"
    # Again and again, since the satellite opens its microphone before it is connected.
    said.write_bytes(pcm16_from_samples(np.concatenate([silence(1), line, silence(12)])))
    (tmp_path / "speaks.py").write_text(SPEAKS)
    number = free_port()
    satellite = await asyncio.create_subprocess_exec(
        *(home, "-m", "wyoming_satellite", "--uri", f"tcp://127.0.0.1:{number}", "--no-zeroconf"),
        *("--mic-command", f"{sys.executable} {tmp_path / 'speaks.py'} {said}"),
        *("--snd-command", f"tee {heard}", "--snd-command-rate", str(SAMPLE_RATE_HZ)),
        stdout=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    server = WyomingServer(embedded_parts)
    try:
        async with (
            server.running("127.0.0.1", 0, [("127.0.0.1", number)]),
            asyncio.timeout(2 * PATIENCE_S),
        ):
            words = ""
            while "minutes" not in words:
                await asyncio.sleep(1)
                sound_so_far = heard.read_bytes() if heard.exists() else b""
                samples = samples_from_pcm16(sound_so_far[: len(sound_so_far) // 2 * 2])
                words = text_of(embedded_parts, samples, SAMPLE_RATE_HZ) if len(samples) else ""
    finally:
        os.killpg(satellite.pid, signal.SIGKILL)
        await satellite.wait()


@pytest.mark.parametrize("answers", [False, True])
async def test_a_satellite_that_tells_nothing_is_connected_to_anew(
    embedded_parts: Resources, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    # A busy machine's pong may come late.
    monkeypatch.setattr(server_module, "PING_S", 1.0 if answers else 0.2)
    monkeypatch.setattr(server_module, "AGAIN_S", 0.01)
    told: asyncio.Queue[str] = asyncio.Queue()

    class Still(AsyncEventHandler):
        async def handle_event(self, event: Event) -> bool:
            await told.put(event.type)
            if answers and Ping.is_type(event.type):
                await self.write_event(Pong().event())
            return True

    server, seen = WyomingServer(embedded_parts), list[str]()
    async with (
        satellite(Still) as address,
        server.running("127.0.0.1", 0, [address]),
        asyncio.timeout(PATIENCE_S),
    ):
        # There are three at most before the end of a connection.
        while seen.count("ping") < 4:
            seen.append(await told.get())
    assert (seen.count("run-satellite") == 1) is answers


def test_wrong_options_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--uri", "udp://x"], ["--uri", "tcp://127.0.0.1"], ["--satellite", "x"]):
        assert main(arguments) == 1
        assert "expected tcp://HOST:PORT" in capsys.readouterr().err


async def test_the_network_is_told_where_it_is_and_when_it_has_gone() -> None:
    name = f"Quicksilver {uuid.uuid4().hex[:8]}"
    async with AsyncZeroconf() as network:

        async def seen(wait_ms: int) -> AsyncServiceInfo | None:
            return await network.async_get_service_info(SERVICE, f"{name}.{SERVICE}", wait_ms)

        async with announced(name, "127.0.0.1", 4242):
            found = await seen(round(1000 * PATIENCE_S))
            assert found is not None
            assert (found.parsed_addresses(), found.port) == (["127.0.0.1"], 4242)
            with pytest.raises(ConfigError, match="another server"):
                async with announced(name, "0.0.0.0", 4243):
                    pass
        assert await seen(100) is None
        with pytest.raises(ConfigError, match="nowhere"):
            async with announced(name, "nowhere.invalid", 4242):
                pass
