from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import soxr

from tests.support.virtual_parts import Recognizer, Tape
from tests.support.virtual_time import now, virtual
from voice.demo import recordings
from voice.errors import ModelError
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.item_transcription import ItemTranscription
from voice.inputs import ItemTranscribed, ItemTranscriptionFailed
from voice.session.resources import Resources


async def test_a_recording_is_recognised_at_any_rate(embedded_parts: Resources) -> None:
    emitted: list[ItemTranscribed | ItemTranscriptionFailed] = []
    with ThreadPoolExecutor(1) as pool:
        items = ItemTranscription(embedded_parts.recognizer, pool, emitted.append)
        speech = recordings.load("assistant-6-time")
        await items.transcribe("i1", speech, 16_000)
        await items.transcribe("i2", soxr.resample(speech, 16_000, 24_000), 24_000)
    first, second = emitted
    assert isinstance(first, ItemTranscribed)
    assert isinstance(second, ItemTranscribed)
    assert (first.item_id, first.transcript.text) == ("i1", "what time is it")
    assert (second.item_id, second.transcript.text) == ("i2", "what time is it")
    assert first.seconds == pytest.approx(len(speech) / 16_000)


@pytest.mark.parametrize(
    ("error", "message"),
    [(ModelError("the recogniser is gone"), "the recogniser is gone"), (KeyError("x"), "failed")],
)
async def test_a_recogniser_that_fails_costs_the_item(
    error: Exception, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        name = "broken"

        def open(self, turn_id: int, domain: Domain = ANYTHING) -> object:
            raise error

    emitted: list[ItemTranscribed | ItemTranscriptionFailed] = []
    with ThreadPoolExecutor(1) as pool:
        items = ItemTranscription(Broken(), pool, emitted.append)  # type: ignore[arg-type]
        await items.transcribe("i1", np.zeros(320, np.int16), 16_000)
    (unheard,) = emitted
    assert isinstance(unheard, ItemTranscriptionFailed)
    assert message in unheard.message
    assert f'File "{__file__}"' in caplog.text


@virtual
async def test_many_recordings_leave_a_thread_to_those_who_speak() -> None:
    told: list[tuple[str, float]] = []
    recognizer = Recognizer(Tape(), decode_s=2.0)
    items = ItemTranscription(
        recognizer, ThreadPoolExecutor(2), lambda event: told.append((event.item_id, now()))
    )
    async with asyncio.TaskGroup() as group:
        for item_id in ("i1", "i2"):
            sound = recognizer.tape.record("good morning")
            group.create_task(items.transcribe(item_id, sound, 16_000))
    assert told == [("i1", pytest.approx(2.0)), ("i2", pytest.approx(4.0))]
