"""Dictation by OpenAI's own client: real sockets, real ears, and a real voice that dictates."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import soxr
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection
from websockets.asyncio.client import connect

from tests.support.serving import receive_until, send
from tests.voice.realtime.test_over_sockets import hear, running
from tests.voice.realtime.wire import Wire
from voice.audio import pcm16_from_samples
from voice.events import FinalTranscript, InterimTranscript
from voice.session.resources import Resources
from voice.speech.normalization import spoken
from voice.types import Samples, Segment

SAID = "We need four, no wait, five chairs for the hall."
DICTATION = {
    "type": "transcription",
    "audio": {"input": {"transcription": {"model": "quicksilver-dictation"}}},
}


def speech(parts: Resources, text: str) -> Samples:
    """A sentence of the voice's at 24 kHz, and silence behind it."""
    voice = parts.synthesizer
    chunks = [chunk.samples for chunk in voice.synthesize(Segment(0, 0, text, spoken(text)))]
    samples = soxr.resample(np.concatenate(chunks), voice.sample_rate_hz, 24_000)
    return np.concatenate((samples, np.zeros(72_000, np.int16)))


@asynccontextmanager
async def dictating(parts: Resources) -> AsyncIterator[AsyncRealtimeConnection]:
    async with running(parts) as url:
        base = url.replace("ws", "http").removesuffix("/realtime")
        client = AsyncOpenAI(base_url=base, api_key="none")
        query = {"intent": "transcription"}
        async with client.realtime.connect(extra_query=query) as connection:
            await connection.session.update(session=DICTATION)  # type: ignore[arg-type]
            yield connection
        await client.close()


async def test_openais_client_gets_what_was_meant(embedded_parts: Resources) -> None:
    kinds: list[str] = []
    async with dictating(embedded_parts) as connection:
        samples = speech(embedded_parts, SAID)
        for start in range(0, len(samples), 2400):
            audio = base64.b64encode(pcm16_from_samples(samples[start : start + 2400])).decode()
            await connection.input_audio_buffer.append(audio=audio)
        async for event in connection:
            kinds.append(event.type)
            if event.type == "session.updated":
                transcription: Any = event.session.audio.input.transcription  # type: ignore[union-attr]
                assert transcription.model == "quicksilver-dictation"
            if event.type == "conversation.item.input_audio_transcription.delta":
                assert event.delta == "We need 5 chairs for the hall."
            if event.type == "conversation.item.input_audio_transcription.completed":
                assert event.transcript == "We need 5 chairs for the hall."
                break
    assert "error" not in kinds
    assert "conversation.item.input_audio_transcription.delta" in kinds


async def test_the_text_is_shown_while_it_is_spoken(embedded_parts: Resources) -> None:
    async with running(embedded_parts) as url, connect(f"{url}?extensions=transcript") as socket:
        await send(socket, "session.update", session=DICTATION)
        await hear(socket, speech(embedded_parts, SAID))
        shown = await receive_until(socket, "quicksilver.transcript")
        while not shown[-1]["final"]:
            shown += await receive_until(socket, "quicksilver.transcript")
    assert shown[-1]["text"] == "We need 5 chairs for the hall."


def test_a_session_dictates_only_where_that_is_asked_for(wire: Wire) -> None:
    heard = InterimTranscript(1, "i1", "um the the roof leaks"), "um the the roof leaks"

    def shown() -> str:
        (event,) = wire.protocol.translate(heard[0])
        return str(event["text"])

    wire.protocol.enable_extensions(["transcript"])
    assert shown() == heard[1]
    wire.send("session.update", session=DICTATION)
    assert wire.session.options.profile == "patient"
    assert shown() == "The roof leaks."
    silence = wire.protocol.translate(FinalTranscript(1, "i1", "Um.", 0.9, 1.0))
    assert [event.get("transcript", event.get("text")) for event in silence] == ["", ""]
    wire.send("session.update", session={"audio": {"input": {"transcription": {"model": "x"}}}})
    assert wire.session.options.profile is None
    assert shown() == heard[1]
