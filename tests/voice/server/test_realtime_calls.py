"""Calls by WebRTC over real sockets, with a fake session behind the door."""

import asyncio
import subprocess
import sys
from typing import Any

import httpx
import numpy as np
import pytest
from openai import AsyncOpenAI

from tests.support.fakes import FakeParts, FakeSession, fake_app
from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from tests.support.webrtc import PATH, Client, calling
from voice.access.rate_limits import TOO_FAST
from voice.config import Config, ServerConfig
from voice.config.server import WebRtcConfig
from voice.config.telephony import TelephonyConfig
from voice.errors import ProtocolError
from voice.events import (
    AudioStopped,
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
)
from voice.server import realtime_calls
from voice.webrtc.peer import Peer

KEY = "the-key-of-this-server"
SDP = {"Content-Type": "application/sdp"}
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


def heard_ms(client: Client) -> float:
    """How long the tone was heard, which is loud for 92 % of its time."""
    return np.count_nonzero(np.abs(np.concatenate(client.heard)) > 1000) / 0.92 / 48


async def test_an_interruption_stops_the_sound_and_tells_what_was_heard() -> None:
    parts = FakeParts()
    async with serving(fake_app(parts, Config())) as address, calling(address) as client:
        await client.until("session.created")
        session = parts.sessions[0]
        long = np.tile(SECOND, 60)
        session.emit(STARTED, ReplyText("r1", "Hi there."), ReplyAudio("r1", long, 24_000))
        await client.quiet(loud=True)
        while heard_ms(client) < 1000:
            await asyncio.sleep(0.02)
        session.emit(AudioStopped())
        cut = await client.until("conversation.item.truncated")
        assert (cut["item_id"], client.of("output_audio_buffer.cleared")[0]["response_id"]) == (
            "i1",
            "r1",
        )
        await client.quiet()
        name, reply_id, played_ms = next(call for call in session.calls if call[0] == "truncate")
        assert (name, reply_id, cut["audio_end_ms"]) == ("truncate", "r1", round(played_ms))
        # What a busy machine had no time to send was stopped as well.
        assert abs(heard_ms(client) - played_ms) < 500
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


async def test_a_form_brings_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """As openai-python sends it; a page sends the same with an ephemeral key."""
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    parts = FakeParts()
    client = Client()
    async with serving(fake_app(parts, Config())) as address:
        async with AsyncOpenAI(base_url=f"http://{address}/v1", api_key=KEY) as http:
            session = {"type": "realtime", "instructions": "Be brief."}
            made = await http.realtime.client_secrets.create(session=session)  # type: ignore[arg-type]
            http.api_key = made.value
            wanted = {"type": "realtime", "output_modalities": ["text"]}
            answer = await http.realtime.calls.create(sdp=await client.offer(), session=wanted)  # type: ignore[arg-type]
            where = answer.response.headers["location"]
            assert where.startswith(f"{PATH}/rtc_")
            await client.answered(answer.text)
            created = await client.until("session.created")
            assert created["session"]["instructions"] == "Be brief."
            assert created["session"]["output_modalities"] == ["text"]
            await http.realtime.calls.hangup(where.rpartition("/")[2])
            await client.over()
        await client.close()
        async with httpx.AsyncClient(base_url=f"http://{address}") as plain:
            assert (await plain.post(f"{where}/hangup")).status_code == 401
            bearer = {"Authorization": f"Bearer {KEY}"}
            assert (await plain.post(f"{where}/hangup", headers=bearer)).status_code == 404
    assert parts.sessions[0].closed == "hung up"


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"content": "", "headers": SDP}, 400, "invalid_sdp"),
    ({"content": "v=0\r\nm=audio", "headers": SDP}, 400, "invalid_sdp"),
    ({"content": b"\xff\xfe", "headers": SDP}, 400, "invalid_value"),
    ({"content": "v=0\r\n" + 40_000 * "a=x:y\r\n", "headers": SDP}, 413, "too_large"),
    ({"json": {"sdp": "v=0"}}, 400, "invalid_content_type"),
    ({"files": {"session": (None, "{}")}}, 400, "invalid_sdp"),
    ({"files": {"sdp": (None, "v=0"), "session": (None, "[]")}}, 400, "invalid_json"),
    ({"files": {"sdp": (None, "v=0"), "session": (None, '{"audio": 1}')}}, 400, "invalid_value"),
    ({"content": "x", "headers": {"Content-Type": "multipart/form-data"}}, 400, "invalid_value"),
    (
        {"content": "", "headers": SDP | {"Origin": "http://evil.example"}},
        403,
        "origin_not_allowed",
    ),
]


@pytest.mark.parametrize(("request_", "status", "code"), REFUSED)
async def test_what_is_no_offer_is_refused(
    request_: dict[str, Any], status: int, code: str
) -> None:
    parts = FakeParts()
    async with (
        serving(fake_app(parts, Config())) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        answer = await http.post(PATH, **request_)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert (await http.get("/healthz")).json()["sessions"] == 0
    assert all(session.closed for session in parts.sessions)


OTHERS = {
    "m=audio": "m=video",
    "opus/48000": "speex/16000",
    "a=ice-pwd": "a=x-ice-pwd",
    "a=fingerprint": "a=x-fingerprint",
    "a=rtcp-mux": "a=x-rtcp-mux",
    "m=application": "m=audio",
}


@pytest.mark.parametrize("part", OTHERS)
async def test_an_offer_of_something_else_is_refused(part: str) -> None:
    client = Client()
    offer = (await client.offer()).replace(part, OTHERS[part])
    await client.close()
    with pytest.raises(ProtocolError, match="one audio section"):
        await Peer.answering(offer, WebRtcConfig())


async def test_nobody_is_asked_and_no_address_of_the_clients_is_used() -> None:
    client = Client()
    offer = await client.offer()
    named = "a=candidate:1 1 udp 1 192.0.2.9 9 typ host"
    # aiortc ends a line at other characters as well.
    lines = f"{named}\r\na=x\x0b{named}\ra=x\u2028{named}"
    peer = await Peer.answering(offer.replace("a=end-of-candidates", lines), WebRtcConfig())
    assert "a=candidate" not in peer._connection.remoteDescription.sdp
    assert "typ srflx" not in peer.answer
    assert "telephone-event/48000" in peer.answer
    await client.answered(peer.answer)
    async with asyncio.timeout(PATIENCE_S):
        await peer.connected.wait()
    await peer.close()
    await client.over()
    await client.close()


async def test_one_call_too_many_is_sent_away_and_may_come_again() -> None:
    parts = FakeParts()
    config = Config(server=ServerConfig(port=0, max_sessions=1))
    async with serving(fake_app(parts, config), config.server) as address:
        async with calling(address) as client, httpx.AsyncClient() as http:
            await client.until("session.created")
            answer = await http.post(f"http://{address}{PATH}", content="", headers=SDP)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "capacity")
            assert answer.headers["retry-after"]
        # A place is free once the connection is closed, which is behind the session's end.
        async with (
            httpx.AsyncClient(base_url=f"http://{address}") as http,
            asyncio.timeout(PATIENCE_S),
        ):
            while (await http.get("/healthz")).json()["sessions"]:
                await asyncio.sleep(0.02)
        async with calling(address) as client:
            await client.until("session.created")


async def test_a_client_that_vanishes_leaves_its_place() -> None:
    parts = FakeParts()
    config = Config(webrtc=WebRtcConfig(gone_after_s=0.4))
    async with serving(fake_app(parts, config)) as address, calling(address) as client:
        await client.until("session.created")
        client.vanish()
        await ended(parts.sessions[0])
        assert parts.sessions[0].closed == "client disconnected"


async def test_a_client_that_never_comes_leaves_its_place() -> None:
    parts, stranger = FakeParts(), Client()
    config = Config(webrtc=WebRtcConfig(connect_timeout_s=0.4))
    async with (
        serving(fake_app(parts, config)) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        offer = await stranger.offer()
        assert (await http.post(PATH, content=offer, headers=SDP)).status_code == 201
        await ended(parts.sessions[0])
    await stranger.close()


async def test_a_call_that_is_not_connected_can_be_hung_up() -> None:
    parts, client = FakeParts(), Client()
    config = Config(webrtc=WebRtcConfig(connect_timeout_s=600))
    async with (
        serving(fake_app(parts, config)) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        answer = await http.post(PATH, content=await client.offer(), headers=SDP)
        assert (await http.post(f"{answer.headers['location']}/hangup")).status_code == 200
        async with asyncio.timeout(PATIENCE_S):
            while (await http.get("/healthz")).json()["sessions"]:
                await asyncio.sleep(0.02)
    await client.close()
    assert parts.sessions[0].closed == "hung up"


async def test_a_call_that_cannot_be_closed_ends_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    close, quoted = Peer.close, "how are you"

    async def fails(peer: Peer) -> None:
        await close(peer)
        if parts.sessions[0].closed and not parts.sessions[1].closed:
            raise RuntimeError(quoted)

    monkeypatch.setattr(Peer, "close", fails)
    parts = FakeParts()
    async with (
        serving(fake_app(parts, Config())) as address,
        calling(address) as first,
        calling(address) as second,
    ):
        await second.until("session.created")
        async with httpx.AsyncClient(base_url=f"http://{address}") as http:
            await http.post(f"{first.location}/hangup")
            await first.over()
            async with asyncio.timeout(PATIENCE_S):
                while (await http.get("/healthz")).json()["sessions"] > 1:
                    await asyncio.sleep(0.02)
        second.send("response.create")
        await parts.sessions[1].called("create_response", 1)
    assert "failed: RuntimeError" in caplog.text
    assert "how are you" not in caplog.text


async def test_the_end_of_the_server_ends_its_calls() -> None:
    parts = FakeParts()
    client = Client()
    async with serving(fake_app(parts, Config())) as address:
        async with httpx.AsyncClient(base_url=f"http://{address}") as http:
            answer = await http.post(PATH, content=await client.offer(), headers=SDP)
        await client.answered(answer.text)
        await client.until("session.created")
    await client.over()
    await client.close()
    assert parts.sessions[0].closed == "the server ends"
    assert why(client) == ("1012", "the server ends")


async def test_a_farewell_is_heard_to_its_end() -> None:
    parts = FakeParts()
    async with serving(fake_app(parts, Config())) as address, calling(address) as client:
        await client.until("session.created")
        farewell = (STARTED, ReplyText("r1", "Goodbye."), ReplyAudio("r1", SECOND, 24_000), DONE)
        parts.sessions[0].emit(*farewell)
        parts.sessions[0].close("the agent hung up")
        await client.over()
        loud = np.count_nonzero(np.abs(np.concatenate(client.heard)) > 1000)
        assert 0.85 < loud / 48_000 < 1.0


async def test_keys_become_words() -> None:
    parts = FakeParts()
    config = Config(telephony=TelephonyConfig(digits_timeout_s=2.0))
    async with serving(fake_app(parts, config)) as address, calling(address) as client:
        await client.until("session.created")
        await client.press(4, 2)
        await parts.sessions[0].called("create_response", 1)
        added = next(call for call in parts.sessions[0].calls if call[0] == "add_item")
        assert added[2].content == "4 2"


async def test_keys_come_no_faster_than_words() -> None:
    parts = FakeParts()
    async with serving(fake_app(parts, Config())) as address, calling(address) as client:
        await client.until("session.created")
        # Each hash key asks for a reply.
        await client.press(*[11] * 300)
        await client.over()
        assert why(client) == ("1008", TOO_FAST)
    assert parts.sessions[0].closed == "connection ended"


async def test_a_call_that_fails_says_so_behind_all_else() -> None:
    parts, long = FakeParts(), 10_000 * "word "
    async with serving(fake_app(parts, Config())) as address, calling(address) as client:
        await client.until("session.created")
        parts.sessions[0].emit(STARTED, ReplyText("r1", long))
        parts.sessions[0].create_response = None  # type: ignore[assignment, method-assign]
        client.send("response.create")
        await client.over()
        assert client.of("response.output_audio_transcript.delta")[0]["delta"] == long
        assert why(client) == ("1011", "internal error")


async def test_without_the_extra_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(realtime_calls, "find_spec", lambda name: None)
    async with (
        serving(fake_app(FakeParts(), Config())) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        answer = await http.post(PATH, content="v=0", headers=SDP)
        assert answer.status_code == 501
        assert "'.[webrtc]'" in answer.json()["error"]["message"]


def test_the_server_imports_nothing_of_it() -> None:
    imports = "import sys, voice.server.realtime_calls"
    check = f"{imports}; assert not {{'aiortc', 'aioice'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)


def why(client: Client) -> tuple[str, str]:
    """The code and the words with which a call ended."""
    error = client.events[-1]["error"]
    return error["code"], error["message"]


async def ended(session: FakeSession) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await session.over.wait()
