"""Audio in, events and transcripts out: turns, pauses, failures and what a client may set."""

from __future__ import annotations

import asyncio
import threading
from collections import deque

import numpy as np
import pytest

from tests.support.hearing import OPTIONS, LevelVad, hearing, loud, silent
from tests.support.patience import PATIENCE_S
from voice.config import EndpointingConfig
from voice.errors import ModelError, ProtocolError
from voice.hearing.backchannel import sound_log_odds
from voice.inputs import EndOfMessageFailed, RecognitionFailed, with_changes
from voice.types import (
    FRAME_SAMPLES,
    SAMPLE_RATE_HZ,
    AudioFrame,
    EndReason,
    Pause,
    Samples,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    Transcript,
    TurnEnded,
    samples_of_ms,
)


async def test_a_turn_is_heard_from_start_to_transcript() -> None:
    async with hearing() as rig:
        rig.hear(silent(1.0), loud(1.2), silent(2.0))
        final = await rig.final()
        assert rig.kinds() == [SpeechStarted, Pause, TurnEnded]
        assert final.text == "word word"
        started = rig.heard[0]
        assert isinstance(started, SpeechStarted)
        assert abs(started.start_sample - SAMPLE_RATE_HZ) <= FRAME_SAMPLES


async def test_a_short_turn_is_judged_by_its_sound_with_what_came_before_the_pause() -> None:
    async with hearing() as rig:
        audio = np.concatenate([silent(1.0), loud(0.2), silent(0.2), loud(0.24)])
        rig.hear(audio, silent(2.0))
        final = await rig.final()
        assert rig.kinds() == [SpeechStarted, Pause, SpeechResumed, Pause, TurnEnded]
        assert final.sound_odds is not None
        until = np.concatenate([audio, silent(0.06)])
        assert final.sound_odds == sound_log_odds(until, samples_of_ms(640), samples_of_ms(60))


def hissing(audio: Samples) -> Samples:
    """With as much above a telephone's band as a microphone always has."""
    return audio + np.random.default_rng(0).normal(0, 8, len(audio)).astype(np.int16)


@pytest.mark.parametrize(
    ("said", "rate_hz", "made"),
    [
        (loud(1.0, 8_000), 8_000, 1),
        (loud(1.0), SAMPLE_RATE_HZ, 1),
        (loud(1.0, 24_000), 24_000, 1),
        (loud(0.6), SAMPLE_RATE_HZ, 0),
        (hissing(loud(1.0)), SAMPLE_RATE_HZ, 0),
    ],
)
async def test_a_telephone_has_a_detector_of_its_own(
    said: Samples, rate_hz: int, made: int
) -> None:
    detectors: list[LevelVad] = []

    def another() -> LevelVad:
        detectors.append(LevelVad())
        return detectors[-1]

    async with hearing(telephone_vad=another) as rig:
        rig.hear(said, silent(2.0, rate_hz), rate_hz=rate_hz)
        await rig.final()
        assert len(detectors) == made
        assert rig.kinds() == [SpeechStarted, Pause, TurnEnded]


@pytest.mark.parametrize("swells", [False, True])
async def test_steady_sound_does_not_count_as_speech_that_lasts(swells: bool) -> None:
    said = loud(1.4)
    if swells:
        said = (said * np.linspace(0.05, 1, len(said))).astype(np.int16)
    async with hearing() as rig:
        rig.hear(said)
        assert (SpeechLasted in [type(event) for event in rig.heard]) == swells


async def test_the_recogniser_gets_the_audio_before_the_detected_start_and_none_twice() -> None:
    async with hearing() as rig:
        rig.hear(silent(1.0), loud(1.2), silent(2.0))
        await rig.final()
        starts = [frame.start_sample for frame in rig.recognizer.streams[0].frames]
        assert starts == list(range(starts[0], starts[-1] + 1, FRAME_SAMPLES))
        assert SAMPLE_RATE_HZ * 0.65 <= starts[0] <= SAMPLE_RATE_HZ * 0.75


async def test_the_final_decode_overlaps_the_silence() -> None:
    async with hearing() as rig:
        rig.hear(loud(1.2), silent(0.1))
        await rig.settle()
        assert rig.recognizer.finished == 1
        assert TurnEnded not in rig.kinds()
        assert rig.decoded == [1]
        rig.hear(silent(2.0))
        assert isinstance(rig.heard[-1], Transcript)
        assert rig.heard[-1].final
        assert isinstance(rig.heard[-2], TurnEnded)
        assert rig.recognizer.finished == 1


async def test_the_recogniser_is_told_of_the_first_silent_frame_and_given_no_more_of_them() -> None:
    async with hearing() as rig:
        rig.hear(loud(1.2), silent(0.02))
        await rig.settle()
        assert rig.recognizer.fell_silent == [61]
        rig.hear(silent(0.02))
        await rig.settle()
        assert len(rig.recognizer.streams[0].frames) == 61
        rig.hear(loud(0.4), silent(2.0))
        await rig.final()
        assert rig.kinds() == [SpeechStarted, Pause, TurnEnded]
        starts = [frame.start_sample for frame in rig.recognizer.streams[0].frames]
        assert starts == list(range(0, 83 * FRAME_SAMPLES, FRAME_SAMPLES))


async def test_speech_that_goes_on_is_decoded_again_as_a_whole() -> None:
    async with hearing() as rig:
        rig.hear(loud(1.2), silent(0.16))
        await rig.settle()
        rig.hear(loud(1.2), silent(2.0))
        final = await rig.final()
        assert rig.kinds() == [SpeechStarted, Pause, SpeechResumed, Pause, TurnEnded]
        assert final.text == "word word word word"
        starts = [frame.start_sample for frame in rig.recognizer.streams[0].frames]
        assert starts == list(range(0, starts[-1] + 1, FRAME_SAMPLES))


async def test_a_decode_that_speech_has_overtaken_does_not_count() -> None:
    async with hearing() as rig:
        rig.recognizer.let_finish.clear()
        rig.hear(loud(1.2), silent(0.1))
        while rig.recognizer.finished == 0:
            await asyncio.sleep(0.005)
        rig.hear(loud(1.2), silent(0.1))
        rig.recognizer.let_finish.set()
        rig.hear(silent(2.0))
        assert (await rig.final()).text == "word word word word"
        assert len([e for e in rig.heard if isinstance(e, Transcript) and e.final]) == 1


class RunsEmpty(deque[AudioFrame]):
    """A queue; who finds it empty learns that only once `go_on` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.empty, self.go_on = threading.Event(), threading.Event()

    def __bool__(self) -> bool:
        full = len(self) > 0
        if not full:
            self.empty.set()
            self.go_on.wait(PATIENCE_S)
        return full


async def test_what_was_said_as_the_recogniser_ran_out_of_audio_is_in_the_final_decode() -> None:
    async with hearing() as rig:
        rig.hear(loud(0.5))
        await rig.settle()
        assert rig.ears._turn is not None
        rig.ears._turn.queued = queue = RunsEmpty()
        rig.hear(loud(0.1))
        await asyncio.to_thread(queue.empty.wait, PATIENCE_S)
        rig.hear(loud(0.6), silent(0.1))
        queue.go_on.set()
        await rig.settle()
        rig.hear(silent(2.0))
        assert (await rig.final()).text == "word word"


async def test_interim_transcripts_come_while_the_user_speaks() -> None:
    async with hearing() as rig:
        rig.hear(loud(0.7))
        await rig.settle()
        interim = [event for event in rig.heard if isinstance(event, Transcript)]
        assert [event.text for event in interim] == ["word"]
        assert not interim[0].final


async def test_interim_transcripts_give_way_for_a_second_at_most() -> None:
    async with hearing(allows_partial=lambda: False) as rig:
        for seconds, texts in ((0.9, []), (0.4, ["word word"])):
            rig.hear(loud(seconds))
            await rig.settle()
            assert [e.text for e in rig.heard if isinstance(e, Transcript)] == texts
        rig.hear(silent(2.0))
        assert (await rig.final()).text == "word word"


async def test_a_recogniser_that_fails_is_told_and_the_next_turn_is_heard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with hearing() as rig:
        rig.recognizer.fail = True
        rig.hear(loud(1.2), silent(2.0))
        while not any(isinstance(event, RecognitionFailed) for event in rig.heard):
            await asyncio.sleep(0.005)
        assert rig.heard[-1] == RecognitionFailed(1, "the recogniser is gone")
        rig.recognizer.fail = False
        rig.hear(loud(1.2), silent(2.0))
        assert (await rig.final()).turn_id == 2
    assert "in finish\n" in caplog.text


async def test_a_recogniser_that_fails_in_mid_speech_is_told_once_the_user_has_ended() -> None:
    async with hearing() as rig:
        rig.recognizer.fail = True
        rig.hear(loud(1.2), silent(0.1))
        await rig.settle()
        rig.recognizer.fail = False
        rig.hear(loud(1.2))
        await rig.settle()
        assert rig.kinds() == [SpeechStarted, Pause, SpeechResumed]
        rig.hear(silent(2.0))
        await rig.settle()
        ended = [SpeechStarted, Pause, SpeechResumed, Pause, TurnEnded, RecognitionFailed]
        assert rig.kinds() == ended


@pytest.mark.parametrize("rate_hz", [8000, 24_000, 44_100])
async def test_audio_of_any_rate_is_heard(rate_hz: int) -> None:
    async with hearing() as rig:
        rig.hear(loud(1.2, rate_hz), silent(2.0, rate_hz), rate_hz=rate_hz)
        assert (await rig.final()).text.startswith("word word")


async def test_a_manual_turn_is_what_was_buffered_until_the_commit() -> None:
    async with hearing() as rig:
        rig.ears.configure(with_changes(OPTIONS, turn_detection=False))
        rig.hear(loud(1.2), silent(3.0))
        await rig.settle()
        assert rig.heard == []
        rig.ears.commit()
        final = await rig.final()
        ended = rig.heard[0]
        assert isinstance(ended, TurnEnded)
        assert ended.reason is EndReason.MANUAL
        whole = round(4.2 * SAMPLE_RATE_HZ)
        assert (ended.start_sample, ended.end_sample, ended.decided_sample) == (0, whole, whole)
        assert rig.kinds() == [TurnEnded]
        assert final.text == "word word"
        assert len(rig.recognizer.streams[0].frames) * FRAME_SAMPLES == 4.2 * SAMPLE_RATE_HZ


async def test_a_manual_turn_has_the_last_of_its_audio_and_none_of_the_turn_before() -> None:
    async with hearing() as rig:
        rig.ears.configure(with_changes(OPTIONS, turn_detection=False))
        for _ in range(2):
            rig.hear(silent(1.0, 24_000), loud(0.05, 24_000), rate_hz=24_000)
            rig.ears.commit()
            await rig.settle()
        for stream in rig.recognizer.streams:
            audio = np.concatenate([frame.samples for frame in stream.frames])
            at = np.flatnonzero(np.abs(audio) > 1000)
            assert at[0] == pytest.approx(SAMPLE_RATE_HZ, abs=samples_of_ms(5))
            assert at[-1] - at[0] == pytest.approx(samples_of_ms(50), abs=samples_of_ms(5))


async def test_a_rate_that_comes_back_brings_nothing_of_what_it_was_used_for_before() -> None:
    async with hearing() as rig:
        rig.ears.configure(with_changes(OPTIONS, turn_detection=False))
        rig.hear(loud(1.0, 24_000), rate_hz=24_000)
        rig.hear(silent(0.1))
        rig.ears.clear()
        rig.hear(silent(0.3, 24_000), rate_hz=24_000)
        rig.ears.commit()
        await rig.final()
        assert max(np.abs(frame.samples).max() for frame in rig.recognizer.streams[0].frames) < 100


async def test_a_commit_ends_a_detected_turn_at_once() -> None:
    async with hearing() as rig:
        rig.hear(loud(1.2))
        rig.ears.commit()
        assert (await rig.final()).text == "word word"
        assert rig.kinds() == [SpeechStarted, TurnEnded]


async def test_too_little_audio_is_not_committed() -> None:
    async with hearing() as rig:
        rig.hear(silent(0.05))
        with pytest.raises(ProtocolError) as refused:
            rig.ears.commit()
        assert refused.value.code == "input_audio_buffer_commit_empty"


async def test_clearing_drops_the_turn() -> None:
    async with hearing() as rig:
        rig.hear(loud(1.2))
        rig.ears.clear()
        rig.hear(silent(3.0))
        await rig.settle()
        assert TurnEnded not in rig.kinds()
        with_audio = rig.recognizer.finished
        assert with_audio == 0


async def test_a_client_may_fix_the_silence_that_ends_a_turn() -> None:
    for silence_ms, ends in ((200, True), (900, False)):
        async with hearing() as rig:
            rig.ears.configure(with_changes(OPTIONS, silence_ms=silence_ms))
            rig.hear(loud(1.2), silent(0.5))
            await rig.settle()
            assert (TurnEnded in rig.kinds()) is ends


@pytest.mark.parametrize(("opinion", "ends"), [(0.9, True), (0.0001, False), (None, False)])
async def test_an_opinion_on_the_words_shortens_or_lengthens_the_wait(
    opinion: float | None, ends: bool
) -> None:
    asked = []

    async def judge(words: str) -> float | None:
        asked.append(words)
        return opinion

    async with hearing(end_of_message=judge) as rig:
        rig.hear(loud(2.2), silent(0.1))
        await rig.settle()
        rig.hear(silent(0.3))
        await rig.settle()
        assert asked == ["word word word word"]
        assert (TurnEnded in rig.kinds()) is ends


async def test_an_opinion_on_a_pause_is_asked_for_once_however_busy_the_recogniser_is() -> None:
    asked = []

    async def judge(words: str) -> float | None:
        asked.append(words)
        return 0.9

    async with hearing(end_of_message=judge) as rig:
        busy = threading.Event()
        rig.threads.submit(busy.wait, PATIENCE_S)
        rig.hear(loud(1.2))
        await asyncio.sleep(0.01)
        rig.hear(silent(0.1))
        busy.set()
        await rig.settle()
        assert asked == ["word word"]


async def test_an_opinion_that_fails_is_told_and_the_silence_decides(
    caplog: pytest.LogCaptureFixture,
) -> None:
    errors = [ModelError("out of memory"), RuntimeError("a bug")]

    async def judge(words: str) -> float | None:
        raise errors.pop(0)

    async with hearing(end_of_message=judge) as rig:
        for turn_id in (1, 2):
            rig.hear(loud(1.2), silent(0.1))
            await rig.settle()
            rig.hear(silent(2.0))
            await rig.settle()
            ended = [event for event in rig.heard if isinstance(event, TurnEnded)]
            assert [event.turn_id for event in ended] == [*range(1, turn_id + 1)]
        failed = [event for event in rig.heard if isinstance(event, EndOfMessageFailed)]
        assert failed == [
            EndOfMessageFailed(1, "out of memory"),
            EndOfMessageFailed(2, "the model failed"),
        ]
    assert caplog.text.count("in judge\n") == 2
    assert "a bug" not in caplog.text


@pytest.mark.parametrize(("profile", "ends"), [("eager", True), ("patient", False)])
async def test_a_client_may_choose_how_eager_the_agent_is(profile: str, ends: bool) -> None:
    async with hearing() as rig:
        rig.ears.configure(with_changes(OPTIONS, profile=profile))
        rig.hear(loud(1.2), silent(0.1))
        await rig.settle()
        rig.hear(silent(0.5))
        await rig.settle()
        assert (TurnEnded in rig.kinds()) is ends
        rig.ears.configure(OPTIONS)
        assert rig.ears._endpointer._profile == EndpointingConfig().profile


@pytest.mark.parametrize(("pre_roll_ms", "before_ms"), [(0, 0), (800, 800), (None, 300)])
async def test_a_client_may_choose_how_much_is_heard_of_what_came_before(
    pre_roll_ms: int | None, before_ms: int
) -> None:
    async with hearing() as rig:
        rig.ears.configure(with_changes(OPTIONS, pre_roll_ms=pre_roll_ms))
        rig.hear(silent(2.0), loud(1.2), silent(2.0))
        await rig.final()
        first = rig.recognizer.streams[0].frames[0].start_sample
        assert abs(2 * SAMPLE_RATE_HZ - first - before_ms * 16) <= 2 * FRAME_SAMPLES
        assert rig.ears.position == round(5.2 * SAMPLE_RATE_HZ)


async def test_what_was_understood_at_a_pause_is_told_before_the_turn_ends() -> None:
    async with hearing() as rig:
        rig.hear(loud(1.2), silent(0.1))
        await rig.settle()
        told = [event for event in rig.heard if isinstance(event, Transcript)]
        assert (told[-1].text, told[-1].final) == ("word word", False)


async def test_words_from_before_a_pause_are_told_with_how_they_sounded() -> None:
    """A recogniser that is behind must not have them judged as if nobody could tell."""
    async with hearing() as rig:
        busy = threading.Event()
        rig.threads.submit(busy.wait, PATIENCE_S)
        rig.hear(silent(1.0), loud(0.6), silent(0.3))
        while Pause not in rig.kinds():
            rig.changed.clear()
            await rig.changed.wait()
        busy.set()
        await rig.settle()
        told = [event for event in rig.heard if isinstance(event, Transcript)]
        assert [(event.text, event.sound_odds is None) for event in told] == [("word", False)]


async def test_words_from_before_a_pause_do_not_end_it_before_its_own_decode_has_come() -> None:
    """They are a guess: only the decode of the whole says how far they can be trusted."""
    async with hearing() as rig:
        rig.hear(loud(1.2))
        await rig.settle()
        rig.recognizer.let_finish.clear()
        rig.hear(silent(0.6))
        assert rig.kinds() == [SpeechStarted, Pause]
        rig.recognizer.let_finish.set()
        await rig.settle()
        rig.hear(silent(0.02))
        assert rig.kinds() == [SpeechStarted, Pause, TurnEnded]
