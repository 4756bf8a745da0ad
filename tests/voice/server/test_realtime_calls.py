"""Calls by WebRTC over real sockets, with a fake session behind the door."""

import asyncio
import json
from typing import Any

import httpx
import numpy as np
import pytest

from tests.support.fakes import FakeParts, FakeSession, fake_app
from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from tests.support.webrtc import PATH, Client, calling
from voice.config import Config, ServerConfig
from voice.config.server import WebRtcConfig
from voice.events import (
    AudioStopped,
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
)

pytest.importorskip("aiortc")

SECOND = (np.sin(np.arange(24_000) / 24_000 * 2 * np.pi * 440) * 8000).astype(np.int16)
STARTED = ReplyStarted("r1", "i1", 1, None)
DONE = ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Hi there.", 1, 1)


async def test_a_reply_is_heard_and_kept() -> None:
    parts = FakeParts()
    async with serving(fake_app(parts, Config())) as address, calling(address) as client:
        assert (await client.until("session.created"))["session"]["model"] == "quicksilver"
        session = parts.sessions[0]
        assert session.options.holds
        await session.called("append_audio", 20)
        assert {call[1:] for call in session.calls} == {(960, 48_000)}
        session.emit(STARTED, ReplyText("r1", "Hi there."), ReplyAudio("r1", SECOND, 24_000), DONE)
        await client.until("output_audio_buffer.started")
        await client.until("output_audio_buffer.stopped")
        kinds = [event["type"] for event in client.events]
        assert "response.output_audio.delta" not in kinds
        assert kinds.index("response.content_part.added") < kinds.index(
            "output_audio_buffer.started"
        )
        assert kinds.index("response.done") < kinds.index("output_audio_buffer.stopped")
        played = [call for call in session.calls if call[0] == "played"]
        assert played[-1] == ("played", "r1", 1001.0)
        await client.quiet(loud=True)
        await client.quiet()
        heard = np.concatenate(client.heard)
        assert 0.85 < np.count_nonzero(np.abs(heard) > 1000) / 48_000 < 1.0
    assert session.closed == "client disconnected"


async def test_an_interruption_stops_the_sound_and_tells_what_was_heard() -> None:
    parts = FakeParts()
    async with serving(fake_app(parts, Config())) as address, calling(address) as client:
        await client.until("session.created")
        session = parts.sessions[0]
        long = np.tile(SECOND, 60)
        session.emit(STARTED, ReplyText("r1", "Hi there."), ReplyAudio("r1", long, 24_000))
        await client.quiet(loud=True)
        session.emit(AudioStopped())
        cut = await client.until("conversation.item.truncated")
        assert (cut["item_id"], client.of("output_audio_buffer.cleared")[0]["response_id"]) == (
            "i1",
            "r1",
        )
        await client.quiet()
        name, reply_id, played_ms = next(call for call in session.calls if call[0] == "truncate")
        assert (name, reply_id, cut["audio_end_ms"]) == ("truncate", "r1", round(played_ms))
        heard_ms = np.count_nonzero(np.abs(np.concatenate(client.heard)) > 1000) / 0.92 / 48
        assert abs(heard_ms - played_ms) < 150
        client.send("output_audio_buffer.clear")
        await session.called("interrupt", 1)
        assert client.of("output_audio_buffer.stopped") == []


async def test_what_is_sent_by_events_is_not_audio() -> None:
    parts = FakeParts()
    async with serving(fake_app(parts, Config())) as address, calling(address) as client:
        await client.until("session.created")
        client.send("input_audio_buffer.append", audio="AAAA")
        client.send("quicksilver.played", item_id="i1", audio_end_ms=1)
        client.channel.send("{")
        codes = [(await client.until("error", n))["error"]["code"] for n in (1, 2, 3)]
        assert codes == ["unsupported_event", "unsupported_event", "invalid_json"]
        client.send("response.create")
        await parts.sessions[0].called("create_response", 1)
