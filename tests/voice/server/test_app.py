import asyncio
import base64
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.support.fakes import FakeParts, fake_app, refusal
from tests.support.patience import PATIENCE_S
from tests.support.serving import receive, send, serving
from voice.access import rate_limits
from voice.access.rate_limits import TOO_FAST
from voice.config import AgentConfig, Config, ServerConfig
from voice.errors import ConfigError
from voice.events import FinalTranscript, ReplyStarted, TurnMeasured

KEY = "the-key-of-this-server"
BEARER = {"Authorization": f"Bearer {KEY}"}


class Server:
    """A running server with fake parts."""

    def __init__(self, address: str, parts: FakeParts) -> None:
        self.http = httpx.AsyncClient(base_url=f"http://{address}")
        self.url = f"ws://{address}/v1/realtime"
        self.address = address
        self.parts = parts


@asynccontextmanager
async def running(parts: FakeParts | None = None, **options: Any) -> AsyncGenerator[Server, None]:
    config = Config(server=ServerConfig(port=0, **options))
    parts = parts or FakeParts()
    async with serving(fake_app(parts, config), config.server) as address:
        server = Server(address, parts)
        async with server.http:
            yield server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with running() as found:
        yield found


@pytest.fixture
async def keyed(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    async with running() as found:
        yield found


async def refused(url: str, **options: Any) -> tuple[int, str]:
    """Status and error code of an upgrade that is refused."""
    with pytest.raises(InvalidStatus) as raised:
        async with connect(url, **options):
            pass
    answer = raised.value.response
    assert answer.body is not None
    return answer.status_code, json.loads(answer.body)["error"]["code"]


async def test_health(server: Server) -> None:
    answer = await server.http.get("/healthz")
    assert answer.json() == {"status": "ok", "sessions": 0, "max_sessions": 8}
    async with connect(server.url) as socket:
        await receive(socket)
        assert (await server.http.get("/healthz")).json()["sessions"] == 1


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/nothing", None),
        ("GET", "/v1", None),
        ("GET", "//v1/models", None),
        ("POST", "/v1/embeddings", None),
        ("POST", "/v1/models", {"GET", "HEAD"}),
        ("GET", "/v1/audio/speech", {"POST"}),
        ("OPTIONS", "/v1/audio/speech", {"POST"}),
        ("OPTIONS", "/v1/realtime/calls", {"POST"}),
        ("PUT", "/v1/callers/local/data", {"GET", "HEAD", "DELETE"}),
    ],
)
async def test_the_api_refuses_in_objects(
    server: Server, method: str, path: str, allowed: set[str] | None
) -> None:
    answer = await server.http.request(method, f"http://{server.address}{path}")
    assert answer.status_code == (404 if allowed is None else 405)
    assert answer.json()["error"]["code"] == "not_routed"
    if allowed is not None:
        assert set(answer.headers["allow"].split(", ")) == allowed


async def test_pages_of_allowed_origins_may_use_the_api_and_others_may_not() -> None:
    origins = ("https://Shop.example:443", "https://one.example")
    wanted = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-sdk"}
    async with running(allowed_origins=origins) as server:
        for path in ("/v1/models", "/v1/realtime/calls", "/v1/nothing"):
            asked = await server.http.options(
                path, headers={"Origin": "https://shop.example", **wanted}
            )
            assert asked.headers["access-control-allow-headers"] == "x-sdk"
            for answer in (
                asked, await server.http.get(path, headers={"Origin": "https://shop.example"})
            ):  # fmt: skip
                assert answer.headers["access-control-allow-origin"] == "https://shop.example"
                assert "access-control-allow-credentials" not in answer.headers
                assert "Origin" in answer.headers["vary"]
            for foreign in ("https://evil.example", "null", f"http://{server.address}"):
                asked = await server.http.options(path, headers={"Origin": foreign, **wanted})
                got = await server.http.get(path, headers={"Origin": foreign})
                assert "access-control-allow-origin" not in {*asked.headers, *got.headers}
        page = await server.http.get("/", headers={"Origin": "https://shop.example"})
        assert "access-control-allow-origin" not in page.headers


async def test_the_page_is_served_with_care(server: Server) -> None:
    answer = await server.http.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert "<title>" in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    # A proxy may serve it by HTTPS, of which this server knows nothing.
    assert (await server.http.get("/console")).headers["location"] == "console/"
    assert (await server.http.get("/../pyproject.toml")).status_code == 404
    assert (await server.http.get("/%2e%2e/pyproject.toml")).status_code == 404


async def test_a_foreign_host_gets_nothing(server: Server) -> None:
    for path in ("/", "/healthz", "/v1/models"):
        answer = await server.http.get(path, headers={"Host": "evil.example"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "host_not_allowed")
    host, port = server.address.split(":")
    rebound = server.url.replace(host, "evil.example")
    assert await refused(rebound, host=host, port=int(port)) == (403, "host_not_allowed")


async def test_extensions_can_be_asked_for_in_the_address(server: Server) -> None:
    async with connect(f"{server.url}?extensions=transcript,state") as socket:
        created = await receive(socket)
        assert created["session"]["quicksilver"]["events"] == ["transcript", "state"]
        assert created["session"]["model"] == "quicksilver"
        server.parts.sessions[0].emit(FinalTranscript(1, "i1", "Hello.", 0.9, 1.0))
        assert (await receive(socket))["type"] == "quicksilver.transcript"
    assert await refused(f"{server.url}?extensions=all") == (400, "invalid_value")


async def test_a_session_that_cannot_begin_as_asked_is_refused_with_a_reason(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.parts.prepare = lambda session: setattr(session, "refuse", refusal("too_late"))
    async with connect(f"{server.url}?extensions=transcript") as socket:
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert (socket.close_code, socket.close_reason) == (1008, "refused")
    assert server.parts.sessions[0].closed is not None
    assert "Traceback" not in caplog.text


async def test_a_page_of_the_server_may_connect_and_another_may_not(server: Server) -> None:
    async with connect(server.url, origin=Origin(f"http://{server.address}")) as socket:
        await receive(socket)
    status = await refused(server.url, origin=Origin("http://evil.example"))
    assert status == (403, "origin_not_allowed")
    evil = {"Origin": "http://evil.example"}
    answer = await server.http.post("/v1/realtime/client_secrets", headers=evil)
    assert answer.status_code == 403
    assert len(server.parts.sessions) == 1


async def test_a_key_is_needed_everywhere_but_for_the_page(keyed: Server) -> None:
    for path in ("/v1/models", "/metrics"):
        assert (await keyed.http.get(path)).status_code == 401
        assert (await keyed.http.get(path, headers=BEARER)).status_code == 200
    assert (await keyed.http.post("/v1/realtime/client_secrets")).status_code == 401
    assert (await keyed.http.get("/healthz")).status_code == 200
    assert await refused(keyed.url) == (401, "missing_api_key")
    wrong = {"Authorization": "Bearer wrong"}
    assert await refused(keyed.url, additional_headers=wrong) == (401, "invalid_api_key")
    assert keyed.parts.sessions == []
    async with connect(keyed.url, additional_headers=BEARER) as socket:
        await receive(socket)


async def test_a_key_in_the_address_counts_for_nothing(keyed: Server) -> None:
    for name in ("api_key", "key", "token", "access_token", "authorization"):
        assert await refused(f"{keyed.url}?{name}={KEY}") == (401, "missing_api_key")
        answer = await keyed.http.get("/v1/models", params={name: KEY})
        assert answer.status_code == 401
    assert keyed.parts.sessions == []


async def test_no_key_gets_into_the_log(keyed: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    own = Origin(f"http://{keyed.address}")
    for key in (KEY, "a-wrong-key"):
        offered = [Subprotocol("realtime"), Subprotocol(f"openai-insecure-api-key.{key}")]
        with suppress(InvalidStatus):
            async with connect(keyed.url, subprotocols=offered, origin=own) as socket:
                await socket.send("nonsense")
                await receive(socket)
        await keyed.http.get("/v1/models", headers={"Authorization": f"Bearer {key}"})
    told = [record.getMessage() for record in caplog.records if record.name.startswith("voice")]
    assert told
    assert not [line for line in caplog.text.splitlines() if KEY in line or "a-wrong-key" in line]


async def test_an_ephemeral_key_opens_a_session_as_agreed(keyed: Server) -> None:
    wanted = {
        "expires_after": {"anchor": "created_at", "seconds": 60},
        "session": {"type": "realtime", "instructions": "Sing.", "model": "gpt-realtime"},
    }
    answer = await keyed.http.post("/v1/realtime/client_secrets", json=wanted, headers=BEARER)
    made = answer.json()
    assert set(made) == {"value", "expires_at", "session"}
    assert made["session"]["instructions"] == "Sing."
    assert made["session"]["object"] == "realtime.session"
    ephemeral = {"Authorization": f"Bearer {made['value']}"}
    for _ in range(2):
        async with connect(keyed.url, additional_headers=ephemeral) as socket:
            assert (await receive(socket))["session"]["instructions"] == "Sing."
            await send(socket, "session.update", session={"instructions": "Hum."})
            assert (await receive(socket))["session"]["instructions"] == "Hum."
    again = await keyed.http.post("/v1/realtime/client_secrets", headers=ephemeral)
    assert again.status_code == 403
    assert (await keyed.http.get("/metrics", headers=ephemeral)).status_code == 403


@pytest.mark.parametrize(
    ("session", "more"),
    [
        (
            {"quicksilver": {"agent_tools": ["get_time"]}},
            {"agent_tools": ["get_time", "set_timer"]},
        ),
        ({"tools": [{"type": "function", "name": "wave"}]}, {"agent_tools": ["set_timer"]}),
    ],
)
async def test_an_ephemeral_key_gets_no_more_of_the_agents_tools(
    keyed: Server, session: dict[str, Any], more: dict[str, Any]
) -> None:
    answer = await keyed.http.post(
        "/v1/realtime/client_secrets", json={"session": session}, headers=BEARER
    )
    ephemeral = {"Authorization": f"Bearer {answer.json()['value']}"}
    async with connect(keyed.url, additional_headers=ephemeral) as socket:
        await receive(socket)
        await send(socket, "session.update", session={"quicksilver": more})
        error = (await receive(socket))["error"]
        assert error["param"] == "session.quicksilver.agent_tools"
        await send(socket, "session.update", session={"tools": [], "quicksilver": {}})
        assert (await receive(socket))["type"] == "session.updated"
    (conversation, *_) = keyed.parts.sessions
    assert set(conversation.options.agent_tools) <= {"get_time"}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"expires_after": {"seconds": 5}}, "expires_after.seconds"),
        ({"expires_after": {"anchor": "now"}}, "expires_after.anchor"),
        ({"session": {"max_output_tokens": -1}}, "session.max_output_tokens"),
        ({"user": "a\nb"}, "user"),
        ([], None),
    ],
)
async def test_a_wrong_wish_for_a_key_is_refused(
    server: Server, body: object, param: str | None
) -> None:
    answer = await server.http.post("/v1/realtime/client_secrets", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


async def test_a_body_is_bounded() -> None:
    async with running(max_message_bytes=2048) as server:
        path = "/v1/realtime/client_secrets"
        answer = await server.http.post(path, content=b" " * 3000)
        assert answer.json()["error"]["code"] == "too_large"
        answer = await server.http.post(path, content=b"\xff")
        assert answer.json()["error"]["code"] == "invalid_json"


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with running() as server:
        reader, writer = await asyncio.open_connection(*server.address.split(":"))
        head = f"POST /v1/realtime/client_secrets HTTP/1.1\r\nHost: {server.address}\r\n"
        writer.write(f"{head}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n".encode())
        async with asyncio.timeout(PATIENCE_S):
            # The server waits for the body.
            assert b"100 Continue" in await reader.readuntil(b"\r\n\r\n")
        writer.write(b'{"session"')
        writer.close()
        await writer.wait_closed()
    # uvicorn's own log does not reach the others'.
    assert capsys.readouterr().err == ""


async def test_one_conversation_too_many_is_sent_away_and_may_come_again() -> None:
    async with running(max_sessions=1) as server:
        async with connect(server.url) as first:
            await receive(first)
            async with connect(server.url) as second:
                error = (await receive(second))["error"]
                told = "the one conversation is taken; try again in 5 seconds"
                assert (error["code"], error["message"]) == ("capacity", told)
                with pytest.raises(ConnectionClosed):
                    await second.recv()
                assert (second.close_code, second.close_reason) == (1013, told)
        assert len(server.parts.sessions) == 1
        await asyncio.wait_for(server.parts.sessions[0].over.wait(), PATIENCE_S)
        async with connect(server.url) as third:
            assert (await receive(third))["type"] == "session.created"


async def test_a_slot_that_is_about_to_be_freed_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rate_limits, "FREED_WITHIN_S", PATIENCE_S)
    async with running(max_sessions=1) as server:

        async def opened() -> str:
            async with connect(server.url) as socket:
                return str((await receive(socket))["type"])

        async with connect(server.url) as first:
            await receive(first)
            second = asyncio.create_task(opened())
            # Long enough to be refused.
            await asyncio.wait([second], timeout=0.5)
        assert await second == "session.created"


async def test_one_ephemeral_key_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    async with running(max_sessions=3, max_sessions_per_key=1) as server:
        made = (await server.http.post("/v1/realtime/client_secrets", headers=BEARER)).json()
        visitor = {"Authorization": f"Bearer {made['value']}"}
        async with connect(server.url, additional_headers=visitor) as first:
            await receive(first)
            async with connect(server.url, additional_headers=visitor) as second:
                assert (await receive(second))["error"]["code"] == "too_many_of_key"
                with pytest.raises(ConnectionClosed):
                    await second.recv()
                assert second.close_code == 1013
            async with connect(server.url, additional_headers=BEARER) as another:
                assert (await receive(another))["type"] == "session.created"


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        ({"max_message_bytes": 2048}, "x" * 3000, 1009),
        ({"longest_session_s": 0.1}, "{}", 1008),
        ({"idle_session_s": 0.1}, "{}", 1008),
    ],
)
async def test_what_passes_a_limit_ends_the_connection(
    options: dict[str, float], message: str, code: int
) -> None:
    async with running(**options) as server:
        async with connect(server.url) as socket:
            with pytest.raises(ConnectionClosed):
                await socket.send(message)
                while True:
                    await socket.recv()
            assert socket.close_code == code
            assert server.parts.sessions[0].closed is not None
        assert not server.parts.closed
    assert server.parts.closed


async def test_telephone_audio_counts_by_its_length() -> None:
    half_a_minute = base64.b64encode(bytes(30 * 8000)).decode()
    async with running() as server, connect(server.url) as socket, asyncio.timeout(PATIENCE_S):
        coded = {"audio": {"input": {"format": {"type": "audio/pcmu"}}}}
        await send(socket, "session.update", session=coded)
        for _ in range(3):
            await send(socket, "input_audio_buffer.append", audio=half_a_minute)
        with pytest.raises(ConnectionClosed):
            while True:
                await socket.recv()
        assert (socket.close_code, socket.close_reason) == (1008, TOO_FAST)
        heard = [call[1] for call in server.parts.sessions[0].calls if call[0] == "append_audio"]
        assert sum(heard) == 2 * 30 * 8000


async def test_no_compression_is_negotiated(server: Server) -> None:
    async with connect(server.url) as socket:
        assert socket.protocol.extensions == []


async def test_metrics_follow_the_conversation(server: Server) -> None:
    async with connect(f"{server.url}?extensions=latency") as socket:
        await receive(socket)
        server.parts.sessions[0].emit(TurnMeasured(1, {"first_audio": 250.0}))
        await receive(socket)
        answer = await server.http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'quicksilver_turn_mark_seconds_sum{mark="first_audio"} 0.25' in answer.text
    assert "quicksilver_live_sessions 1.0" in answer.text


async def test_replies_are_rationed_by_key_and_not_by_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    async with running(max_responses_per_min=3) as server:
        body = {"expires_after": {"seconds": 60}}
        path = "/v1/realtime/client_secrets"
        made = (await server.http.post(path, json=body, headers=BEARER)).json()
        async with (
            connect(server.url, additional_headers=BEARER) as first,
            connect(server.url, additional_headers=BEARER) as second,
        ):
            await receive(first)
            await receive(second)
            for index, socket in enumerate((first, second, first)):
                await send(socket, "response.create")
                session = server.parts.sessions[0 if socket is first else 1]
                await session.called("create_response", 1 + index // 2)
            await send(second, "response.create", event_id="e4")
            error = (await receive(second))["error"]
            assert (error["code"], error["event_id"]) == ("rate_limit_exceeded", "e4")
            # What the user's speech brings is counted, and never refused.
            server.parts.sessions[1].emit(ReplyStarted("r9", "i9", 1, None))
            assert (await receive(second))["type"] == "response.created"
            told = await receive(second)
            assert told["type"] == "rate_limits.updated"
            (limit,) = told["rate_limits"]
            assert (limit["name"], limit["limit"], limit["remaining"]) == ("requests", 3, 0)
            assert 0 < limit["reset_seconds"] <= 60
        ephemeral = {"Authorization": f"Bearer {made['value']}"}
        async with connect(server.url, additional_headers=ephemeral) as other:
            await receive(other)
            await send(other, "response.create")
            await server.parts.sessions[2].called("create_response", 1)


async def test_a_call_that_is_elsewhere_is_not_taken_over(server: Server) -> None:
    assert await refused(f"{server.url}?call_id=rtc_1") == (400, "not_found")
    assert server.parts.sessions == []


async def test_a_client_may_ask_for_transcripts_alone(server: Server) -> None:
    async with connect(f"{server.url}?intent=transcription") as socket:
        created = await receive(socket)
        assert created["session"]["object"] == "realtime.transcription_session"
        assert not server.parts.sessions[0].options.create_response
    body = {"session": {"type": "transcription"}}
    minted = (await server.http.post("/v1/realtime/client_secrets", json=body)).json()
    assert minted["session"]["type"] == "transcription"


async def test_who_is_there_is_told_to_whoever_may_come_in(keyed: Server) -> None:
    assert (await keyed.http.get("/v1/agent")).status_code == 401
    told = await keyed.http.get("/v1/agent", headers=BEARER)
    expected = {"name": "test", "examples": [], "offers": [], "voice": "", "agents": ["test"]}
    assert told.json() == expected


async def test_an_agent_is_chosen_among_those_that_are_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    coffee = FakeParts(AgentConfig(name="coffee", instructions="Sell.", examples=("A latte",)))
    parts = FakeParts(agents={"agents/coffee.toml": coffee})
    async with running(parts, agents=("agents/coffee.toml",)) as server:
        told = (await server.http.get("/v1/agent?agent=coffee", headers=BEARER)).json()
        assert (told["examples"], told["agents"]) == (["A latte"], ["test", "coffee"])
        async with connect(f"{server.url}?agent=coffee", additional_headers=BEARER) as socket:
            await receive(socket)
            assert len(coffee.sessions) == 1
            await send(socket, "session.update", session={"quicksilver": {"agent": "test"}})
            assert (await receive(socket))["error"]["param"] == "session.quicksilver.agent"
            await send(socket, "session.update", session={"quicksilver": {"agent": "coffee"}})
            assert (await receive(socket))["type"] == "session.updated"
        async with connect(server.url, additional_headers=BEARER) as socket:
            await receive(socket)
        assert len(parts.sessions) == 1
        elsewhere = f"{server.url}?agent=clinic"
        assert await refused(elsewhere, additional_headers=BEARER) == (400, "invalid_value")
        answer = await server.http.get("/v1/agent?agent=clinic", headers=BEARER)
        assert "expected one of test, coffee" in answer.json()["error"]["message"]


async def test_an_ephemeral_key_is_for_one_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    coffee = FakeParts(AgentConfig(name="coffee", instructions="Sell."))
    async with running(FakeParts(agents={"coffee": coffee}), agents=("coffee",)) as server:
        path = "/v1/realtime/client_secrets"
        for named, other in (("coffee", "test"), ("", "coffee")):
            session = {"quicksilver": {"agent": named}}
            made = await server.http.post(path, json={"session": session}, headers=BEARER)
            key = {"Authorization": f"Bearer {made.json()['value']}"}
            answer = await refused(f"{server.url}?agent={other}", additional_headers=key)
            assert answer == (400, "invalid_value")
            told = (await server.http.get("/v1/agent", headers=key)).json()
            assert told["agents"] == [named or "test"]
            async with connect(server.url, additional_headers=key) as socket:
                await receive(socket)
        assert len(coffee.sessions) == 1
        for agent in ("clinic", 5):
            session = {"quicksilver": {"agent": agent}}
            made = await server.http.post(path, json={"session": session}, headers=BEARER)
            assert made.status_code == 400
            assert made.json()["error"]["param"] == "session.quicksilver.agent"


def test_an_agent_that_is_offered_twice_is_a_mistake() -> None:
    config = Config(server=ServerConfig(agents=("test",)))
    with pytest.raises(ConfigError, match="'test' twice"):
        fake_app(FakeParts(agents={"test": FakeParts()}), config)
