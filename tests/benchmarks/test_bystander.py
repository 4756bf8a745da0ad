from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.voice.bystander import MOMENTS, SPOKEN, Bystander, Sound, picked_up
from benchmarks.voice.short_words import spoken
from tests.support import virtual_time
from tests.support.virtual_parts import Model, VirtualParts, Voice, parts
from voice.config import SphinxConfig, load_agent
from voice.demo.client import RATE_HZ
from voice.demo.recordings import load
from voice.demo.virtual_audio import PACKET_MS, speech_span
from voice.events import UserSpeechStarted
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.asr.sphinx import SphinxRecognizer, SphinxStream
from voice.hearing.vad.silero import SileroVad
from voice.inputs import Announce
from voice.session.session import Session
from voice.types import AudioFrame, Samples, Transcript


@pytest.fixture(scope="module")
def bystander() -> Bystander:
    agent = load_agent("assistant")
    return Bystander(SphinxRecognizer(SphinxConfig(), agent), SileroVad(), agent)


def said(phrase: str) -> Sound:
    """A phrase by a synthetic voice."""
    samples = next(spoken([phrase], np.random.default_rng(3))).samples
    return Sound(phrase, samples, speech_span(samples, 16_000)[0])


def test_a_sentence_stops_the_agent_and_holds_it_sooner(bystander: Bystander) -> None:
    samples = load("assistant-1-timer")
    outcome = bystander.hear(Sound("sentence", samples, speech_span(samples, 16_000)[0]))
    assert outcome.held_after_ms is not None
    assert outcome.stopped_after_ms is not None
    assert 0 < outcome.held_after_ms <= outcome.stopped_after_ms < 1500


def test_a_word_that_asks_to_go_on_only_holds_it(bystander: Bystander) -> None:
    outcome = bystander.hear(said("right"))
    assert outcome.held_after_ms is not None
    assert outcome.stopped_after_ms is None
    assert 0 < outcome.silent_ms < 1000


class SlowStream(SphinxStream):
    """Takes as long as on a busy machine."""

    def accept(self, frame: AudioFrame) -> None:
        virtual_time.spend(0.008)
        super().accept(frame)

    def finish(self) -> Transcript:
        virtual_time.spend(0.05)
        return super().finish()


class SlowRecognizer(SphinxRecognizer):
    def open(self, turn_id: int, domain: Domain = ANYTHING) -> SlowStream:
        return SlowStream(self, self._config, turn_id)


class HearingParts(VirtualParts):
    """Real ears, and nothing else that is real."""

    def vad(self) -> SileroVad:  # type: ignore[override]
        return SileroVad()


@pytest.fixture(scope="module")
def hearing_parts() -> HearingParts:
    loaded = parts(Model(lambda prompt: "Fine."), Voice())
    recognizer = SlowRecognizer(SphinxConfig(), load_agent("assistant"))
    given = {name: getattr(loaded, name) for name in loaded.__dataclass_fields__}
    return HearingParts(**{**given, "recognizer": recognizer})


async def stops_a_session(loaded: HearingParts, packets: Iterator[Samples]) -> bool:
    """Whether a whole session that is speaking is stopped, in time as it passes."""
    session = Session(loaded, replace(loaded.options(), holds=True))
    told: list[object] = []

    async with asyncio.TaskGroup() as group:
        group.create_task(session.run(told.append))
        await asyncio.sleep(0)
        session._feed(Announce(SPOKEN))
        for packet in packets:
            await asyncio.sleep(PACKET_MS / 1000)
            session.append_audio(packet, RATE_HZ)
        session.close()
    return any(isinstance(event, UserSpeechStarted) for event in told)


@pytest.mark.parametrize("phrase", ["right", "stop"])
def test_a_session_decides_as_the_bystander_does(
    phrase: str, bystander: Bystander, hearing_parts: HearingParts
) -> None:
    sound = said(phrase)
    for moment in range(0, MOMENTS, 3):
        lead = RATE_HZ * 7 // 10 + moment * RATE_HZ * PACKET_MS // 1000
        live = virtual_time.run(stops_a_session(hearing_parts, picked_up(sound.samples, lead)))
        assert live == (bystander.hear(sound, moment).stopped_after_ms is not None)
