from __future__ import annotations

import asyncio
import base64
from typing import Any

import numpy as np
import pytest
import soxr
from websockets.asyncio.server import ServerConnection

from benchmarks.voice.bystander import Sound
from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.heard_words import Heard, heard_words
from benchmarks.voice.talking_over import (
    TalkedOver,
    by_kind,
    disturb,
    figures,
    interrupt,
    withdrawn,
)
from tests.support.fake_realtime import FakeRealtime, tone
from tests.support.steady_time import steady
from voice.demo.virtual_audio import room_tone
from voice.speech.normalization import spoken
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import SAMPLE_RATE_HZ, Samples, Segment

LINES = demo_lines("assistant")
PIECE_S = 0.2


class Greeting(FakeRealtime):
    """It greets in pieces that come as they are needed, and does not notice speech."""

    async def _send(self, socket: ServerConnection, kind: str, **fields: Any) -> None:
        if kind == "input_audio_buffer.speech_started":
            return
        if kind != "response.output_audio.delta":
            await super()._send(socket, kind, **fields)
        if kind == "session.updated":
            asyncio.get_running_loop().create_task(self._reply(socket, 1))
        if kind == "response.output_audio.delta":
            piece = base64.b64encode(tone(PIECE_S).tobytes()).decode()
            for _ in range(10):
                await super()._send(socket, kind, **fields | {"delta": piece})
                # A piece is always ahead.
                await asyncio.sleep(0.9 * PIECE_S)


def sentence(lead_s: float, seconds: float) -> Sound:
    """A sound behind some silence."""
    rate = SAMPLE_RATE_HZ
    loud = np.tile(np.int16([9000, -9000]), round(seconds * rate / 2))
    lead = room_tone(lead_s, rate)
    return Sound("sentence", np.concatenate([lead, loud]), len(lead))


@steady
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


@steady
async def test_an_agent_that_ignores_a_sound_to_its_own_end_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.voice.talking_over.DECIDED_AFTER_S", 0.1)
    async with Greeting().running() as url:
        over = await disturb(url, sentence(0.1, 3.0), 0.3)
    assert over is not None
    assert (over.stopped, over.silence_ms) == (False, None)


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
    kept = [TalkedOver("c", 300, 90.0, True, kept=text) for text in ("", "", "It is", None)]
    ignored = TalkedOver("c", 300, None, False)
    told = withdrawn([*kept, ignored, None])
    assert told["attempts"] == 6
    assert told["nothing_kept"] == {"count": 2, "of": 5, "rate": 0.4}


TEXT = "12 times 7 equals 84."


def sound(text: str) -> tuple[Samples, list[int]]:
    """A text's audio at 16 kHz, and where the voice says that its words end."""
    voice = EspeakSynthesizer()
    chunks = list(voice.synthesize(Segment(1, 0, text, spoken(text))))
    audio = np.concatenate([chunk.samples for chunk in chunks])
    ends = [word.end_sample for chunk in chunks for word in chunk.words]
    rate_hz = voice.sample_rate_hz
    return soxr.resample(audio, rate_hz, SAMPLE_RATE_HZ), [
        end * SAMPLE_RATE_HZ // rate_hz for end in ends
    ]


def test_words_are_found_where_the_voice_says_they_are() -> None:
    audio, ends = sound(TEXT)
    for count, end in enumerate(ends, start=1):
        heard = heard_words(TEXT, audio, end)
        assert heard is not None
        assert heard.least <= count <= heard.most
        assert heard.most - heard.least <= 1
    assert heard_words(TEXT, audio, 0) == Heard(0, 0, 0)
