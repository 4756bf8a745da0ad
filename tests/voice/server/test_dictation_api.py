"""Dictation as a model of OpenAI's API, by its own client, and of recordings."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import openai
import pytest

from voice.server.app import build_app
from voice.session.resources import Resources

MODEL = "quicksilver-dictation"
SAID = "um the bus leaves at five no six new line bring the the keys with you"
MEANT = "The bus leaves at six.\nBring the keys with you."


@pytest.fixture
async def client(embedded_parts: Resources) -> AsyncIterator[openai.AsyncOpenAI]:
    app = build_app(embedded_parts, embedded_parts.config)
    # The parts are other tests' as well: the application is not started up and so not shut down.
    http = httpx.AsyncClient(transport=httpx.ASGITransport(app))
    async with openai.AsyncOpenAI(
        base_url="http://127.0.0.1/v1", api_key="none", http_client=http
    ) as client:
        yield client


async def test_a_message_is_answered_with_what_was_meant(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "system", "content": "Tidy up."}, {"role": "user", "content": SAID}],
    )
    (choice,) = answer.choices
    assert (choice.message.content, choice.finish_reason) == (MEANT, "stop")
    response = await client.responses.create(model=MODEL, input=SAID)
    assert response.output_text == MEANT


async def test_a_stream_and_nothing_but_hesitation(client: openai.AsyncOpenAI) -> None:
    for said, meant in ((SAID, MEANT), ("um uh", "")):
        stream = await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": said}], stream=True
        )
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(pieces) == meant


async def test_what_it_cannot_do_is_refused(client: openai.AsyncOpenAI) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    long = "word " * 2001
    for said, more in (("hello", {"tools": [tool]}), (long, {}), ("x" * 70_000, {})):
        with pytest.raises(openai.BadRequestError):
            await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": said}], extra_body=more
            )
    with pytest.raises(openai.BadRequestError):
        await client.completions.create(model=MODEL, prompt="hello")


async def test_it_is_listed(client: openai.AsyncOpenAI) -> None:
    assert MODEL in [model.id async for model in client.models.list()]
    assert (await client.models.retrieve(MODEL)).id == MODEL


async def test_recordings_are_dictation_as_well(client: openai.AsyncOpenAI) -> None:
    speech = await client.audio.speech.create(
        model="x", voice="x", response_format="wav",
        input="The party is on Friday, I mean, Saturday.",
    )  # fmt: skip
    file = ("said.wav", await speech.aread())
    heard = await client.audio.transcriptions.create(model=MODEL, file=file)
    assert heard.text == "The party is on Saturday."
    with pytest.raises(openai.BadRequestError):
        await client.audio.transcriptions.create(model=MODEL, file=file, response_format="srt")
