"""The page by WebRTC, in Chromium with a recording for a microphone, and the real server."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import soundfile

from tests.e2e.chromium import FAKE_MICROPHONE, PROGRAM, chromium_page, microphone_from
from tests.support.fakes import FakeParts, fake_app
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import serving
from tests.support.webrtc import bad_network
from voice.config import Config, ServerConfig
from voice.demo.recordings import load
from voice.demo.virtual_audio import room_tone
from voice.events import ReplyAudio, ReplyEnded, ReplyStarted, ReplyStatus, ReplyText
from voice.types import SAMPLE_RATE_HZ

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

WATCH = """
window.analysers = [];
window.AnalyserNode = class extends AnalyserNode {
  constructor(...given) { super(...given); analysers.push(this); }
};
window.level = () => {
  const samples = new Float32Array(1024);
  analysers[0].getFloatTimeDomainData(samples);
  return Math.max(...samples);
};
"""
"""The page opens the loudspeaker first."""
REROUTE = """
const set = RTCPeerConnection.prototype.setRemoteDescription;
RTCPeerConnection.prototype.setRemoteDescription = async function (answer) {
  window.answer = answer.sdp;
  while (!window.rerouted) await new Promise((again) => setTimeout(again, 10));
  return set.call(this, { type: "answer", sdp: window.rerouted });
};
"""
"""The page waits until it is told which way its packets go."""
RECEIVED = """
peer.getStats().then((stats) => [...stats.values()].find(({ type }) => type === "inbound-rtp"))
"""
KEEP_PEER = """
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(...given) { super(...given); window.peer = this; }
};
"""
WATCH_NOTICES = """
window.notices = [];
new MutationObserver(() => notices.push(document.querySelector("#notice-text").innerText))
    .observe(document.querySelector("#notice-text"), { childList: true });
"""
ESCAPE = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))"
ANSWERED = "quicksilver.turns.find((t) => t.user?.text && t.replies.some((r) => r.done))"


def microphone(folder: Path) -> tuple[str, ...]:
    """Flags for somebody who asks for a timer."""
    recording = folder / "user.wav"
    soundfile.write(recording, load("assistant-1-timer"), SAMPLE_RATE_HZ)
    return microphone_from(recording)


async def test_a_person_is_understood_and_hears_the_reply(repo_root: Path, tmp_path: Path) -> None:
    async with (
        program(cwd=repo_root) as (_, _, address),
        chromium_page(f"http://{address}/?transport=webrtc", *microphone(tmp_path)) as page,
    ):
        await page.evaluate(WATCH)
        await page.watch_states()
        await page.hold_microphone()
        await page.click("#talk")
        await page.until("quicksilver.state === 'speaking' && level() > 0.02")
        await page.until("quicksilver.state === 'listening' && level() < 0.001")
        await page.speak()
        await page.until(ANSWERED)
        for state in ("hearing", "speaking", "listening"):
            await page.passed(state)
        turn = await page.evaluate(ANSWERED)
        assert turn["user"]["text"] == "Set a timer for 10 minutes."
        reply = turn["replies"][-1]
        assert reply["heard"] == len(reply["text"])
        assert 50 < turn["voiceToVoiceMs"] < 1000 * PATIENCE_S
        # Typing stops what is said.
        await page.type("#words", "what is on the shopping list")
        # In one: the reply is short.
        await page.until(f"quicksilver.state === 'speaking' && {ESCAPE}")
        await page.until("quicksilver.turns.at(-1).replies.at(-1).interrupted")
        await page.click("#hang-up")
        await page.until("quicksilver.state === 'ended'")
        assert page.problems == []


async def test_a_network_that_loses_packets_and_brings_others_late_is_borne_with() -> None:
    """5 % of the packets, and each of the others late by up to 80 ms, both ways."""
    parts, config = FakeParts(), Config(server=ServerConfig(port=0))
    async with (
        bad_network(0.05, 0.08) as network,
        serving(fake_app(parts, config), config.server) as address,
        chromium_page(f"http://{address}/?transport=webrtc", *FAKE_MICROPHONE) as page,
    ):
        await page.evaluate(KEEP_PEER + REROUTE)
        await page.click("#talk")
        route = network.between(await page.until("window.answer"))
        await page.evaluate(f"window.rerouted = {json.dumps(route)}")
        await page.until("quicksilver.state === 'listening'")
        (session,) = parts.sessions
        await session.called("append_audio", 200)
        session.emit(ReplyStarted("r1", "i9", 1, None), ReplyText("r1", "Hi there."))
        session.emit(ReplyAudio("r1", room_tone(6, 24_000), 24_000))
        session.emit(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "Hi there.", 1, 1))
        await page.until("quicksilver.turns[0]?.replies[0]?.heard === 9")
        received = await page.evaluate(RECEIVED)
        assert 0 < received["packetsLost"] < 0.2 * received["packetsReceived"]
        assert received["concealedSamples"] > 0
        assert network.lost > 10
        # What was heard can be kept.
        await page.click("#hang-up")
        await page.until("!document.querySelector('#save-sound').hidden")
        assert page.problems == []


async def test_a_call_that_breaks_off_in_mid_sentence_listens_in_the_next() -> None:
    parts, config = FakeParts(), Config(server=ServerConfig(port=0))
    async with (
        serving(fake_app(parts, config), config.server) as address,
        chromium_page(f"http://{address}/?transport=webrtc", *FAKE_MICROPHONE) as page,
    ):
        await page.evaluate(KEEP_PEER)
        await page.click("#talk")
        await page.until("quicksilver.state === 'listening'")
        (session,) = parts.sessions
        session.emit(ReplyStarted("r1", "i9", 1, None), ReplyText("r1", "A long story."))
        session.emit(ReplyAudio("r1", room_tone(60, 24_000), 24_000))
        await page.until("quicksilver.state === 'speaking'")
        # What the browser says once the network has been gone for a while.
        await page.evaluate("""(() => {
            Object.defineProperty(peer, "connectionState", { value: "failed" });
            peer.dispatchEvent(new Event("connectionstatechange"));
        })()""")
        await page.until("quicksilver.state === 'reconnecting'")
        await page.until("quicksilver.state === 'listening'")
        assert len(parts.sessions) == 2


@pytest.mark.parametrize(("fails", "told"), [(False, "is restarting"), (True, "failed (internal")])
async def test_a_server_that_ends_in_a_call_is_called_again(fails: bool, told: str) -> None:
    parts, config = FakeParts(), Config(server=ServerConfig(port=0))
    async with AsyncExitStack() as running:
        address = await running.enter_async_context(serving(fake_app(parts, config), config.server))
        url = f"http://{address}/?transport=webrtc"
        async with chromium_page(url, *FAKE_MICROPHONE) as page:
            await page.evaluate(WATCH_NOTICES)
            await page.watch_states()
            await page.click("#talk")
            await page.passed("listening")
            if fails:
                parts.sessions[0].refuse = RuntimeError("broken")
            else:
                await running.aclose()
            await page.passed("reconnecting")
            await page.until(f"notices.some((told) => told.includes({json.dumps(told)}))")
