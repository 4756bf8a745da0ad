from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import numpy as np
import pytest

from tests.support.patience import PATIENCE_S
from tests.support.virtual_parts import Voice
from tests.support.virtual_time import now, virtual
from voice.errors import ModelError, ProtocolError
from voice.events import ReplyAudio, ReplyHeard, ReplyHeld, ReplyReleased, SessionEvent
from voice.inputs import AudioPlayed, AudioSent, SpeechFailed
from voice.speech.audio_output import RECENT_REPLIES, AudioOutput, Progress
from voice.speech.normalization import spoken
from voice.speech.synthesis import Said
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import Segment, SpeechChunk

RATE_HZ = 24_000
TEXT = "The kettle is on the stove and the tea is nearly ready."


class _Broken:
    name = "broken"
    sample_rate_hz = 16_000

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        yield SpeechChunk(segment, np.zeros(160, np.int16), 16_000, last=False)
        raise ModelError("the voice is gone")


class _Rig:
    """A mouth with a clock that the test moves."""

    def __init__(self, synthesizer: EspeakSynthesizer | _Broken) -> None:
        self.now_ms = 0.0
        self.events: list[SessionEvent] = []
        self.told: list[Progress] = []
        self.changed = asyncio.Event()
        self.threads = ThreadPoolExecutor(1)
        self.mouth = AudioOutput(
            lambda name: synthesizer,
            self.threads,
            self._emit,
            self._tell,
            clock=lambda: self.now_ms,
        )

    def _emit(self, event: SessionEvent) -> None:
        self.events.append(event)
        self.changed.set()

    def _tell(self, event: Progress) -> None:
        self.told.append(event)
        self.changed.set()

    def say(self, reply_id: str, *texts: str) -> None:
        for index, text in enumerate(texts):
            self.mouth.speak(reply_id, Segment(1, index, text, spoken(text)), RATE_HZ, 1.0)

    async def wait_for(self, kind: type[Progress] | type[SessionEvent]) -> object:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for event in [*self.told, *self.events]:
                    if isinstance(event, kind):
                        return event
                self.changed.clear()
                await self.changed.wait()

    def audio_ms(self, reply_id: str) -> float:
        pieces = [e for e in self.events if isinstance(e, ReplyAudio) and e.reply_id == reply_id]
        return sum(len(piece.samples) for piece in pieces) * 1000 / RATE_HZ


@asynccontextmanager
async def _rig(
    synthesizer: EspeakSynthesizer | _Broken | None = None,
) -> AsyncGenerator[_Rig, None]:
    rig = _Rig(synthesizer or EspeakSynthesizer("en-us", 50))
    task = asyncio.create_task(rig.mouth.run())
    try:
        yield rig
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        rig.threads.shutdown()


async def test_audio_comes_at_the_clients_rate_and_its_end_is_told() -> None:
    async with _rig() as rig:
        rig.say("r1", TEXT)
        rig.mouth.end("r1")
        assert await rig.wait_for(AudioSent) == AudioSent("r1")
        audio = [e for e in rig.events if isinstance(e, ReplyAudio)]
        assert {e.sample_rate_hz for e in audio} == {RATE_HZ}
        assert 1500 < rig.audio_ms("r1") < 6000
        assert max(int(np.abs(e.samples).max()) for e in audio if len(e.samples)) > 1000


async def test_what_was_played_is_reported_word_by_word_until_all_was() -> None:
    async with _rig() as rig:
        rig.say("r1", TEXT)
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        assert not [t for t in rig.told if isinstance(t, AudioPlayed)]
        rig.now_ms = rig.audio_ms("r1") / 2
        heard = await rig.wait_for(ReplyHeard)
        assert isinstance(heard, ReplyHeard)
        assert 0 < heard.chars < len(TEXT)
        assert TEXT[heard.chars] == " "
        rig.now_ms = rig.audio_ms("r1")
        await rig.wait_for(AudioPlayed)
        assert [e for e in rig.events if isinstance(e, ReplyHeard)][-1].chars == len(TEXT)


async def test_what_is_stopped_was_heard_up_to_there_and_makes_no_further_sound() -> None:
    async with _rig() as rig:
        rig.say("r1", TEXT)
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        rig.now_ms = rig.audio_ms("r1") / 2
        rig.mouth.stop("r1")
        heard = rig.mouth.heard("r1")
        assert TEXT.startswith(heard)
        assert 0 < len(heard) < len(TEXT)
        before = rig.audio_ms("r1")
        rig.say("r1", " Not this.")
        rig.say("r2", "Next.")
        rig.mouth.end("r2")
        await asyncio.wait_for(_until(lambda: AudioSent("r2") in rig.told), PATIENCE_S)
        assert rig.audio_ms("r1") == before


async def _until(true: object) -> None:
    while not true():  # type: ignore[operator]
        await asyncio.sleep(0.01)


async def test_of_what_never_sounded_nothing_was_heard() -> None:
    async with _rig() as rig:
        rig.mouth.stop("never")
        assert rig.mouth.heard("never") == ""


async def test_the_clients_own_position_counts() -> None:
    async with _rig() as rig:
        rig.say("r1", TEXT)
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        rig.mouth.played("r1", 0.0)
        rig.now_ms = rig.audio_ms("r1") / 2
        assert rig.mouth.heard("r1") == ""


async def test_of_a_reply_behind_another_nothing_is_heard_before_that_has_been_played() -> None:
    async with _rig() as rig:
        for reply_id in ("r1", "r2"):
            rig.say(reply_id, TEXT)
            rig.mouth.end(reply_id)
        await asyncio.wait_for(_until(lambda: AudioSent("r2") in rig.told), PATIENCE_S)
        first_ms = rig.audio_ms("r1")
        rig.now_ms = first_ms
        assert (rig.mouth.heard("r1"), rig.mouth.heard("r2")) == (TEXT, "")
        rig.now_ms = 1.5 * first_ms
        assert 0 < len(rig.mouth.heard("r2")) < len(TEXT)
        rig.now_ms = 2 * first_ms
        assert rig.mouth.heard("r2") == TEXT


async def test_truncation_overrules_the_estimate() -> None:
    async with _rig() as rig:
        rig.say("r1", TEXT)
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        rig.now_ms = rig.audio_ms("r1")
        rig.mouth.stop("r1")
        heard = rig.mouth.truncate("r1", rig.audio_ms("r1") / 2)
        assert 0 < len(heard) < len(TEXT)
        with pytest.raises(ProtocolError):
            rig.mouth.truncate("r1", rig.audio_ms("r1") + 50)
        with pytest.raises(ProtocolError):
            rig.mouth.truncate("never", 0)


async def test_a_voice_that_fails_costs_its_reply_only(caplog: pytest.LogCaptureFixture) -> None:
    async with _rig(_Broken()) as rig:
        rig.say("r1", TEXT)
        assert await rig.wait_for(SpeechFailed) == SpeechFailed("r1", "the voice is gone")
        rig.now_ms = 10_000
        assert await rig.wait_for(AudioPlayed) == AudioPlayed("r1", heard="")
        rig.say("r2", TEXT)
        await asyncio.wait_for(
            _until(lambda: SpeechFailed("r2", "the voice is gone") in rig.told), PATIENCE_S
        )
    assert f'File "{__file__}"' in caplog.text


async def test_replies_are_remembered_within_bounds() -> None:
    async with _rig() as rig:
        for number in range(RECENT_REPLIES + 12):
            rig.say(f"r{number}", "Yes.")
            rig.mouth.stop(f"r{number}")
        with pytest.raises(ProtocolError):
            rig.mouth.truncate("r0", 0)
        assert rig.mouth.truncate(f"r{RECENT_REPLIES + 11}", 0) == ""


async def test_what_was_prepared_is_said_without_being_made_again() -> None:
    made: list[str] = []

    class Counting(EspeakSynthesizer):
        def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
            made.append(segment.text)
            return super().synthesize(segment, speed)

    async with _rig(Counting("en-us", 50)) as rig:
        await asyncio.sleep(0)
        rig.mouth.prepare(Said(Segment(1, 0, "No.", "No."), 1.0))
        for _ in range(2):
            rig.mouth.prepare(Said(Segment(1, 0, TEXT, spoken(TEXT)), 1.0))
        await asyncio.wait_for(_until(lambda: TEXT in made), PATIENCE_S)
        assert not rig.events
        rig.say("r1", TEXT)
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        assert made == [TEXT]
        assert rig.audio_ms("r1") > 1500


async def test_what_was_prepared_for_other_words_is_not_said() -> None:
    async with _rig() as rig:
        await asyncio.sleep(0)
        rig.mouth.prepare(Said(Segment(1, 0, TEXT, spoken(TEXT)), 1.0))
        rig.say("r1", "Yes.")
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        assert rig.audio_ms("r1") < 1500
        rig.mouth.drop_prepared()


async def test_what_is_held_is_not_heard_until_it_goes_on() -> None:
    async with _rig() as rig:
        rig.say("r1", TEXT)
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        rig.now_ms = rig.audio_ms("r1") / 2
        rig.mouth.hold("r1")
        rig.now_ms += 60_000
        rig.mouth.release("r1")
        assert [e for e in rig.events if isinstance(e, ReplyHeld | ReplyReleased)] == [
            ReplyHeld("r1"),
            ReplyReleased("r1"),
        ]
        assert 0 < len(rig.mouth.heard("r1")) < len(TEXT)
        rig.mouth.hold("never")


async def test_replies_that_are_over_are_forgotten_and_no_other() -> None:
    async with _rig() as rig:
        rig.say("first", "Well.")
        for number in range(2 * RECENT_REPLIES):
            rig.say(f"r{number}", "Yes.")
            rig.mouth.stop(f"r{number}")
        rig.say("last", "No.")
        rig.mouth.end("first")
        await rig.wait_for(AudioSent)
        assert AudioSent("first") in rig.told
        with pytest.raises(ProtocolError):
            rig.mouth.truncate("r0", 0.0)


async def test_asides_are_left_out_that_would_only_sound_late() -> None:
    async with _rig() as rig:
        for number in range(5):
            rig.mouth.speak("r1", Segment(1, number, "", "Some of it is done."), RATE_HZ, 1.0)
        await rig.wait_for(ReplyAudio)
        rig.mouth.end("r1")
        await rig.wait_for(AudioSent)
        one_ms = rig.audio_ms("r1")
        assert 500 < one_ms < 3000
        rig.now_ms = one_ms
        # What is part of the reply is said whatever sounds before it; so is an aside in its time.
        rig.mouth.speak("r2", Segment(1, 0, "", "Some of it is done."), RATE_HZ, 1.0)
        await asyncio.wait_for(_until(lambda: rig.audio_ms("r2") >= one_ms - 1), PATIENCE_S)
        rig.now_ms += one_ms - 100
        rig.mouth.speak("r2", Segment(1, 1, "", "Some of it is done."), RATE_HZ, 1.0)
        await asyncio.wait_for(_until(lambda: rig.audio_ms("r2") >= 2 * one_ms - 2), PATIENCE_S)
        rig.mouth.speak("r2", Segment(1, 2, "", "Some of it is done."), RATE_HZ, 1.0)
        rig.say("r2", "Some of it is done.")
        rig.mouth.end("r2")
        await asyncio.wait_for(_until(lambda: AudioSent("r2") in rig.told), PATIENCE_S)
        assert rig.audio_ms("r2") == pytest.approx(3 * one_ms, abs=5)


async def test_a_reply_is_said_by_the_voice_that_it_asks_for() -> None:
    asked: list[str] = []
    changed = asyncio.Event()

    def voices(name: str) -> EspeakSynthesizer:
        asked.append(name)
        return EspeakSynthesizer("en-us", 50)

    events: list[SessionEvent] = []
    with ThreadPoolExecutor(1) as threads:
        mouth = AudioOutput(voices, threads, events.append, lambda _: changed.set())
        running = asyncio.create_task(mouth.run())
        mouth.speak("r1", Segment(1, 0, "Yes.", "Yes."), RATE_HZ, 1.0, "heart")
        mouth.speak("r1", Segment(1, 1, " No.", "No."), RATE_HZ, 1.0, "other")
        mouth.end("r1")
        await asyncio.wait_for(changed.wait(), PATIENCE_S)
        running.cancel()
    assert asked == ["heart", "heart"]
    assert any(isinstance(event, ReplyAudio) for event in events)


@virtual
async def test_what_is_said_next_does_not_wait_for_the_sentence_that_was_stopped() -> None:
    heard: list[tuple[float, str]] = []

    def emit(event: SessionEvent) -> None:
        if isinstance(event, ReplyAudio):
            heard.append((now(), event.reply_id))

    mouth = AudioOutput(lambda _: Voice(word_s=0.5), ThreadPoolExecutor(2), emit, lambda _: None)
    running = asyncio.create_task(mouth.run())
    mouth.speak("r1", Segment(1, 0, TEXT, spoken(TEXT)), RATE_HZ, 1.0)
    await asyncio.sleep(0.5)
    mouth.stop("r1")
    mouth.speak("r2", Segment(2, 0, "Yes.", "Yes."), RATE_HZ, 1.0)
    await asyncio.sleep(20)
    assert heard == [(pytest.approx(1.0), "r2")]
    running.cancel()
