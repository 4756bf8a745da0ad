from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.voice.conversing import converse
from benchmarks.voice.corpus import demo_lines
from tests.support.fake_realtime import FakeRealtime
from voice.demo.virtual_audio import room_tone
from voice.types import SAMPLE_RATE_HZ

LINE = demo_lines("assistant")[-1]


async def test_utterances_are_said_in_one_conversation(capsys: pytest.CaptureFixture[str]) -> None:
    # Words have gaps that a server which hears by loudness takes for the end.
    server = FakeRealtime(quiet_packets=20)
    noisy = replace(LINE, around=room_tone(1.0, SAMPLE_RATE_HZ), snr_db=20)
    async with server.running() as url:
        said = await converse(url, [noisy], silence_ms=700)
    assert said[0].utterance is noisy
    assert said[0].turn.status == "completed"
    assert server.received[0]["session"]["quicksilver"]["greet"] is False
    detection = server.received[1]["session"]["audio"]["input"]["turn_detection"]
    assert detection["silence_duration_ms"] == 700
    assert LINE.name in capsys.readouterr().out


async def test_an_agent_that_hangs_up_ends_the_conversation() -> None:
    server = FakeRealtime(quiet_packets=20, close_after=1)
    async with server.running() as url:
        said = await converse(url, [LINE, LINE, LINE])
    assert [one.turn.status for one in said][:1] == ["completed"]
    assert [one.turn.status for one in said][1:] in ([], ["none"])
