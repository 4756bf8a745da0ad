"""The telephone's addresses on a real server: who gets in, and what is refused before it costs."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import httpx
import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.support.fakes import FakeParts, FakeSession, fake_app
from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from tests.voice.telephony.test_asterisk import PLAIN_START
from tests.voice.telephony.test_audiosocket import AUDIO, IDENTITY
from tests.voice.telephony.test_l16_stream import JAMBONZ_START
from tests.voice.telephony.test_media_stream import TWILIO_START
from voice.config import Config, ServerConfig, TelephonyConfig
from voice.demo.server import free_port
from voice.errors import ConfigError
from voice.events import ReplyAudio, ReplyEnded, ReplyStarted, ReplyStatus
from voice.serve import listen_for_audiosocket

TOKEN, AUTH = "line-token", "twilio-auth-token"
CALL_ID = f"CA{5:032x}"
PUBLIC = "voice.example.com"
TWILIO = {"doors": ("twilio",), "public_url": f"https://{PUBLIC}"}


class Server:
    """A running server with fake parts."""

    def __init__(self, address: str, parts: FakeParts) -> None:
        self.address = address
        self.parts = parts
        self.http = httpx.AsyncClient(base_url=f"http://{address}")

    def url(self, path: str) -> str:
        return f"ws://{self.address}{path}"

    async def post(self, path: str, form: dict[str, str], signer: str = AUTH) -> httpx.Response:
        signed = f"https://{PUBLIC}{path}" + "".join(k + form[k] for k in sorted(form))
        headers = {
            "Host": PUBLIC,
            "X-Twilio-Signature": _signature(signed, signer),
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return await self.http.post(path, content=urlencode(form), headers=headers)

    async def refused(self, path: str, **options: Any) -> tuple[int, str]:
        """Status and code of an upgrade that is refused, at no cost."""
        with pytest.raises(InvalidStatus) as raised:
            async with connect(self.url(path), **options):
                pass
        assert raised.value.response.body is not None
        assert self.parts.sessions == []
        code = json.loads(raised.value.response.body)["error"]["code"]
        return raised.value.response.status_code, code


def _signature(text: str, key: str = AUTH) -> str:
    return base64.b64encode(hmac.digest(key.encode(), text.encode(), "sha1")).decode()


LONG_IN_BYTES = "MEDIA_START format:" + "\N{PARTY POPPER}" * 40
STREAM = {"X-Twilio-Signature": _signature(f"wss://{PUBLIC}/twilio/stream")}


@asynccontextmanager
async def running(
    parts: FakeParts | None = None, server: dict[str, Any] | None = None, **telephony: Any
) -> AsyncGenerator[Server, None]:
    config = Config(
        agent="coffee",
        server=ServerConfig(port=0, **(server or {})),
        telephony=TelephonyConfig(**telephony),
    )
    parts = parts or FakeParts()
    audiosocket = listen_for_audiosocket(config.telephony)
    app = fake_app(parts, config, audiosocket)
    async with serving(app, config.server) as address:
        found = Server(address, parts)
        async with found.http:
            yield found


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", AUTH)
    monkeypatch.delenv("QUICKSILVER_TELEPHONE_TOKEN", raising=False)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("QUICKSILVER_TELEPHONE_TOKEN", TOKEN)
    return TOKEN


async def until_closed(socket: ClientConnection) -> tuple[list[str | bytes], int | None]:
    messages = []
    async with asyncio.timeout(PATIENCE_S):
        try:
            while True:
                messages.append(await socket.recv())
        except ConnectionClosed:
            return messages, socket.close_code


def says_goodbye(session: FakeSession) -> None:
    """A session that says one word and hangs up."""
    session.emit(ReplyStarted("r1", "i1", 1, None))
    session.emit(ReplyAudio("r1", np.zeros(160, np.int16), 8000))
    session.emit(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Bye.", 1, 1))
    session.close("ended by the agent")


async def test_no_door_is_open_unless_it_is_configured() -> None:
    async with running() as server:
        for path in ("/twilio/stream", "/telephone/asterisk"):
            with pytest.raises(InvalidStatus):
                async with connect(server.url(path)):
                    pass
        assert (await server.http.post("/twilio/voice")).status_code in (404, 405)


async def test_a_twilio_call_from_the_webhook_to_the_end() -> None:
    parts = FakeParts()
    parts.agents["assistant"] = FakeParts(prepare=says_goodbye)
    telephony = {**TWILIO, "agents": ("assistant",), "numbers": {"+1800": "assistant"}}
    async with running(parts, **telephony) as server:
        form = {"CallSid": CALL_ID, "To": "+1800", "From": "+15550123"}
        answer = await server.post("/twilio/voice", form)
        assert answer.headers["content-type"] == "application/xml"
        stream = next(ElementTree.fromstring(answer.text).iter("Stream"))
        assert stream.get("url") == f"wss://{PUBLIC}/twilio/stream"
        sent = json.loads(TWILIO_START)
        sent["start"]["callSid"] = CALL_ID
        sent["start"]["customParameters"] = {p.get("name"): p.get("value") for p in stream}
        async with connect(server.url("/twilio/stream"), additional_headers=STREAM) as socket:
            await socket.send(json.dumps(sent))
            async with asyncio.timeout(PATIENCE_S):
                assert json.loads(await socket.recv())["event"] == "media"
                mark = json.loads(await socket.recv())
            await socket.send(json.dumps({**mark, "sequenceNumber": "9"}))
            assert await until_closed(socket) == ([], 1000)
        (session,) = parts.agents["assistant"].sessions
        assert str(session.scope.caller) == "phone:+15550123"
        after = await server.post("/twilio/after", {"CallSid": CALL_ID})
        assert "<Hangup/>" in after.text
        # The same webhook once more is a replay.
        replayed = await server.post("/twilio/voice", {"CallSid": CALL_ID, "To": "+1800"})
        assert (replayed.status_code, replayed.json()["error"]["code"]) == (403, "replayed")


async def test_a_replay_cannot_be_another_call() -> None:
    async with running(**TWILIO) as server:
        form = {"CallSid": CALL_ID, "CallStatus": "ringing", "From": "+15550123", "To": "+1800"}
        first = await server.post("/twilio/voice", form)
        # The signature is the same where another field begins elsewhere.
        moved = {"CallSid": f"{CALL_ID}CallStatusringing", "From": "+15550123", "To": "+1800"}
        replayed = await server.post("/twilio/voice", moved)
        assert first.status_code == 200
        signed = [each.request.headers["x-twilio-signature"] for each in (first, replayed)]
        assert signed[0] == signed[1]
        assert (replayed.status_code, replayed.json()["error"]["code"]) == (403, "invalid_call")


async def test_a_replayed_upgrade_has_no_ticket() -> None:
    async with (
        running(**TWILIO) as server,
        connect(server.url("/twilio/stream"), additional_headers=STREAM) as socket,
    ):
        await socket.send(TWILIO_START)
        assert await until_closed(socket) == ([], 1008)
        assert server.parts.sessions == []


async def test_a_stream_that_twilio_did_not_sign() -> None:
    async with running(**TWILIO) as server:
        # A signature is of the address that was called, its query included.
        for path, headers in (("/twilio/stream", {}), ("/twilio/stream?agent=x", STREAM)):
            refusal = await server.refused(path, additional_headers=headers)
            assert refusal == (403, "invalid_signature")


async def test_webhooks_that_twilio_did_not_sign() -> None:
    async with running(**TWILIO) as server:
        for path in ("/twilio/voice", "/twilio/after"):
            answer = await server.post(path, {"CallSid": CALL_ID}, signer="guess")
            assert answer.status_code == 403
        large = await server.post("/twilio/voice", {"x": "y" * 70_000})
        assert (large.status_code, large.json()["error"]["param"]) == (413, None)


async def test_a_foreign_host_or_page_is_refused() -> None:
    async with running(doors=("asterisk",), public_url=f"https://{PUBLIC}") as server:
        path = "/telephone/asterisk"
        host, port = server.address.split(":")
        with pytest.raises(InvalidStatus, match="403"):
            async with connect(f"ws://evil.example{path}", host=host, port=int(port)):
                pass
        assert await server.refused(path, origin=Origin("http://evil.example")) == (
            403,
            "origin_not_allowed",
        )
        async with connect(f"ws://{PUBLIC}{path}", host=host, port=int(port)):
            pass


@pytest.mark.usefixtures("token")
async def test_a_line_shows_its_token() -> None:
    basic = base64.b64encode(f"anyone:{TOKEN}".encode()).decode()
    async with running(doors=("asterisk",)) as server:
        assert await server.refused("/telephone/asterisk") == (401, "missing_token")
        for wrong in ("/telephone/asterisk/guess", f"/telephone/asterisk/{TOKEN}x"):
            assert await server.refused(wrong) == (401, "invalid_token")
        bad = {"Authorization": "Basic !!"}
        refusal = await server.refused("/telephone/asterisk", additional_headers=bad)
        assert refusal == (401, "missing_token")
        for path, headers in (
            (f"/telephone/asterisk/{TOKEN}", {}),
            ("/telephone/asterisk", {"Authorization": f"Bearer {TOKEN}"}),
            ("/telephone/asterisk", {"Authorization": f"Basic {basic}"}),
        ):
            async with connect(server.url(path), additional_headers=headers) as socket:
                await socket.send(PLAIN_START)
                assert await socket.recv() == "ANSWER"


async def test_subprotocols() -> None:
    offered = [Subprotocol("other"), Subprotocol("audio.jambonz.org")]
    async with (
        running(doors=("jambonz",)) as server,
        connect(server.url("/telephone/jambonz"), subprotocols=offered) as socket,
    ):
        assert socket.subprotocol == "audio.jambonz.org"


async def test_the_address_may_choose_the_agent() -> None:
    parts = FakeParts(agents={"assistant": FakeParts()})
    async with running(parts, doors=("jambonz",), agents=("assistant",)) as server:
        async with connect(server.url("/telephone/jambonz?agent=assistant")) as socket:
            await socket.send(b"\x00\x00")
            await socket.send("{")
            assert (await until_closed(socket))[1] == 1008
        assert len(parts.agents["assistant"].sessions) == 1
        async with connect(server.url("/telephone/jambonz?agent=other")) as socket:
            await socket.send(JAMBONZ_START.replace("coffee", "other"))
            assert (await until_closed(socket))[1] == 1008


async def test_all_conversations_are_taken() -> None:
    doors = (*TWILIO["doors"], "asterisk")
    async with (
        running(server={"max_sessions": 1}, **{**TWILIO, "doors": doors}) as server,
        connect(server.url("/telephone/asterisk")) as socket,
    ):
        assert await server.refused("/telephone/asterisk") == (503, "capacity")
        answer = await server.post("/twilio/voice", {"CallSid": CALL_ID, "To": "+1800"})
        assert "<Say>All lines are busy" in answer.text
        await socket.close()


async def test_a_message_longer_than_any_should_be() -> None:
    async with (
        running(doors=("asterisk",), max_message_bytes=2048) as server,
        connect(server.url("/telephone/asterisk")) as socket,
    ):
        await socket.send(PLAIN_START)
        await socket.send(bytes(2049))
        assert (await until_closed(socket))[1] == 1009


async def test_a_line_that_sends_rubbish_costs_itself_only() -> None:
    async with (
        running(doors=("asterisk",)) as server,
        connect(server.url("/telephone/asterisk")) as good,
    ):
        await good.send(PLAIN_START)
        assert await good.recv() == "ANSWER"
        for rubbish in ("{", b"\x00", "MEDIA_START format:opus", LONG_IN_BYTES):
            async with connect(server.url("/telephone/asterisk")) as bad:
                await bad.send(rubbish)
                assert (await until_closed(bad))[1] == 1008
        session = server.parts.sessions[0]
        session.emit(ReplyAudio("r1", np.zeros(160, np.int16), 8000))
        assert await good.recv() == b"\xff" * 160
        assert session.closed is None


@pytest.mark.parametrize(
    ("server", "telephony", "message"),
    [
        ({}, {"doors": ("sip",)}, "got 'sip'"),
        ({"host": "0.0.0.0", "api_key_env": "PATH"}, {"doors": ("asterisk",)}, "needs a token"),
        ({}, {"doors": ("twilio",)}, "public_url"),
        ({}, {**TWILIO, "twilio_token_env": "NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE"),
        ({}, {**TWILIO, "numbers": {"+1": "nobody"}}, "'nobody'"),
    ],
)
def test_what_does_not_protect_its_lines_does_not_start(
    server: dict[str, Any], telephony: dict[str, Any], message: str
) -> None:
    config = Config(server=ServerConfig(**server), telephony=TelephonyConfig(**telephony))
    with pytest.raises(ConfigError, match=message):
        fake_app(FakeParts(), config)


async def test_audiosocket_has_a_port_of_its_own() -> None:
    port = free_port()
    parts = FakeParts(prepare=says_goodbye)
    async with running(parts, audiosocket_port=port) as server:
        await server.http.get("/healthz")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(IDENTITY + AUDIO)
        async with asyncio.timeout(PATIENCE_S):
            assert await reader.read() == b"\x10\x01\x40" + bytes(320) + b"\x00\x00\x00"
        writer.close()
        await writer.wait_closed()
    assert parts.sessions[0].calls[:2] == [("greet",), ("append_audio", 3, 8000)]


@pytest.mark.parametrize(
    ("peers", "sessions"),
    [((), 0), (("10.0.0.0/8", "::1"), 0), (("10.0.0.1", "127.0.0.1"), 1), (("127.0.0.0/24",), 1)],
)
async def test_audiosocket_takes_no_stranger(
    monkeypatch: pytest.MonkeyPatch, peers: tuple[str, ...], sessions: int
) -> None:
    monkeypatch.setattr("voice.telephony.routes.is_loopback", lambda host: False)
    parts, port = FakeParts(prepare=says_goodbye), free_port()
    async with running(parts, audiosocket_port=port, audiosocket_peers=peers) as server:
        await server.http.get("/healthz")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(IDENTITY + AUDIO)
        async with asyncio.timeout(PATIENCE_S):
            # Closing on what was sent resets the connection of a stranger.
            with suppress(ConnectionResetError):
                await reader.read()
        writer.close()
        with suppress(ConnectionResetError):
            await writer.wait_closed()
        assert len(parts.sessions) == sessions


async def test_the_end_of_the_server_ends_audiosockets_calls() -> None:
    parts, port = FakeParts(), free_port()
    async with running(parts, audiosocket_port=port) as server:
        await server.http.get("/healthz")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(IDENTITY + AUDIO)
        async with asyncio.timeout(PATIENCE_S):
            while not parts.sessions:
                await asyncio.sleep(0.01)
            await parts.sessions[0].called("append_audio", 1)
    assert parts.sessions[0].closed == "connection ended"
    async with asyncio.timeout(PATIENCE_S):
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
