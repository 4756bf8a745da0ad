import asyncio

import pytest

from tests.support.fake_realtime import FakeRealtime, tone
from tests.support.steady_time import MOST_S, steady
from voice.demo.client import RealtimeClient


@steady
async def test_a_turn_is_said_and_heard_in_real_time():
    server = FakeRealtime()
    async with server.running() as url, RealtimeClient.open(url, api_key="k") as client:
        begun_s = client.clock()
        turn = await client.turn(tone(0.4))
        lasted_s = client.clock() - begun_s
    assert (turn.transcript, turn.reply, turn.status) == ("hello", "It is noon.", "completed")
    assert [(t.name, t.arguments, t.result) for t in turn.tools] == [
        ("get_time", {"place": "Rome"}, "It is noon.")
    ]
    assert turn.marks_ms == {"asr_final": 9.0}
    assert (turn.commits, turn.early_commits) == (1, 0)
    # 200 ms of quiet end the turn, then 50 ms of thought and 50 ms of silence before the tone.
    assert turn.voice_to_voice_ms == pytest.approx(300, abs=100)
    assert lasted_s == pytest.approx(0.4 + 0.25 + 0.55, abs=0.2)
    assert server.headers[0]["Authorization"] == "Bearer k"
    session = server.received[0]["session"]
    assert "tools" in session["quicksilver"]["events"]


@steady
async def test_playback_is_reported_while_it_lasts():
    server = FakeRealtime(reply=tone(1.5))
    async with server.running() as url, RealtimeClient.open(url) as client:
        await client.turn(tone(0.3))
    played = [e for e in server.received if e["type"] == "quicksilver.played"]
    assert {e["item_id"] for e in played} == {"i1"}
    positions = [e["audio_end_ms"] for e in played]
    assert len(positions) >= 3
    assert positions == sorted(positions)
    assert 1200 < positions[-1] <= 1500


@steady
async def test_speech_silences_the_loudspeaker_and_truncates():
    server = FakeRealtime(reply=tone(3.0))
    async with server.running() as url, RealtimeClient.open(url) as client:
        client.microphone.say(tone(0.2))
        await client.wait_for("response.done")
        await asyncio.sleep(0.5)
        since = len(client.events)
        position = client.microphone.say(tone(0.2))
        started = await client.wait_for("input_audio_buffer.speech_started", since)
        silent_s = client.loudspeaker.silent_from_s
        assert silent_s == pytest.approx(started.at_s, abs=2 * MOST_S)
        assert silent_s - client.microphone.time_of(position) < 0.15
        began_s = client.loudspeaker.timeline[0].start_s
        await client.wait_for("response.done", since)
    truncate = next(e for e in server.received if e["type"] == "conversation.item.truncate")
    assert truncate["item_id"] == "i1"
    assert truncate["audio_end_ms"] >= 500
    assert truncate["audio_end_ms"] == pytest.approx((silent_s - began_s) * 1000, abs=10)


@steady
async def test_a_turn_that_was_not_understood_ends_without_a_reply():
    server = FakeRealtime(transcripts=[""])
    async with server.running() as url, RealtimeClient.open(url) as client:
        turn = await client.turn(tone(0.3))
    assert (turn.status, turn.reply, turn.voice_to_voice_ms) == ("none", "", None)


@steady
async def test_a_closed_connection_ends_the_wait():
    server = FakeRealtime(close_after=1)
    async with server.running() as url, RealtimeClient.open(url) as client:
        assert (await client.turn(tone(0.3))).status == "completed"
        await client.until(lambda: client.closed)
        with pytest.raises(ConnectionError, match="1000 goodbye"):
            await client.turn(tone(0.3))


@steady
async def test_a_connection_that_breaks_says_how():
    class Breaking(FakeRealtime):
        async def _reply(self, socket, turn):
            # With what it has not read, so that its end is a reset.
            socket.transport.pause_reading()
            await asyncio.sleep(0.1)
            socket.transport.abort()

    async with Breaking().running() as url, RealtimeClient.open(url) as client:
        with pytest.raises(ConnectionError, match=r"1006 \(.+\)"):
            await client.turn(tone(0.3))


async def test_nobody_listening_is_an_os_error():
    with pytest.raises(OSError, match="Connect"):
        async with RealtimeClient.open("ws://127.0.0.1:9/v1/realtime"):
            pass


async def test_a_wait_in_vain_says_what_came_last():
    async with FakeRealtime().running() as url, RealtimeClient.open(url) as client:
        with pytest.raises(TimeoutError, match=r"0\.05 s; the last event was session\.updated"):
            await client.wait_for("response.created", timeout_s=0.05)


@steady
async def test_a_client_that_can_hold_the_sound_does_so():
    server = FakeRealtime(reply=tone(5.0), holds=True)
    async with server.running() as url, RealtimeClient.open(url, holds=True) as client:
        client.microphone.say(tone(0.2))
        await client.wait_for("response.done")
        begun_s = client.loudspeaker.silent_from_s
        client.microphone.say(tone(0.2))
        await client.until(lambda: client.loudspeaker.held or None)
        await client.until(lambda: not client.loudspeaker.held or None)
        assert client.loudspeaker.silent_from_s > begun_s
    assert "hold" in server.received[0]["session"]["quicksilver"]["events"]
