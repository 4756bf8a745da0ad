"""Speech, transcriptions and translations by OpenAI's own client."""

from __future__ import annotations

import dataclasses
import io
import wave

import httpx
import numpy as np
import openai
import pytest

from tests.voice.hearing.asr.test_packaged import installed
from voice.config import AsrConfig, WhisperConfig, load_agent
from voice.hearing.asr import make_recognizer
from voice.server.app import build_app
from voice.session.resources import Resources
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import Segment

# OpenAI calls its own endpoint for translations deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:deprecated:DeprecationWarning")

SAID = "My brother plays the piano."
SPANISH = "Buenos días, me gustaría saber qué tiempo hará mañana en Madrid."


def client_of(parts: Resources) -> openai.AsyncOpenAI:
    # The parts are other tests' as well: the application is not started up and so not shut down.
    http = httpx.AsyncClient(transport=httpx.ASGITransport(build_app(parts, parts.config)))
    return openai.AsyncOpenAI(base_url="http://127.0.0.1/v1", api_key="none", http_client=http)


def spanish() -> tuple[str, bytes]:
    chunks = [*EspeakSynthesizer("es").synthesize(Segment(1, 0, SPANISH, SPANISH), speed=0.8)]
    file = io.BytesIO()
    with wave.open(file, "wb") as recording:
        recording.setparams((1, 2, chunks[0].sample_rate_hz, 0, "NONE", ""))
        recording.writeframes(np.concatenate([chunk.samples for chunk in chunks]).tobytes())
    return "said.wav", file.getvalue()


async def test_what_is_spoken_is_understood_in_every_form(embedded_parts: Resources) -> None:
    async with client_of(embedded_parts) as client:
        streamed = client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="alloy", input=SAID, response_format="flac"
        )
        async with streamed as speech:
            file = "said.flac", b"".join([chunk async for chunk in speech.iter_bytes()])
        words = client.audio.transcriptions
        assert (await words.create(model="whisper-1", file=file)).text == SAID
        verbose = await words.create(
            model="whisper-1",
            file=file,
            response_format="verbose_json",
            timestamp_granularities=["word"],
        )
        assert verbose.words is not None
        assert " ".join(word.word for word in verbose.words) == SAID
        for form, begins in (("srt", "1\n00:00:00,"), ("vtt", "WEBVTT"), ("text", SAID)):
            told = await words.create(model="whisper-1", file=file, response_format=form)  # type: ignore[call-overload]
            assert told.startswith(begins), form
        events = await words.create(model="whisper-1", file=file, stream=True)
        assert [event.type async for event in events][-1] == "transcript.text.done"
        with pytest.raises(openai.BadRequestError, match="knows English alone"):
            await client.audio.translations.create(model="whisper-1", file=file)


async def test_what_is_said_in_spanish_is_told_in_english(embedded_parts: Resources) -> None:
    if not installed("base"):
        pytest.skip("the packages of base are not installed")
    base, _ = make_recognizer(
        AsrConfig(engine="whisper", whisper=WhisperConfig(model="base")), load_agent("assistant")
    )
    file = spanish()
    async with client_of(dataclasses.replace(embedded_parts, recognizer=base)) as client:
        told = await client.audio.translations.create(model="whisper-1", file=file)
        assert "I would like to know" in told.text
        verbose = await client.audio.translations.create(
            model="whisper-1", file=file, response_format="verbose_json"
        )
        assert (verbose.language, verbose.text) == ("english", told.text)
        assert verbose.segments
        cues = await client.audio.translations.create(
            model="whisper-1", file=file, response_format="srt"
        )
        assert told.text in cues
        heard = await client.audio.transcriptions.create(model="whisper-1", file=file)
        assert heard.text.startswith("Buenos")
        with pytest.raises(openai.BadRequestError, match="have no times"):
            await client.audio.translations.create(
                model="whisper-1", file=file, extra_body={"timestamp_granularities": ["word"]}
            )
