"""Recordings to words over OpenAI's endpoint, with the recogniser as it ships."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import httpx
import numpy as np
import pytest
from openai.types.audio import TranscriptionVerbose
from pydantic import TypeAdapter
from starlette.requests import ClientDisconnect, Request

from voice.access.keys import Grant
from voice.hearing.asr.transcribed import Transcribed
from voice.hearing.passages import LONGEST_MS, passages
from voice.server import transcription_api
from voice.server.app import build_app
from voice.server.transcription_api import CUE_CHARACTERS, TranscriptionApi, decoded
from voice.session.resources import Resources
from voice.types import AudioFrame, Samples

FIRST, SECOND = "Good morning, everybody.", "My brother plays the piano."
EDGES = ("start", "end")


@pytest.fixture
async def http(embedded_parts: Resources) -> AsyncIterator[httpx.AsyncClient]:
    app = build_app(embedded_parts, embedded_parts.config)
    # The parts are other tests' as well: the application is not started up and so not shut down.
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def recording(http: httpx.AsyncClient, kind: str = "wav") -> bytes:
    """Two sentences with two seconds between them."""
    spoken = []
    for text in (FIRST, SECOND):
        body = {"input": text, "response_format": "pcm"}
        spoken.append((await http.post("/v1/audio/speech", json=body)).content)
    samples = np.frombuffer(spoken[0] + bytes(2 * 2 * 24_000) + spoken[1], "<i2")
    size = samples.nbytes
    head = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVEfmt ", 16, 1, 1, 24_000, 48_000, 2, 16, b"data", size)  # fmt: skip  # noqa: E501
    return head + samples.tobytes()


async def asked(http: httpx.AsyncClient, file: bytes, **fields: Any) -> httpx.Response:
    return await http.post(
        "/v1/audio/transcriptions",
        files={"file": ("said.wav", file, "audio/wav")},
        data={"model": "whisper-1"} | fields,
    )


async def test_the_words_in_every_format(http: httpx.AsyncClient) -> None:
    file = await recording(http)
    text = (await asked(http, file)).json()["text"]
    assert text == f"{FIRST} {SECOND}"
    assert (await asked(http, file, response_format="text")).text == f"{text}\n"

    whole = (await asked(http, file, response_format="verbose_json")).json()
    assert whole["text"] == text
    first, second = whole["segments"]
    assert (first["text"], second["text"]) == (FIRST, SECOND)
    assert 0 <= first["start"] < first["end"] < second["start"] < second["end"] <= whole["duration"]
    # Clients in other languages fail where a field that the API always has is missing.
    TypeAdapter(TranscriptionVerbose).validate_python(whole, strict=True)
    assert whole["usage"] == {"type": "duration", "seconds": whole["duration"]}
    assert -1 < first["avg_logprob"] < 0
    assert 0 <= first["no_speech_prob"] < 0.5
    assert len(first["tokens"]) > 3
    assert 1.7 < second["start"] - first["end"] < 2.6
    assert all(one[edge] == round(one[edge], 3) for one in (first, second) for edge in EDGES)

    number, times, words, *_ = (await asked(http, file, response_format="srt")).text.splitlines()
    assert (number, words) == ("1", FIRST)
    assert times.startswith("00:00:00,")
    assert times.count(",") == 2
    subtitles = (await asked(http, file, response_format="vtt")).text
    assert subtitles.startswith("WEBVTT\n\n1\n00:00:00.")


async def test_when_each_word_was_said(http: httpx.AsyncClient) -> None:
    file = await recording(http)
    fields = {"response_format": "verbose_json", "timestamp_granularities[]": "word"}
    told = (await asked(http, file, language="en-GB", **fields)).json()
    words = told["words"]
    assert " ".join(word["word"] for word in words) == f"{FIRST} {SECOND}"
    assert "segments" not in told
    fields["timestamp_granularities[]"] = ["word", "segment"]
    first, second = (await asked(http, file, **fields)).json()["segments"]
    assert first["start"] <= words[0]["start"] <= words[2]["end"] <= first["end"]
    assert second["start"] <= words[3]["start"] <= words[-1]["end"] <= second["end"]
    assert told["language"] == "english"
    for before, after in pairwise(words):
        assert before["start"] < before["end"] <= after["start"] + 0.02
    assert words[3]["start"] - words[2]["end"] > 1.5
    assert words[-1]["end"] <= told["duration"]
    assert all(word[edge] == round(word[edge], 3) for word in words for edge in EDGES)


async def test_subtitles_fit_a_screen(http: httpx.AsyncClient) -> None:
    said = "We walked along the river and talked about the garden, the weather and the old bridge "
    body = {"input": f"{said} until it was dark.", "response_format": "wav"}
    file = (await http.post("/v1/audio/speech", json=body)).content
    lines = (await asked(http, file, response_format="srt")).text.splitlines()
    assert len(lines[2::4]) > 1
    assert all(0 < len(text) <= CUE_CHARACTERS for text in lines[2::4])
    times = [time for line in lines[1::4] for time in line.split(" --> ")]
    assert times == sorted(times)


async def test_words_come_utterance_by_utterance(http: httpx.AsyncClient) -> None:
    answer = await asked(http, await recording(http), stream="true")
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n")[:-1]]
    assert [event["type"] for event in events] == [
        "transcript.text.delta",
        "transcript.text.delta",
        "transcript.text.done",
    ]
    assert "".join(e.get("delta", "") for e in events) == events[-1]["text"] == f"{FIRST} {SECOND}"


@pytest.mark.parametrize("model", ["whisper-1", "quicksilver-dictation"])
async def test_nothing_is_recognised_for_a_client_that_has_left(
    http: httpx.AsyncClient, embedded_parts: Resources, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    recognizer, loop, left = embedded_parts.recognizer, asyncio.get_running_loop(), asyncio.Event()
    recognised: list[str] = []

    def transcribe(samples: Samples, **options: Any) -> Transcribed:
        heard = type(recognizer).transcribe(recognizer, samples, **options)
        recognised.append(heard.text)
        loop.call_soon_threadsafe(left.set)
        return heard

    files = {"file": ("said.wav", await recording(http), "audio/wav")}
    request = httpx.Request("POST", "http://127.0.0.1/", files=files, data={"model": model})
    messages = [{"type": "http.request", "body": request.read()}]

    async def receive() -> dict[str, Any]:
        if not messages:
            await left.wait()
        return messages.pop() if messages else {"type": "http.disconnect"}

    monkeypatch.setattr(recognizer, "transcribe", transcribe)
    headers = [(name.lower(), value) for name, value in request.headers.raw]
    asking = Request({"type": "http", "headers": headers}, receive)
    with pytest.raises(ClientDisconnect):
        await TranscriptionApi(embedded_parts).transcribe(asking, Grant(main_key=True))
    assert recognised == [FIRST]


async def test_recordings_leave_a_thread_to_those_who_speak(
    http: httpx.AsyncClient, embedded_parts: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, most, decoders = 0, 0, list[str]()

    def transcribe(samples: Samples, **options: Any) -> Transcribed:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        time.sleep(0.05)
        busy -= 1
        return Transcribed("Yes.", "en")

    def decode(file: bytes) -> Samples:
        decoders.append(threading.current_thread().name)
        return decoded(file)

    monkeypatch.setattr(embedded_parts.recognizer, "transcribe", transcribe)
    monkeypatch.setattr(transcription_api, "decoded", decode)
    file = await recording(http)
    answers = await asyncio.gather(*(asked(http, file) for _ in range(3)))
    assert [answer.json()["text"] for answer in answers] == ["Yes. Yes."] * 3
    assert most == 1
    assert {name.rpartition("_")[0] for name in decoders} == {"asyncio"}


async def test_a_compressed_recording_is_read(http: httpx.AsyncClient) -> None:
    body = {"input": SECOND, "response_format": "mp3"}
    file = (await http.post("/v1/audio/speech", json=body)).content
    assert (await asked(http, file)).json()["text"] == SECOND


async def test_where_nobody_speaks_there_are_no_words(http: httpx.AsyncClient) -> None:
    silence = (await recording(http))[:44] + bytes(3 * 48_000)
    usage = {"type": "duration", "seconds": 3.0}
    assert (await asked(http, silence)).json() == {"text": "", "usage": usage}


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"no sound at all",
        b"#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1:9/secret.wav\n",
        b"ffconcat version 1.0\nfile /etc/hostname\n",
    ],
)
async def test_what_is_no_recording_is_refused(http: httpx.AsyncClient, file: bytes) -> None:
    answer = await asked(http, file)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "file")


async def test_a_recording_without_end_is_refused(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a few megabytes can hold more sound than there is memory for."""
    import io

    from voice.speech.audio_files import encoded

    silence = np.zeros(60 * 8000, np.int16)
    monkeypatch.setattr(transcription_api, "LONGEST_S", 120)
    minutes = ((silence, 8000) for _ in range(3))
    file = io.BytesIO(b"".join(encoded(minutes, "flac"))).getvalue()
    answer = await asked(http, file)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


async def test_a_file_that_is_too_large_is_refused(http: httpx.AsyncClient) -> None:
    """Even by less than the room that is left for the other fields."""
    answer = await asked(http, bytes(25 * 1024 * 1024 + 1))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (413, "too_large", "file")
    assert "25 MiB" in error["message"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"response_format": "docx"}, "response_format"),
        ({"timestamp_granularities[]": "letter"}, "timestamp_granularities.0"),
        ({"language": "de"}, "language"),
        ({"stream": "perhaps"}, "stream"),
        ({"stream": "true", "response_format": "srt"}, "response_format"),
        ({"temperature": "hot"}, "temperature"),
    ],
)
async def test_a_wrong_field_is_named(
    http: httpx.AsyncClient, fields: dict[str, str], param: str
) -> None:
    answer = await asked(http, b"RIFF", **fields)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


async def test_a_form_that_is_none_is_refused(http: httpx.AsyncClient) -> None:
    form = "multipart/form-data"
    for content_type in ("application/json", form, f"{form}; boundary=x"):
        headers = {"Content-Type": content_type}
        answer = await http.post("/v1/audio/transcriptions", content=b"{}", headers=headers)
        assert answer.status_code == 400, content_type
        assert "multipart/form-data" in answer.json()["error"]["message"], content_type
    answer = await http.post("/v1/audio/transcriptions", files={"model": (None, "whisper-1")})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "file")


def test_speech_without_a_pause_is_cut() -> None:
    class Talk:
        """Somebody who never pauses, but is a little softer every 7 s."""

        def probability(self, frame: AudioFrame) -> float:
            return 0.8 if frame.start_sample % (7 * 16_000) == 0 else 1.0

        def reset(self) -> None: ...

    def counting(audio: Samples) -> Transcribed:
        return Transcribed(f"{len(audio)} samples", "en")

    samples = np.zeros(60 * 16_000, np.int16)
    found = list(passages(samples, Talk(), counting, 0.5))
    assert found[0].start_s == 0
    assert found[-1].end_s == 60
    for before, after in pairwise(found):
        assert before.end_s == after.start_s
        assert after.start_s % 7 == 0
    assert all(p.end_s - p.start_s <= LONGEST_MS / 1000 for p in found)
