from __future__ import annotations

from dataclasses import replace

from benchmarks.voice.bystander import Sound
from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.heard_words import Heard
from benchmarks.voice.talking_over import (
    GREETING,
    TalkedOver,
    by_kind,
    figures,
    interrupt,
    talkative,
    withdrawn,
)
from tests.fake_realtime import FakeRealtime, tone
from voice.config import load_agent
from voice.types import SAMPLE_RATE_HZ
from voice.virtual_audio import room_tone

LINES = demo_lines("assistant")


async def test_an_interruption_is_timed_from_the_first_sound_of_speech() -> None:
    server = FakeRealtime(quiet_packets=20, reply=tone(3.0))
    async with server.running() as url:
        cut = await interrupt(url, LINES[-1], LINES[0], 0.4)
    assert cut is not None
    assert cut.stopped
    assert (cut.whole, cut.kept, cut.heard) == ("It is noon.", "It is", None)
    assert cut.silence_ms is not None
    assert cut.decided_ms is not None
    assert 0 < cut.after_ms < cut.decided_ms


def test_the_user_only_goes_on_within_so_long_of_the_decision() -> None:
    cut = TalkedOver("c", 600, 90.0, True)
    assert not cut.reopens
    assert replace(cut, decided_ms=650.0).reopens
    assert not replace(cut, decided_ms=750.0).reopens


async def test_a_reply_that_was_over_cannot_be_interrupted() -> None:
    server = FakeRealtime(quiet_packets=20, reply=tone(0.1))
    async with server.running() as url:
        assert await interrupt(url, LINES[-1], LINES[0], 0.4) is None


def test_an_agent_with_more_to_say_is_the_same_otherwise() -> None:
    with talkative("assistant") as file:
        told = load_agent(file)
    assert told.greeting == GREETING
    assert told.tools == load_agent("assistant").tools


def test_the_figures_of_interruptions() -> None:
    whole = "It is noon in Rome."
    told = figures(
        [
            TalkedOver("c", 1000, 180.0, True, 0, whole, "It is", Heard(2, 2, 3)),
            TalkedOver("c", 1700, 220.0, True, 0, whole, whole, Heard(3, 3, 4)),
            TalkedOver("c", 1700, None, False, 0),
            None,
        ]
    )
    assert (told["attempts"], told["stopped"]["count"], told["stopped"]["of"]) == (4, 2, 3)
    assert told["silence_ms"]["max"] == 220
    assert told["kept_is_a_beginning"]["rate"] == 1
    assert told["kept_to_the_word"] == {"count": 1, "of": 2, "rate": 0.5}
    assert told["kept"][0]["words_heard"] == [2, 2, 3]


def test_sounds_that_do_not_stop_the_agent_are_counted_by_kind() -> None:
    hum = TalkedOver("hum", 1500, 100.0, False, 400.0)
    kinds = ("hum", "stop", "stop", "hum", "cry")
    stop = TalkedOver("stop", 1500, 90.0, True)
    none = room_tone(0.1, SAMPLE_RATE_HZ)
    sounds = [Sound(kind, none, 0, True, f"{kind} {number}") for number, kind in enumerate(kinds)]
    told = by_kind(list(zip(sounds, [hum, stop, None, hum, None], strict=True)))
    assert list(told) == ["hum", "stop", "cry"]
    assert told["hum"]["not_stopped_by"] == ["hum 0", "hum 3"]
    assert told["stop"]["stopped_by"] == ["stop 1"]
    assert told["stop"]["not_counted"] == ["stop 2"]
    assert told["stop"]["attempts"] == 2
    assert told["stop"]["stopped"] == {"count": 1, "of": 1, "rate": 1.0}
    assert told["cry"]["stopped"]["of"] == 0
    assert told["hum"]["stopped"] == {"count": 0, "of": 2, "rate": 0.0}
    assert told["hum"]["held_ms_where_it_went_on"]["p50"] == 400


def test_of_a_reply_begun_too_soon_nothing_may_be_kept() -> None:
    kept = [TalkedOver("c", 300, 90.0, True, kept=text) for text in ("", "", "It is")]
    assert withdrawn(kept)["nothing_kept"] == {"count": 2, "of": 3, "rate": 0.6667}
