"""@openai/agents-realtime in Chromium, on an allowed page, with an ephemeral key, both ways it has.

The page is another server's: the SDK compiles code as it runs, which our page's policy forbids.
"""

import asyncio
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.e2e.chromium import FAKE_MICROPHONE, PROGRAM, chromium_page
from tests.e2e.test_agents_js_client import client_home
from tests.support.fakes import FakeParts, FakeSession, fake_app
from tests.support.patience import PATIENCE_S
from tests.support.serving import serving
from voice.config import Config, ServerConfig
from voice.demo.virtual_audio import room_tone
from voice.events import ReplyAudio, ReplyEnded, ReplyStarted, ReplyStatus, ReplyText

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

KEY = "the-key-of-this-server"
BUNDLE = Path("node_modules/@openai/agents-realtime/dist/bundle/openai-realtime-agents.umd.js")
WEBSOCKET = 'new OpenAIRealtimeWebSocket({{ url: "ws://{address}/v1/realtime" }})'
WEBRTC = """
new OpenAIRealtimeWebRTC({{
  baseUrl: "http://{address}/v1/realtime/calls",
  audioElement: (window.element = new Audio()),
}})
"""
CONNECT = """
(async () => {{
  const {{ OpenAIRealtimeWebSocket, OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession }} =
    OpenAIAgentsRealtime;
  const agent = new RealtimeAgent({{ name: "test", instructions: "Be brief." }});
  const transport = {transport};
  window.transport = transport;
  window.session = new RealtimeSession(agent, {{ transport }});
  window.failures = [];
  session.on("error", (event) => failures.push(JSON.stringify(event)));
  await session.connect({{ apiKey: "{key}" }});
  session.sendMessage("hello");
}})()
"""
PAGE = "<script>window.quicksilver = {}</script>"
"""What the browser is waited for."""
RECEIVED = """
transport.connectionState.peerConnection.getStats().then((stats) =>
  [...stats.values()].find(({ type }) => type === "inbound-rtp")?.packetsReceived)
"""
SAID = """
session.history.filter((item) => item.role === "assistant" && item.status === "completed")
  .map((item) => item.content[0].transcript).join("")
"""


@pytest.mark.parametrize("transport", [WEBSOCKET, WEBRTC], ids=["websocket", "webrtc"])
async def test_the_sdk_talks_from_a_page(transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    parts = FakeParts()
    app = Starlette(routes=[Route("/", lambda request: HTMLResponse(PAGE))])
    async with serving(app) as elsewhere:
        config = Config(server=ServerConfig(port=0, allowed_origins=(f"http://{elsewhere}",)))
        async with serving(fake_app(parts, config), config.server) as address:
            async with httpx.AsyncClient(base_url=f"http://{address}") as http:
                bearer = {"Authorization": f"Bearer {KEY}"}
                minted = await http.post("/v1/realtime/client_secrets", json={}, headers=bearer)
            async with chromium_page(f"http://{elsewhere}/", *FAKE_MICROPHONE) as page:
                await page.evaluate((client_home() / BUNDLE).read_text(encoding="utf-8"))
                key = minted.json()["value"]
                script = CONNECT.format(key=key, transport=transport.format(address=address))
                await page.evaluate(script)
                await answer(parts.sessions[0])
                assert await page.until(SAID) == "Hi there."
                assert await page.evaluate("failures") == []
                if transport == WEBRTC:
                    assert await page.evaluate("transport.callId.startsWith('rtc_')")
                    assert await page.until(RECEIVED) > 0
                    await parts.sessions[0].called("append_audio", 10)
                    await page.evaluate("session.interrupt()")
                    await parts.sessions[0].called("interrupt", 1)
    added = next(call for call in parts.sessions[0].calls if call[0] == "add_item")
    assert added[2].content == "hello"


async def answer(session: FakeSession) -> None:
    """Reply to what the page has asked, once it has."""
    async with asyncio.timeout(PATIENCE_S):
        while ("create_response", None) not in session.calls:
            await asyncio.sleep(0.02)
    session.emit(ReplyStarted("r1", "i9", 1, None), ReplyText("r1", "Hi there."))
    session.emit(ReplyAudio("r1", room_tone(0.2, 24_000), 24_000))
    session.emit(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Hi there.", 1, 1))
