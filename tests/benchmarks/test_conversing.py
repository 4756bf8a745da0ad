from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.voice.conversing import at_once, converse
from benchmarks.voice.corpus import Utterance, demo_lines
from benchmarks.voice.figures import Said
from tests.benchmarks.test_figures import said
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


LINES = [*demo_lines("assistant")[:3], demo_lines("assistant")[-1]]


async def test_every_call_says_all_lines_and_begins_with_another() -> None:
    asked: list[tuple[str, list[str]]] = []

    async def converse(url: str, utterances: Sequence[Utterance]) -> list[Said]:
        asked.append((url, [utterance.name for utterance in utterances]))
        return [said() for _ in utterances]

    names = [line.name for line in LINES[:-1]]
    found = await at_once(converse, "ws://x", LINES, 2)
    assert len(found) == 6
    assert asked == [("ws://x", names), ("ws://x", [*names[1:], names[0]])]
