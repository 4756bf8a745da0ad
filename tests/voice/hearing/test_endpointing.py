"""The state machine on made-up probabilities, and on recordings of people."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.audio import Framer
from voice.config import EndpointingConfig, VadConfig
from voice.hearing.end_of_turn import Cues, Profile
from voice.hearing.endpointing import Endpointer
from voice.hearing.vad import make_vad
from voice.types import (
    FRAME_SAMPLES,
    AudioFrame,
    EndpointEvent,
    EndReason,
    Pause,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    TurnEnded,
    ms_of_samples,
)

SILENT = np.zeros(FRAME_SAMPLES, np.int16)


class Player:
    """Feeds an endpointer speech and silence by the millisecond.

    Attributes:
        lasted: The `SpeechLasted` among the events; the others are in ``events``.
    """

    def __init__(self, endpointer: Endpointer | None = None) -> None:
        self.endpointer = endpointer or Endpointer(EndpointingConfig())
        self.events: list[EndpointEvent] = []
        self.lasted: list[EndpointEvent] = []
        self._at = 0

    def play(self, ms: int, probability: float, transcript: str = "hello my") -> Player:
        for _ in range(ms // 20):
            frame = AudioFrame(SILENT, self._at)
            for event in self.endpointer.accept(frame, probability, Cues(transcript)):
                (self.lasted if isinstance(event, SpeechLasted) else self.events).append(event)
            self._at += FRAME_SAMPLES
        return self

    def speech(self, ms: int, transcript: str = "hello my") -> Player:
        return self.play(ms, 1.0, transcript)

    def silence(self, ms: int, transcript: str = "hello my") -> Player:
        return self.play(ms, 0.0, transcript)

    def kinds(self) -> list[type]:
        return [type(event) for event in self.events]


def decided_after_ms(transcript: str, endpointer: Endpointer | None = None) -> float:
    player = Player(endpointer).silence(400).speech(1000).silence(3000, transcript)
    ended = player.events[-1]
    assert isinstance(ended, TurnEnded)
    return ms_of_samples(ended.decided_sample - ended.end_sample)


def test_a_turn_from_start_to_end() -> None:
    player = Player().silence(400).speech(1000).silence(1300)
    start, end = 400 * 16, 1400 * 16
    assert player.events == [
        SpeechStarted(1, start),
        Pause(1, end),
        TurnEnded(1, end, end + 1200 * 16),
    ]


def test_speech_must_fill_most_of_the_start_window() -> None:
    player = Player()
    for _ in range(10):
        player.speech(60).silence(200)
    assert player.events == []
    player.speech(40).silence(20).speech(40)
    assert player.kinds() == [SpeechStarted]
    assert player.events[0].start_sample == 2600 * 16


@pytest.mark.parametrize(
    ("transcript", "silence_ms"),
    [
        ("thank you", 160),
        ("what time is it", 440),
        ("a large latte", 460),
        ("add milk and", 1200),
        ("five five five", 1200),
        ("", 1200),
    ],
)
def test_the_silence_depends_on_the_words(transcript: str, silence_ms: int) -> None:
    assert decided_after_ms(transcript) == silence_ms


def test_enough_speech_is_told_once_a_turn_pauses_left_out() -> None:
    player = Player().speech(600).silence(300, "and").speech(280)
    assert player.lasted == []
    player.speech(40).silence(300, "and").speech(2000)
    assert player.lasted == [SpeechLasted(1)]
    player.silence(2000).speech(1000)
    assert player.lasted == [SpeechLasted(1), SpeechLasted(2)]


def test_enough_speech_is_told_where_a_turn_begins_with_as_much() -> None:
    for barge_in_ms in (20, 80, 100):
        player = Player(Endpointer(EndpointingConfig(barge_in_ms=barge_in_ms)))
        assert player.speech(120).lasted == [SpeechLasted(1)]


def test_a_fixed_silence_ignores_the_words() -> None:
    fixed = Endpointer(EndpointingConfig(), silence_ms=300)
    assert decided_after_ms("add milk and", fixed) == 300
    fixed.configure(0.5, None, Profile.BALANCED, 300)
    assert decided_after_ms("add milk and", fixed) == 1200


def test_a_transcript_that_comes_late_still_decides() -> None:
    player = Player().speech(1000).silence(500, "").silence(20, "what time is it")
    assert player.kinds() == [SpeechStarted, Pause, TurnEnded]


def test_speech_resumes() -> None:
    player = Player().speech(1000).silence(200).speech(500).silence(1300)
    assert player.kinds() == [SpeechStarted, Pause, SpeechResumed, Pause, TurnEnded]
    assert player.events[2] == SpeechResumed(1, 1200 * 16)
    assert player.events[-1].end_sample == 1700 * 16


def test_clicks_do_not_hold_the_turn_open() -> None:
    player = Player().speech(1000).silence(300).speech(40).silence(260).speech(40).silence(1000)
    assert player.kinds() == [SpeechStarted, Pause, TurnEnded]
    assert player.events[-1].end_sample == 1000 * 16
    assert player.events[-1].decided_sample == 2200 * 16


def test_a_run_of_speech_at_the_deadline_is_waited_for() -> None:
    player = Player().speech(1000).silence(1180).speech(200).silence(100)
    assert player.kinds() == [SpeechStarted, Pause, SpeechResumed, Pause]


def test_the_longest_turn_ends_while_speech_goes_on() -> None:
    player = Player(Endpointer(EndpointingConfig(longest_turn_s=2))).speech(3000)
    assert player.kinds() == [SpeechStarted, TurnEnded, SpeechStarted]
    ended = player.events[1]
    assert ended == TurnEnded(1, ended.decided_sample, ended.decided_sample, EndReason.LONGEST_TURN)
    assert ended.decided_sample == 2000 * 16
    assert player.events[2].turn_id == 2


def test_forced_ends() -> None:
    player = Player().silence(200)
    assert player.endpointer.force_end(EndReason.MANUAL) == []
    player.speech(500)
    assert player.endpointer.in_turn
    assert player.endpointer.force_end(EndReason.MANUAL) == [
        TurnEnded(1, 700 * 16, 700 * 16, EndReason.MANUAL)
    ]
    assert not player.endpointer.in_turn
    assert player.endpointer.force_end(EndReason.MANUAL, start_sample=100) == [
        SpeechStarted(2, 100),
        TurnEnded(2, 700 * 16, 700 * 16, EndReason.MANUAL),
    ]


def test_a_forced_end_in_a_pause_keeps_where_speech_ended() -> None:
    player = Player().speech(500).silence(100)
    [ended] = player.endpointer.force_end(EndReason.MANUAL)
    assert ended == TurnEnded(1, 500 * 16, 600 * 16, EndReason.MANUAL)


def test_reset_drops_the_turn_but_not_the_count() -> None:
    player = Player().speech(500)
    player.endpointer.reset()
    player.silence(2000).speech(500)
    assert player.events == [SpeechStarted(1, 0), SpeechStarted(2, 2500 * 16)]


def test_the_threshold_can_be_moved() -> None:
    player = Player().play(500, 0.6)
    assert player.kinds() == [SpeechStarted]
    player.endpointer.reset()
    player.endpointer.configure(0.7, None, Profile.BALANCED, 300)
    assert player.play(500, 0.4).kinds() == [SpeechStarted]


def test_a_turn_begins_below_the_threshold_and_goes_on_above() -> None:
    player = Player().play(100, 0.35)
    assert player.kinds() == [SpeechStarted]
    assert player.play(100, 0.35).kinds() == [SpeechStarted, Pause]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 60), st.booleans()), max_size=30))
def test_events_are_well_formed_whatever_is_heard(runs: list[tuple[int, bool]]) -> None:
    player = Player()
    for frames, speech in runs:
        player.play(frames * 20, float(speech), "what time is it")
    follows = {
        SpeechStarted: {Pause, TurnEnded},
        Pause: {SpeechResumed, TurnEnded},
        SpeechResumed: {Pause, TurnEnded},
        TurnEnded: {SpeechStarted},
    }
    kinds = player.kinds()
    assert kinds[:1] in ([], [SpeechStarted])
    for before, after in pairwise(kinds):
        assert after in follows[before]
    for event in player.events:
        if isinstance(event, TurnEnded):
            assert event.end_sample <= event.decided_sample


def heard(audio: np.ndarray, engine: str, transcript: str) -> list[EndpointEvent]:
    vad = make_vad(VadConfig(engine=engine))
    endpointer = Endpointer(EndpointingConfig())
    framer = Framer()
    return [
        event
        for frame in framer.push(audio)
        for event in endpointer.accept(frame, vad.probability(frame), Cues(transcript))
    ]


@pytest.mark.parametrize("engine", ["webrtc", "silero"])
def test_recorded_commands_are_one_turn_each(shared_audio: Path, engine: str) -> None:
    lines = (shared_audio / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in [row for row in rows if row["kind"] == "command"]:
        audio, _ = soundfile.read(shared_audio / row["audio"], dtype="int16")
        padded = np.concatenate([np.zeros(4800, np.int16), audio, np.zeros(32000, np.int16)])
        events = heard(padded, engine, "hello my")
        assert [type(e) for e in events].count(TurnEnded) == 1, row["audio"]
