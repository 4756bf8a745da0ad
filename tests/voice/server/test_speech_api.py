"""Text to speech over OpenAI's endpoint, in the real voices."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import av
import httpx
import numpy as np
import pytest

from tests.support.fakes import FakeParts, fake_app
from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from voice.config import Config, PiperConfig, ServerConfig, TtsConfig
from voice.speech.tts import Synthesizer, Voices, installed_voices

TEXT = "Your table is booked for 7:30. Shall I order two large coffees, and a glass of water?"
VOICES = installed_voices(TtsConfig())


class SpeakingParts(FakeParts):
    """Fake parts with this machine's voices."""

    def __init__(self, voices: Voices) -> None:
        super().__init__(synthesizer=VOICES.of("heart"), voices=voices)  # type: ignore[arg-type]
        self.synthesis_threads = ThreadPoolExecutor(2)

    def voice(self, name: str) -> Synthesizer:
        return self.voices.of(name) or self.synthesizer  # type: ignore


@asynccontextmanager
async def running(voices: Voices = VOICES) -> AsyncIterator[httpx.AsyncClient]:
    config = Config(server=ServerConfig(port=0))
    parts = SpeakingParts(voices)
    with parts.synthesis_threads:
        async with (
            serving(fake_app(parts, config), config.server) as address,
            httpx.AsyncClient(base_url=f"http://{address}", timeout=PATIENCE_S) as client,
        ):
            yield client


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with running() as client:
        yield client


async def speech(http: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    return await http.post("/v1/audio/speech", json={"model": "tts-1", "input": TEXT} | fields)


def sound(data: bytes) -> tuple[str, np.ndarray[Any, Any]]:
    """Codec and samples of a file, at 24 kHz."""
    with av.open(io.BytesIO(data)) as file:
        (stream,) = file.streams.audio
        fit = av.AudioResampler("s16", "mono", 24_000)
        frames = [part for frame in file.decode(stream) for part in fit.resample(frame)]
        frames += fit.resample(None)
        name = stream.codec_context.name
    return name, np.concatenate([frame.to_ndarray()[0] for frame in frames])


@pytest.mark.parametrize(
    ("kind", "media_type", "codec"),
    [
        ("mp3", "audio/mpeg", "mp3float"),
        ("opus", "audio/ogg", "opus"),
        ("aac", "audio/aac", "aac"),
        ("flac", "audio/flac", "flac"),
        ("wav", "audio/wav", "pcm_s16le"),
    ],
)
async def test_every_format_holds_what_the_voice_says(
    http: httpx.AsyncClient, kind: str, media_type: str, codec: str
) -> None:
    bare = await speech(http, voice="heart", response_format="pcm")
    said = np.frombuffer(bare.content, "<i2")
    assert 4 < len(said) / 24_000 < 9
    answer = await speech(http, voice="heart", response_format=kind)
    assert answer.headers["content-type"] == media_type
    name, heard = sound(answer.content)
    assert name == codec
    # A codec adds a little silence at both ends.
    assert abs(len(heard) - len(said)) < 0.1 * 24_000
    loud = [np.sqrt(np.mean(np.square(s.astype(float)))) for s in (said, heard)]
    assert loud[1] == pytest.approx(loud[0], rel=0.1)


async def test_voices_are_listed_and_each_speaks(http: httpx.AsyncClient) -> None:
    listed = [voice["id"] for voice in (await http.get("/v1/audio/voices")).json()["data"]]
    assert listed[0] == "hibari:heart"
    assert "espeak:en-us" in listed
    pieces = {}
    for voice in ("espeak:en-us", "hibari:heart", "alloy"):
        pieces[voice] = (await speech(http, voice=voice, response_format="pcm")).content
    assert pieces["alloy"] == pieces["hibari:heart"] != pieces["espeak:en-us"]
    quick = (await speech(http, voice="heart", response_format="pcm", speed=4.0)).content
    assert len(pieces["alloy"]) / len(quick) == pytest.approx(4, rel=0.05)


async def test_speech_comes_as_events(http: httpx.AsyncClient) -> None:
    voice = {"id": "espeak:en-us"}
    answer = await speech(http, voice=voice, response_format="pcm", stream_format="sse")
    assert answer.headers["content-type"].startswith("text/event-stream")
    *parts, done = (
        json.loads(event.removeprefix("data: ")) for event in answer.text.split("\n\n")[:-1]
    )
    assert {part["type"] for part in parts} == {"speech.audio.delta"}
    assert done["type"] == "speech.audio.done"
    whole = (await speech(http, voice="espeak:en-us", response_format="pcm")).content
    told = b"".join(base64.b64decode(part["audio"]) for part in parts)
    # Some consonants are noise, of which espeak-ng makes a little more or less each time.
    assert len(told) == pytest.approx(len(whole), rel=0.02)


async def test_speech_arrives_while_it_is_made(http: httpx.AsyncClient) -> None:
    body = {"input": TEXT * 20, "response_format": "pcm"}
    async with http.stream("POST", "/v1/audio/speech", json=body) as answer:
        first = await anext(answer.aiter_bytes())
        assert first
    # Whoever leaves does not keep a thread: the next is served.
    async with asyncio.timeout(PATIENCE_S):
        assert (await speech(http, response_format="pcm")).status_code == 200


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": ""}, "input"),
        ({"input": " \n"}, "input"),
        ({"input": "🙂"}, "input"),
        ({"input": "..."}, "input"),
        ({"input": "a" * 4097}, "input"),
        ({"input": None}, "input"),
        ({"response_format": "ogg"}, "response_format"),
        ({"speed": 9.0}, "speed"),
        ({"stream_format": "xml"}, "stream_format"),
        ({"voice": 5}, "voice"),
    ],
)
async def test_a_wrong_field_is_named(
    http: httpx.AsyncClient, fields: dict[str, Any], param: str
) -> None:
    answer = await speech(http, **fields)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


async def test_a_voice_that_fails_is_told_to_the_client_and_not_quoted_in_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "torn.onnx").write_bytes(b"no model")
    (tmp_path / "torn.onnx.json").write_text("{}")
    config = TtsConfig(piper=PiperConfig(voice=str(tmp_path / "torn.onnx")))
    async with running(installed_voices(config)) as http:
        answer = await speech(http, voice="torn")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (500, "server_error")
    assert "torn.onnx is no Piper voice" in error["message"]
    assert "/v1/audio/speech failed: ModelError" in caplog.text
    assert str(tmp_path) not in caplog.text + capfd.readouterr().err
