import pytest

from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.turns import Run, alone, converse, interrupt, side_by_side
from tests.benchmarks.test_figures import said
from tests.fake_realtime import FakeRealtime, tone

LINES = demo_lines("assistant")


async def test_utterances_are_said_in_one_conversation(capsys):
    # Words have gaps that a server which hears by loudness takes for the end.
    server = FakeRealtime(quiet_packets=20)
    async with server.running() as url:
        said = await converse(url, LINES[-1:])
    assert said[0].utterance is LINES[-1]
    assert said[0].turn.status == "completed"
    assert server.received[0]["session"]["quicksilver"]["greet"] is False
    assert LINES[-1].name in capsys.readouterr().out


async def test_an_interruption_is_timed_from_the_first_sound_of_speech():
    server = FakeRealtime(quiet_packets=20, reply=tone(3.0))
    async with server.running() as url:
        cut = await interrupt(url, LINES[-1], LINES[0])
    assert (cut.whole, cut.kept) == ("It is noon.", "It is")
    assert cut.silence_ms == pytest.approx(60, abs=60)


async def test_a_reply_that_was_over_cannot_be_interrupted():
    server = FakeRealtime(quiet_packets=20, reply=tone(0.1))
    async with server.running() as url:
        assert await interrupt(url, LINES[-1], LINES[0]) is None


def test_utterances_go_to_their_own_agent():
    paused = alone("coffee", ["pauses"])
    assert paused
    assert {utterance.agent for utterance in paused} == {"coffee"}
    assert alone("coffee", ["demo"]) == []


def test_ways_to_run_are_set_side_by_side():
    runs = {
        "on": Run([said(), None], [{"quicksilver_drafts yes": 3.0}], {2: [said(), said()]}),
        "off": Run([said(voice_to_voice_ms=700.0)], [], {}),
    }
    told = side_by_side(runs)
    assert told["on"]["voice_to_voice_ms"]["p50"] == 400
    assert told["off"]["voice_to_voice_ms"]["p50"] == 700
    assert told["on"]["drafts"]["made"] == 3
    assert told["on"]["calls"]["2"]["turns"] == 2
    assert runs["on"].attempts == [None]
