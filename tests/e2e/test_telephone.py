"""Callers order coffee over two kinds of line at once: recordings, real parts, real sockets."""

import asyncio
import base64
import hmac
import shutil
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile
from websockets.asyncio.client import connect

from tests.support.embedded import embedded_config
from tests.support.patience import PATIENCE_S
from tests.support.phone import AsteriskFraming, Framing, Phone, TwilioFraming
from tests.support.serving import serving
from tests.support.sip_bridge import HOST, SipBridge
from voice.audio import mulaw_from_samples
from voice.demo.recordings import load
from voice.demo.virtual_audio import speech_span
from voice.events import (
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeard,
    ReplyToolResult,
    SessionEvent,
)
from voice.metrics import SessionMetrics
from voice.prove.sound import carried
from voice.server.app import build_app
from voice.session.resources import Resources
from voice.types import Samples

pytestmark = pytest.mark.e2e

TOKEN, PUBLIC = "twilio-auth-token", "voice.example.com"
ORDER = "order-10"
OPTIONS = (
    "agent=coffee",
    'telephony.doors=["twilio", "asterisk"]',
    f"telephony.public_url=https://{PUBLIC}",
    "telephony.require_ticket=false",
)


class Calls:
    """What all sessions have told, in order.

    Attributes:
        begun: Ids of sessions, in the order of their first events.
    """

    def __init__(self) -> None:
        self.events: defaultdict[str, list[SessionEvent]] = defaultdict(list)
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self._changed = asyncio.Event()

    def add(self, session_id: str, event: SessionEvent) -> None:
        if session_id not in self.events:
            self.begun.put_nowait(session_id)
        self.events[session_id].append(event)
        self._changed.set()

    async def wait_for(self, session_id: str, holds: Callable[[list[SessionEvent]], bool]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not holds(self.events[session_id]):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"it has not come to that: {self.told()}") from None

    def told(self) -> list[SessionEvent]:
        """Everything but sound, of all calls."""
        return [
            event
            for events in self.events.values()
            for event in events
            if not isinstance(event, ReplyAudio)
        ]


class KeptParts(Resources):
    """Outlive a server, to serve the next one."""

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def parts() -> Generator[Resources, None, None]:
    loaded = KeptParts.load(embedded_config(*OPTIONS))
    yield loaded
    asyncio.run(Resources.close(loaded))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    found = Calls()
    observe = SessionMetrics.observe

    def spy(metrics: SessionMetrics, event: SessionEvent) -> None:
        observe(metrics, event)
        found.add(str(metrics._named["session"]), event)

    monkeypatch.setattr(SessionMetrics, "observe", spy)
    return found


@asynccontextmanager
async def line(address: str, framing: Framing) -> AsyncGenerator[Phone, None]:
    """A call on its line."""
    if isinstance(framing, TwilioFraming):
        url = f"wss://{PUBLIC}/twilio/stream"
        signature = base64.b64encode(hmac.digest(TOKEN.encode(), url.encode(), "sha1")).decode()
        opening = connect(
            f"ws://{address}/twilio/stream", additional_headers={"X-Twilio-Signature": signature}
        )
    else:
        opening = connect(f"ws://{address}/telephone/asterisk", subprotocols=["media"])  # type: ignore[list-item]
    async with opening as socket:
        phone = Phone(socket, framing)
        task = asyncio.create_task(phone.run())
        yield phone
        await task


def spoken(samples: Samples, rate_hz: int) -> Samples:
    """Speech as a telephone carries it, without the silence around it."""
    start, end = speech_span(samples, rate_hz)
    return carried(samples[max(0, start - rate_hz // 10) : end + rate_hz // 20], rate_hz)


class Caller:
    """Someone who orders coffee."""

    def __init__(self, phone: Phone, calls: Calls, session_id: str) -> None:
        self.phone = phone
        self.calls = calls
        self.session_id = session_id

    async def heard(self, answers: int) -> None:
        """The agent has given so many answers, and the line has told that the last was played."""

        def holds(events: list[SessionEvent]) -> bool:
            given = [event for event in events if isinstance(event, ReplyEnded)]
            played = [event for event in events if isinstance(event, ReplyHeard)]
            if len(given) < answers or not played:
                return False
            last = given[-1]
            return played[-1] == ReplyHeard(last.reply_id, len(last.text))

        await self.calls.wait_for(self.session_id, holds)

    async def order(self, order: Samples) -> None:
        """Talk over the greeting, order, confirm, say goodbye, and be hung up on."""
        async with asyncio.timeout(PATIENCE_S):
            await self.phone.sounds.wait()
        for answers, words in ((2, order), (3, line_of("coffee-5-confirm"))):
            await self.phone.say(words)
            await self.heard(answers)
        await self.phone.say(line_of("coffee-6-bye"))
        async with asyncio.timeout(PATIENCE_S):
            await self.phone.hung_up.wait()

    def said(self) -> list[str]:
        events = self.calls.events[self.session_id]
        return [event.text for event in events if isinstance(event, FinalTranscript)]

    def tools(self) -> list[str]:
        events = self.calls.events[self.session_id]
        return [e.result.content for e in events if isinstance(e, ReplyToolResult)]

    def answers(self) -> list[str]:
        return [e.text for e in self.calls.events[self.session_id] if isinstance(e, ReplyEnded)]


def line_of(name: str) -> Samples:
    return spoken(load(name), 16_000)


async def test_a_coffee_order_over_twilio_and_over_asterisk(
    parts: Resources, calls: Calls, shared_audio: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", TOKEN)
    samples, rate_hz = soundfile.read(shared_audio / "orders" / f"{ORDER}.flac", dtype="int16")
    order = spoken(samples, rate_hz)
    app = build_app(parts, parts.config)
    async with (
        serving(app, parts.config.server) as address,
        line(address, TwilioFraming()) as by_twilio,
    ):
        twilio = Caller(by_twilio, calls, await calls.begun.get())
        async with line(address, AsteriskFraming()) as by_asterisk:
            asterisk = Caller(by_asterisk, calls, await calls.begun.get())
            await asyncio.gather(twilio.order(order), asterisk.order(order))
    for caller in (twilio, asterisk):
        said, answers = caller.said(), caller.answers()
        assert "medium mocha" in said[0]
        added, confirmed, bye = caller.tools()
        assert added == "Added: medium mocha."
        assert confirmed.startswith("Order confirmed for ")
        assert confirmed.endswith(": 1 medium mocha. That comes to $4.50.")
        assert bye == "Goodbye."
        assert "medium mocha" in answers[1].lower()
        name = confirmed.removeprefix("Order confirmed for ").partition(":")[0]
        assert any(words in answers[2] for words in ("medium mocha", name))
        # The greeting was talked over.
        assert "clear" in caller.phone.commands
        assert caller.phone.seconds_heard() > 4
        # Hung up on behind the last word, not before.
        await caller.heard(4)


async def test_a_real_telephone_call(
    parts: Resources,
    calls: Calls,
    shared_audio: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SIPp calls a SIP endpoint, which bridges to the WebSocket as an exchange would."""
    sipp = shutil.which("sipp")
    if sipp is None:
        pytest.skip("sipp is not installed (Debian: sip-tester)")
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", TOKEN)
    samples, rate_hz = soundfile.read(shared_audio / "orders" / f"{ORDER}.flac", dtype="int16")
    pause, goodbye = np.zeros(8000 * 5, np.int16), line_of("coffee-6-bye")
    # The caller cannot listen: who is not hung up on says goodbye again.
    said = [pause[:8000], spoken(samples, rate_hz), *[pause, goodbye] * 3, pause]
    (tmp_path / "speech.ulaw").write_bytes(mulaw_from_samples(np.concatenate(said)))
    scenario = (Path(__file__).parent / "caller.xml").read_text()
    speech = str(tmp_path / "speech.ulaw")
    (tmp_path / "caller.xml").write_text(scenario.replace("SPEECH", speech))
    loop = asyncio.get_running_loop()
    async with serving(build_app(parts, parts.config), parts.config.server) as address:
        bridge = SipBridge(f"ws://{address}/telephone/asterisk")
        await loop.create_datagram_endpoint(lambda: bridge, (HOST, 0))
        caller = await asyncio.create_subprocess_exec(
            *(sipp, f"{HOST}:{bridge.port}", "-sf", tmp_path / "caller.xml", "-m", "1"),
            *("-i", HOST, "-mi", HOST, "-nostdin", "-timeout", f"{PATIENCE_S:.0f}", "-trace_err"),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(2 * PATIENCE_S):
                out, _ = await caller.communicate()
        finally:
            if caller.returncode is None:
                caller.kill()
                await caller.wait()
            await bridge.close()
    assert caller.returncode == 0, (out.decode(errors="replace"), calls.told())
    # Answered, hung up on by the agent, and let go of by the caller.
    assert bridge.acknowledged.is_set()
    assert bridge.released.is_set()
    session_id = await calls.begun.get()
    results = [e for e in calls.events[session_id] if isinstance(e, ReplyToolResult)]
    assert results[0].result.content == "Added: medium mocha."
    assert results[-1].result.content == "Goodbye."
