"""The page in a real browser against a scripted server: what can go wrong, and barge-in."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from tests.e2e.chromium import FAKE_MICROPHONE, PROGRAM, Page, chromium_page
from tests.e2e.scripted_server import (
    ScriptedServer,
    reply_begins,
    reply_ends,
    reply_goes_on,
    scripted_server,
    speech_events,
    tone,
)
from tests.support.patience import PATIENCE_S

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

COARSE_CLOCK = """
{ const now = performance.now.bind(performance);
  performance.now = () => 50 * Math.floor(now() / 50); }
"""
"""Under it messages that come one right after the other come at one time."""


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted_server() as opened:
        yield opened


async def start_talking(page: Page, server: ScriptedServer) -> None:
    await page.click("#talk")
    await server.connected()
    await server.expect("input_audio_buffer.append")
    await page.until("quicksilver.state === 'listening'")


async def played(page: Page) -> np.ndarray[Any, np.dtype[np.int16]]:
    recording = await page.evaluate("quicksilver.played")
    return np.frombuffer(base64.b64decode(recording["base64"]), "<i2")


def sounding_s(
    sound: np.ndarray[Any, Any], level: float, rate_hz: float, grain_s: float = 0.003
) -> float:
    """Seconds in which a tone sounded; gaps, where the page starved, are none of it."""
    loud = np.abs(sound) > level
    grain = round(grain_s * rate_hz)
    grains = np.add.reduceat(loud, np.arange(0, len(loud), grain)) > 0
    return float(np.count_nonzero(grains) * grain / rate_hz)


def tool_events(response_id: str) -> list[dict[str, Any]]:
    use = {"response_id": response_id, "call_id": "c1", "name": "set_timer"}
    outcome = {"content": "Timer set for 10 minutes.", "error": False, "duration_ms": 3.4}
    return [
        {"type": "quicksilver.tool_call", "arguments": {"duration": "ten minutes"}, **use},
        {"type": "quicksilver.tool_result", **outcome, **use},
    ]


async def test_a_spoken_turn_is_shown_and_heard(server: ScriptedServer) -> None:
    async with chromium_page(f"{server.url}?tap", *FAKE_MICROPHONE) as page:
        assert await page.evaluate("quicksilver.state") == "idle"
        await start_talking(page, server)
        wanted = server.received[0]["session"]
        assert wanted["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24000}
        assert wanted["quicksilver"]["greet"] is True

        question = speech_events("u1", "set a timer", start_ms=0, end_ms=20)
        await server.send(*question[:2])
        await page.until("quicksilver.state === 'hearing'")
        await page.until("document.querySelector('.interim')?.innerText.includes('set a')")
        await server.send(*question[2:])
        await page.until("quicksilver.state === 'thinking'")
        draft = {"type": "quicksilver.denoising", "response_id": "r1", "text": "Set ░░░", "step": 1}
        await server.send(*reply_begins("r1", "m1"), draft)
        await page.until("document.querySelector('.draft')?.innerText === 'Set ░░░'")
        segment = reply_goes_on("r1", "m1", "Set for ten minutes.", tone(0.8))
        # A reply of which more may come is not over, however long it takes to look at it.
        await server.send(*tool_events("r1"), *segment)
        await page.until("quicksilver.state === 'speaking'")
        heard = {"type": "quicksilver.heard", "response_id": "r1", "item_id": "m1", "chars": 7}
        await server.send(heard)
        await page.until("document.querySelector('.heard')?.innerText === 'Set for'")
        marks = {"asr_final": 5, "end_of_turn": 10, "first_audio": 15}
        latency = {"type": "quicksilver.latency", "turn_id": 1, "marks_ms": marks}
        await server.send(*reply_ends("r1", "m1"), latency)
        await page.until("quicksilver.state === 'listening'")

        shown = await page.text("#turns")
        assert "set a timer" in shown
        assert "Timer · 10 min" in shown
        # What the tool answered is folded, since the agent says it.
        assert "Timer set for 10 minutes." not in shown
        await page.click(".tool summary")
        assert "Timer set for 10 minutes." in await page.text(".tool")
        assert await page.text(".heard") == "Set for ten minutes."
        assert await page.text("#announcer") == "Timer · 10 min: Timer set for 10 minutes."
        assert "voice to voice" in await page.text(".latency")
        (turn,) = await page.evaluate("quicksilver.turns")
        assert 20 < turn["voiceToVoiceMs"] < 1000 * PATIENCE_S
        reports = [e for e in server.received if e["type"] == "quicksilver.played"]
        assert reports[-1]["item_id"] == "m1"
        assert reports[-1]["audio_end_ms"] in (799, 800)

        sound = (await played(page)).astype(float)
        rate_hz = await page.evaluate("new AudioContext().sampleRate")
        assert sounding_s(sound, 300, rate_hz) == pytest.approx(0.8, abs=0.02)
        assert np.abs(sound).max() / 32767 == pytest.approx(0.3, abs=0.02)
        assert page.problems == []


async def test_what_is_drafted_while_the_user_speaks_shows_until_there_is_a_reply_to_see(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        question = speech_events("u1", "a large latte with oat milk", start_ms=0, end_ms=20)
        await server.send(*question[:2])
        call = {"name": "order_drink", "arguments": {"drink": "latte", "size": "large"}}
        draft = {"type": "quicksilver.draft", "turn_id": 1, "calls": []}
        await server.send({**draft, "number": 1, "text": "Which ░░ ░"})
        await server.send({**draft, "number": 1, "text": "Which size please?"})
        await page.until("document.querySelector('.ghost')?.innerText.includes('size please')")
        assert await page.evaluate("document.querySelector('.ghost').ariaHidden") == "true"
        await page.evaluate("window.kept = document.querySelector('.ghost .word')")
        await server.send({**draft, "number": 2, "text": "Which milk please?"})
        await page.until("document.querySelector('.ghost')?.innerText.includes('milk please')")
        # A word that stands is left alone; one that is revised fades in.
        assert await page.evaluate("kept.isConnected")
        await server.send({**draft, "number": 3, "text": "", "calls": [call]})
        await page.until("document.querySelector('.ghost')?.innerText.includes('large latte')")
        assert "Order: large latte" in await page.text(".ghost")
        await server.send(*question[2:], *reply_begins("r1", "m1"))
        await page.until("quicksilver.turns[0].replies.length === 1")
        assert "Order: large latte" in await page.text(".ghost")
        await server.send(*reply_goes_on("r1", "m1", "One large latte.", []))
        await page.until("document.querySelector('.ghost').hidden")
        assert page.problems == []


async def test_denoising_that_comes_at_once_is_shown_step_by_step(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await page.evaluate("""(() => {
            window.steps = [];
            const look = () => {
                const text = document.querySelector('.reply .words')?.innerText ?? '';
                if (text !== (steps.at(-1)?.[0] ?? '')) steps.push([text, performance.now()]);
            };
            new MutationObserver(look).observe(document.querySelector('#turns'),
                { childList: true, subtree: true, characterData: true });
        })()""")
        texts = ["Set ░░░", "Set for ░░", "Set for ten ░"]
        steps = [
            {"type": "quicksilver.denoising", "response_id": "r1", "text": text, "step": step}
            for step, text in enumerate(texts)
        ]
        segment = reply_goes_on("r1", "m1", "Set for ten minutes.", tone(30))
        await server.send(*reply_begins("r1", "m1"), *steps, *segment, *reply_ends("r1", "m1"))
        await page.until("steps.at(-1)?.[0] === 'Set for ten minutes.'")
        shown = await page.evaluate("steps")
        order = [text for text, _ in shown if text in texts]
        assert order == texts
        at_ms = {text: ms for text, ms in reversed(shown)}
        # Twice 60 ms, less what it takes to show the first.
        assert at_ms[texts[2]] - at_ms[texts[0]] > 50
        assert await page.evaluate("quicksilver.state") == "speaking"


async def test_how_a_reply_came_about_can_be_watched_again(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await page.evaluate(COARSE_CLOCK)
        question = speech_events("u1", "set a timer", start_ms=0, end_ms=20)
        draft = {"type": "quicksilver.draft", "turn_id": 1, "number": 1, "calls": []}
        await server.send(*question[:2], {**draft, "text": "How ░░"}, *question[2:])
        step = {"type": "quicksilver.denoising", "response_id": "r1", "text": "Set ░░░", "step": 1}
        segment = reply_goes_on("r1", "m1", "Set for ten minutes.", tone(0.2))
        await server.send(*reply_begins("r1", "m1"), *tool_events("r1"), step, *segment)
        await server.send(*reply_ends("r1", "m1"))
        await page.until("quicksilver.turns[0]?.moments.at(-1)?.kind === 'silence'")
        kinds = "[...new Set(quicksilver.turns[0].moments.map((m) => m.kind))].join(' ')"
        seen = "words draft stopped reply call result step certain sound silence"
        assert await page.evaluate(kinds) == seen
        assert await page.evaluate("document.querySelector('.latency').open") is False
        await page.click(".latency summary")
        await page.until("document.querySelector('.scene').innerText.includes('ten minutes')")

        # By keys alone: to the beginning, then on from moment to moment.
        await page.evaluate("document.querySelector('.replay input').focus()")
        key = {"key": "Home", "code": "Home", "windowsVirtualKeyCode": 36}
        await page.call("Input.dispatchKeyEvent", type="rawKeyDown", **key)
        await page.until("document.querySelector('.clock').innerText.startsWith('0 ms')")
        scenes = []
        for _ in range(20):
            scenes.append(await page.text(".scene"))
            await page.click(".replay [aria-label='Step on']")
        drafted = next(i for i, scene in enumerate(scenes) if "How ░░" in scene)
        masked = next(i for i, scene in enumerate(scenes) if "Set ░░░" in scene)
        assert drafted < masked
        assert "Set for ten minutes." in scenes[-1]
        assert "Draft" not in scenes[-1]
        play = "(b => (b.click(), b.innerText))(document.querySelector('.transport button'))"
        assert await page.evaluate(play) == "Pause"
        assert page.problems == []


async def test_who_is_there_and_what_to_say_is_told_before_the_call(server: ScriptedServer) -> None:
    server.agent = {
        "name": "coffee",
        "examples": ["A latte, please", "<b>What is in my order?</b>"],
        "offers": [{"title": "Menu", "items": ["latte", "tea"]}],
    }
    async with chromium_page(server.url) as page:
        await page.until("document.querySelectorAll('.example').length === 2")
        assert await page.text("#agent-name") == "Coffee"
        assert await page.evaluate("document.querySelector('.offer').open") is False
        await page.click(".offer summary")
        assert await page.text(".offer ul") == "latte\ntea"
        await page.click(".example")
        await server.connected()
        await server.expect("response.create")
        created = await server.expect("conversation.item.create")
        assert created["item"]["content"][0]["text"] == "A latte, please"
        assert await page.evaluate("document.querySelector('#welcome').hidden")
        assert page.problems == []


async def test_one_chooses_with_whom_to_talk(server: ScriptedServer) -> None:
    agents = {"agents": ["assistant", "coffee"]}
    server.agent = {"name": "assistant", **agents}
    coffee = {"name": "coffee", "voice": "espeak:en-us", "examples": ["A latte, please"]}
    server.others = {"coffee": {**coffee, **agents}}
    async with chromium_page(server.url) as page:
        # What was chosen once and is not there any more is forgotten.
        await page.evaluate("localStorage.setItem('agent', 'butler')")
        # It returns when the new page is there; a reload from within could end the next question.
        await page.call("Page.navigate", url=server.url)
        await page.until("document.querySelector('#agent-name')?.innerText === 'Assistant'")
        await page.click("#settings-open")
        await page.until("document.querySelector('#settings').open")
        assert await page.evaluate("document.querySelector('#agent').value") == "assistant"
        await page.evaluate(
            "(a => { a.value = 'coffee'; a.dispatchEvent(new Event('change')); })"
            "(document.querySelector('#agent'))"
        )
        # "The agent's own" is the voice of who was chosen.
        await page.evaluate("""{ const ask = fetch; window.fetch = (url, options) => {
            if (!options?.body) return ask(url, options);
            window.spoken = JSON.parse(options.body).voice;
            return Promise.reject(new Error("Nothing speaks here."));
        }; }""")
        await page.click("#voice-hear")
        await page.until("window.spoken === 'espeak:en-us'")
        await page.evaluate("document.querySelector('#settings').close()")
        await page.until("document.querySelector('#agent-name').innerText === 'Coffee'")
        await page.click(".example")
        await server.connected()
        assert server.path == "/v1/realtime?model=quicksilver&agent=coffee"
        # Another may be chosen meanwhile; the conversation goes on with the one that it began with.
        await page.evaluate("localStorage.setItem('agent', ''), settings.close()")
        assert await page.text("#agent-name") == "Coffee"
        assert [told for told in page.problems if "400" not in told] == []


async def test_who_was_chosen_may_be_gone_when_the_server_is_back(server: ScriptedServer) -> None:
    server.agent = {"name": "assistant", "agents": ["assistant", "coffee"]}
    server.others = {"coffee": {"name": "coffee", "agents": ["assistant", "coffee"]}}
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate("localStorage.setItem('agent', 'coffee')")
        await page.call("Page.navigate", url=server.url)
        await page.until("document.querySelector('#agent-name')?.innerText === 'Coffee'")
        await start_talking(page, server)
        server.agent, server.others = {"name": "assistant", "agents": ["assistant"]}, {}
        await server.hang_up(1012)
        await page.until("document.querySelector('#notice-text').innerText.includes('any more')")
        told = await page.text("#notice-text")
        assert told.endswith('any more. The next conversation is with "assistant".')
        assert await page.evaluate("quicksilver.state") == "ended"
        await page.click("#talk")
        await server.connected(2)
        assert server.path == "/v1/realtime?model=quicksilver"


async def test_barge_in_stops_the_sound_and_tells_what_was_heard(server: ScriptedServer) -> None:
    async with chromium_page(f"{server.url}?tap", *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        long_reply = reply_goes_on("r1", "m1", "A very long story.", tone(30))
        await server.send(*reply_begins("r1", "m1"), *long_reply)
        await server.expect("quicksilver.played")
        await server.send(*speech_events("u2", "stop", start_ms=0, end_ms=20)[:2])
        cut = await server.expect("conversation.item.truncate")
        # What was on its way when the user spoke up belongs to a reply that is over.
        await server.send(*reply_goes_on("r1", "m1", " More.", tone(1)))
        cancelled = {"id": "r1", "status": "cancelled"}
        await server.send({"type": "response.done", "response": cancelled})
        await page.until("document.querySelector('.reply.interrupted .unheard')")

        assert cut["item_id"] == "m1"
        assert cut["content_index"] == 0
        rate_hz = await page.evaluate("new AudioContext().sampleRate")
        later = await page.evaluate("quicksilver.played.endFrame") + 0.3 * rate_hz
        await page.until(f"quicksilver.played.endFrame > {later}")
        sound = np.abs((await played(page)).astype(float))
        loud = np.flatnonzero(sound > 50)
        heard_ms = 1000 * sounding_s(sound, 50, rate_hz)
        assert heard_ms == pytest.approx(cut["audio_end_ms"], abs=12)
        assert heard_ms < 15_000
        assert len(sound) - loud[-1] >= 0.3 * rate_hz
        assert await page.evaluate("quicksilver.state") == "hearing"
        assert page.problems == []


async def test_a_refused_microphone_is_explained(server: ScriptedServer) -> None:
    flags = ("--use-fake-device-for-media-stream", "--deny-permission-prompts")
    async with chromium_page(server.url, *flags) as page:
        await page.click("#talk")
        await page.until("!document.querySelector('#notice').hidden")
        assert "not allowed to use the microphone" in await page.text("#notice-text")
        assert await page.evaluate("document.activeElement.id") == "words"
        assert await page.evaluate("quicksilver.state") == "idle"
        assert server.connections == 0


async def test_without_a_secure_context_one_can_still_type(server: ScriptedServer) -> None:
    flags = ("--host-resolver-rules=MAP agent.test 127.0.0.1",)
    async with chromium_page(f"http://agent.test:{server.port}/", *flags) as page:
        assert "HTTPS" in await page.text("#notice-text")
        assert await page.evaluate("document.querySelector('#talk').hidden")
        await page.type("#words", "hello")
        await server.connected()
        assert server.received[0]["session"]["output_modalities"] == ["text"]
        await server.expect("response.create")
        delta = {"type": "response.output_text.delta", "response_id": "r1", "delta": "Hello."}
        await server.send(*reply_begins("r1", "m1"), delta, *reply_ends("r1", "m1")[1:])
        await page.until("document.querySelector('.heard')?.innerText === 'Hello.'")
        # A screen reader says the same answer to the next message, too.
        await page.evaluate(
            "void new MutationObserver(() => (window.told = true))"
            ".observe(announcer, { childList: true })"
        )
        await page.type("#words", "hello")
        again = {**delta, "response_id": "r2"}
        await server.send(*reply_begins("r2", "m2"), again, *reply_ends("r2", "m2")[1:])
        await page.until("window.told && announcer.innerText.trim() === 'Agent: Hello.'")
        assert page.problems == []


async def test_a_server_that_goes_is_missed_and_found_again(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await server.send(*speech_events("u1", "hello", start_ms=0, end_ms=20))
        await server.send(*reply_begins("r1", "m1"), *reply_goes_on("r1", "m1", "Hi.", tone(0.1)))
        await server.send(*reply_ends("r1", "m1"))
        await page.until("quicksilver.turns[0]?.replies[0]?.heard === 3")
        await server.close()
        await page.until("quicksilver.state === 'reconnecting'")
        assert "Trying again" in await page.text("#notice-text")

        await server.open()
        await page.click("#notice-action")
        await server.connected(2)
        await page.until("quicksilver.state === 'listening'")
        assert await page.evaluate("document.querySelector('#notice').hidden")
        await server.expect("input_audio_buffer.append")
        assert server.received[0]["session"]["quicksilver"]["greet"] is False
        told = [e["item"] for e in server.received if e["type"] == "conversation.item.create"]
        assert [(i["role"], i["content"][0]["text"]) for i in told] == [
            ("user", "hello"),
            ("assistant", "Hi."),
        ]


async def test_a_server_that_wants_a_key_is_given_one(server: ScriptedServer) -> None:
    server.key = "open-sesame"
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.click("#talk")
        await page.until("document.querySelector('#notice-text').innerText.includes('access key')")
        assert await page.evaluate("quicksilver.state") == "idle"
        await page.click("#notice-action")
        await page.until("document.querySelector('#settings').open")
        await page.type("#key", server.key)
        await page.until("!document.querySelector('#settings').open")
        await page.click("#talk")
        await server.connected()
        await page.until("quicksilver.state === 'listening'")


async def test_a_farewell_is_heard_out(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await page.watch_states()
        goodbye = reply_goes_on("r1", "m1", "Goodbye.", tone(0.6))
        await server.send(*reply_begins("r1", "m1"), *goodbye, *reply_ends("r1", "m1"))
        await server.hang_up(1000)
        await page.passed("speaking")
        await page.passed("ended")
        assert await page.text("#state-text") == "Call ended"
        assert await page.text(".heard") == "Goodbye."
        # What was said stays, and can be kept.
        await page.evaluate("""(() => {
            const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => make((window.saved = blob));
        })()""")
        await page.click("#save-text")
        assert await page.evaluate("saved.text()") == "Agent: Goodbye.\n"
        await page.click("#save-json")
        assert "Goodbye." in await page.evaluate("saved.text()")
        await page.click("#save-sound")
        sound = await page.evaluate("""saved.arrayBuffer()
            .then((bytes) => new AudioContext().decodeAudioData(bytes))
            .then((heard) => heard.getChannelData(0).filter((x) => Math.abs(x) > 0.1).length
                / heard.sampleRate)""")
        # Two thirds of a sine of 0.3 lie above 0.1; the fake microphone beeps as well.
        assert sound > 0.35
        assert await page.evaluate("document.querySelector('#hang-up').hidden")
        assert server.connections == 1


async def test_nothing_that_is_said_becomes_markup_and_nonsense_does_no_harm(
    server: ScriptedServer,
) -> None:
    trap = "<img src=x onerror=\"document.title='trapped'\">"
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await server.send_raw("{ not json")
        await page.until("!document.querySelector('#notice').hidden")
        for event in ({}, {"type": "response.created"}, {"type": "response.output_audio.delta"}):
            await server.send(event)
        broken = {"type": "response.output_audio.delta", "response_id": "x", "item_id": "x"}
        await server.send({**broken, "delta": "%%%"}, {"type": "error", "error": trap})
        await server.send(*speech_events("u1", trap, start_ms=-5, end_ms=10**12))
        await server.send(*reply_begins("r1", "m1"), *reply_goes_on("r1", "m1", trap, []))
        use = {"response_id": "r1", "call_id": "c1", "name": trap, "arguments": {trap: trap}}
        await server.send({"type": "quicksilver.tool_call", **use})
        await server.send({"type": "quicksilver.tool_result", **use, "content": trap})
        await server.send({"type": "error", "error": {"message": trap}})
        await page.until("document.querySelector('.tool-result')?.textContent.includes('onerror')")
        assert trap in await page.text("#notice-text")
        assert await page.evaluate("document.querySelectorAll('main img, #notice img').length") == 0
        assert await page.evaluate("document.title") == "Quicksilver"
        assert page.problems == []


async def test_fits_a_narrow_phone(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        size = {"width": 360, "height": 640, "deviceScaleFactor": 2, "mobile": True}
        await page.call("Emulation.setDeviceMetricsOverride", **size)
        await start_talking(page, server)
        words = "antidisestablishmentarianism" * 4
        await server.send(*speech_events("u1", words, start_ms=0, end_ms=20))
        await server.send(*reply_begins("r1", "m1"), *tool_events("r1"))
        await server.send(*reply_goes_on("r1", "m1", words, tone(0.3)))
        await page.until("document.querySelector('.latency')")
        too_wide = """[...document.querySelectorAll('body *')].filter((each) => {
            const box = each.getBoundingClientRect();
            return box.width > 1 && (box.right > 361 || box.left < -1);
        }).map((each) => each.outerHTML.slice(0, 80))"""
        assert await page.evaluate(too_wide) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == 360
        state_right = "document.querySelector('#state-text').getBoundingClientRect().right"
        controls_left = "document.querySelector('.controls').getBoundingClientRect().left"
        assert await page.evaluate(f"{state_right} <= {controls_left}")


async def test_leaves_room_for_the_conversation_on_a_phone_held_sideways(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url) as page:
        size = {"width": 568, "height": 320, "deviceScaleFactor": 2, "mobile": True}
        await page.call("Emulation.setDeviceMetricsOverride", **size)
        await page.type("#words", "hello")
        await server.connected()
        message = "The model could not be asked. Please try again in a moment."
        await server.send({"type": "error", "error": {"message": message}})
        await page.until("!document.querySelector('#notice').hidden")
        assert await page.evaluate("document.querySelector('main').clientHeight") >= 40
        assert await page.evaluate("document.documentElement.scrollWidth") == 568


async def test_muting_silences_the_microphone_and_not_the_stream(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await page.click("#mute")
        await page.until("quicksilver.state === 'muted'")
        async with asyncio.timeout(PATIENCE_S):
            # The fake device beeps once a second; more than that in silence means muted.
            while not _silent_for(server.received, seconds=1.4):
                await server.expect("input_audio_buffer.append", len(server.received))
        await page.click("#hang-up")
        await page.until("quicksilver.state === 'ended'")


def _silent_for(events: list[dict[str, Any]], seconds: float) -> bool:
    pieces = [e["audio"] for e in events if e["type"] == "input_audio_buffer.append"]
    last = pieces[-round(seconds / 0.02) :]
    sound = np.frombuffer(b"".join(base64.b64decode(piece) for piece in last), "<i2")
    return len(sound) >= seconds * 24_000 - 480 and not sound.any()
