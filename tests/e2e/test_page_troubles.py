"""The page in a real browser when things go wrong: devices, the server, and hasty users."""

from __future__ import annotations

from collections.abc import AsyncIterator

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
from tests.e2e.test_page_scripted import start_talking

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

# Keeps what the page opens in sight, and lets a test answer the browser's question when it likes.
WATCHED = """(() => {
    const media = navigator.mediaDevices, ask = media.getUserMedia.bind(media);
    const Context = AudioContext;
    window.streams = [];
    window.contexts = [];
    window.question = Promise.resolve();
    media.getUserMedia = async (wanted) => {
        await question;
        streams.push(await ask(wanted));
        return streams.at(-1);
    };
    window.AudioContext = class extends Context {
        constructor(options) { super(options); contexts.push(this); }
    };
})()"""
KEEP_ASKING = "void (window.question = new Promise((answer) => (window.allow = answer)))"
LIVE = "streams.flatMap((s) => s.getTracks()).filter((t) => t.readyState === 'live').length"
UNPLUG = """(([track]) => {
    track.stop();
    track.dispatchEvent(new Event('ended'));
})(streams[0].getTracks())"""
ESCAPE = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted_server() as opened:
        yield opened


def shows(selector: str) -> str:
    return f"!document.querySelector('{selector}').hidden"


def typed(server: ScriptedServer, since: int = 0) -> list[str]:
    """What the page has asked for, in order: the words of messages, and replies."""
    asked = []
    for event in server.received[since:]:
        if event["type"] == "conversation.item.create":
            asked.append(event["item"]["content"][0]["text"])
        elif event["type"] == "response.create":
            asked.append("?")
    return asked


async def begin_long_reply(page: Page, server: ScriptedServer) -> None:
    await server.send(*reply_begins("r1", "m1"), *reply_goes_on("r1", "m1", "A story.", tone(8)))
    await page.until("quicksilver.state === 'speaking'")


async def test_who_interrupts_a_farewell_is_not_listened_to_any_more(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate(WATCHED)
        await start_talking(page, server)
        await begin_long_reply(page, server)
        await server.send(*reply_ends("r1", "m1"))
        await server.hang_up(1000)
        await page.evaluate(ESCAPE)
        await page.until("quicksilver.state === 'ended'")
        await page.until(f"{LIVE} === 0")
        assert await page.evaluate(shows("#talk"))


async def test_what_is_typed_into_a_farewell_begins_a_new_call(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await begin_long_reply(page, server)
        await server.send(*reply_ends("r1", "m1"))
        await server.hang_up(1000)
        await page.type("#words", "one more thing")
        await server.connected(2)
        await server.expect("response.create")
        assert typed(server) == ["one more thing", "?"]


async def test_what_crosses_the_servers_hanging_up_is_asked_in_a_new_call_or_given_back(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url) as page:
        await page.type("#words", "hello")
        await server.connected()
        await server.expect("response.create")
        await server.send(*reply_begins("r1", "m1"), *reply_ends("r1", "m1"))
        await page.until("quicksilver.turns[0].replies[0]?.done")
        since = len(server.received)
        await page.type("#words", "one more thing")
        await page.type("#words", "and another")
        # It was sent, and is answered by the end of the call alone.
        await server.expect("response.create", since)
        await server.hang_up(1000)
        await server.connected(2)
        await server.expect("response.create")
        assert typed(server) == ["one more thing", "and another", "?"]
        # A server that ends calls before it has said anything is not called again and again.
        await server.hang_up(1000)
        await page.until("document.querySelector('#words').value === 'one more thing and another'")
        assert "was not sent" in await page.text("#notice-text")
        assert server.connections == 2


async def test_a_microphone_chosen_before_hanging_up_is_not_opened_after(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate(WATCHED)
        await start_talking(page, server)
        await page.evaluate(KEEP_ASKING)
        await page.evaluate(
            "void document.querySelector('#microphone').dispatchEvent(new Event('change'))"
        )
        await page.click("#hang-up")
        await page.evaluate("allow()")
        await page.until(f"streams.length === 2 && {LIVE} === 0")


async def test_a_server_that_dies_in_mid_sentence_leaves_nothing_behind(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await server.send(*speech_events("u1", "tell me a story", start_ms=0, end_ms=20))
        story = reply_goes_on("r1", "m1", "Once upon a time", tone(1))
        held = {"type": "quicksilver.hold", "response_id": "r1", "held": True}
        await server.send(*reply_begins("r1", "m1"), *story, held)
        await page.until("quicksilver.state === 'speaking'")
        await server.close()
        await page.until("quicksilver.state === 'reconnecting'")
        await server.open()
        await page.click("#notice-action")
        await server.connected(2)
        await page.until("quicksilver.state === 'listening'")
        # Neither held back by the old conversation nor told to a server that knows nothing of it.
        await server.send(*reply_begins("r2", "m2"), *reply_goes_on("r2", "m2", "Hi.", tone(0.2)))
        await server.send(*reply_ends("r2", "m2"))
        assert (await server.expect("quicksilver.played"))["item_id"] == "m2"
        await page.until("quicksilver.turns.at(-1).replies.at(-1).heard === 3")
        # The browser tells of each attempt to reach the server while nobody listened.
        assert [told for told in page.problems if "net::ERR_CONNECTION_" not in told] == []


async def test_everything_that_is_typed_is_asked_in_its_order(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        # Not before both are typed.
        server.admits.clear()
        await page.type("#words", "one")
        await page.type("#words", "two")
        server.admits.set()
        await server.connected()
        await server.expect("response.create")
        assert typed(server) == ["one", "two", "?"]
        await begin_long_reply(page, server)

        since = len(server.received)
        await page.type("#words", "three")
        await page.type("#words", "four")
        await server.expect("conversation.item.truncate", since)
        cancelled = {"id": "r1", "status": "cancelled"}
        await server.send({"type": "response.done", "response": cancelled})
        await server.expect("response.create", since)
        assert typed(server, since) == ["three", "four", "?"]
        assert [e["type"] for e in server.received].count("response.cancel") == 1


async def test_what_is_typed_while_the_microphone_is_refused_is_asked(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url) as page:
        refusal = "new DOMException('no', 'NotAllowedError')"
        await page.evaluate(f"""navigator.mediaDevices.getUserMedia =
            () => new Promise((_, reject) => (window.refuse = () => reject({refusal})))""")
        await page.click("#talk")
        await page.type("#words", "hello")
        await page.evaluate("refuse()")
        await server.connected()
        await server.expect("response.create")
        assert typed(server) == ["hello", "?"]


async def test_an_unplugged_microphone_is_not_said_to_listen(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate(WATCHED)
        await start_talking(page, server)
        await page.evaluate(UNPLUG)
        await page.until("quicksilver.state === 'writing'")
        assert "unplugged" in await page.text("#notice-text")
        await page.click("#talk")
        await page.until("quicksilver.state === 'listening'")
        assert await page.evaluate(LIVE) == 1
        assert server.connections == 1


@pytest.mark.parametrize("device", ["microphone", "speaker"])
async def test_a_device_that_is_gone_can_be_given_up(server: ScriptedServer, device: str) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate(f"localStorage.setItem('{device}', 'gone')")
        await page.click("#talk")
        await page.until(shows("#notice"))
        assert "is gone. Choose another in the settings" in await page.text("#notice-text")
        if device == "speaker":
            await page.type("#words", "hello")
            await page.until("document.querySelector('#words').value === 'hello'")
        await page.click("#settings-open")
        await page.until("document.querySelector('#settings').open")
        choice = f"document.querySelector('#{device}')"
        assert "not connected" in await page.evaluate(f"{choice}.selectedOptions[0].text")
        # What a person can do: choose another entry than the one that is chosen.
        await page.evaluate(
            f"{choice}.value = '', void {choice}.dispatchEvent(new Event('change'))"
        )
        await page.evaluate("document.querySelector('#settings').close()")
        await start_talking(page, server)


async def test_sound_that_the_browser_suspended_goes_on(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate(WATCHED)
        await start_talking(page, server)
        await page.evaluate("contexts[0].suspend()")
        await page.until("contexts[0].state === 'running'")
        await server.expect("input_audio_buffer.append", len(server.received))


async def test_another_microphone_takes_over_from_one_that_was_unplugged(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate(WATCHED)
        await start_talking(page, server)
        await page.evaluate(UNPLUG)
        await page.until("document.body.dataset.state === 'writing'")
        await page.evaluate(
            "void document.querySelector('#microphone').dispatchEvent(new Event('change'))"
        )
        await page.until("document.body.dataset.state === 'listening'")
        assert await page.evaluate("document.querySelector('#notice').hidden")


async def test_a_microphone_that_cannot_be_opened_leaves_the_call_as_it_is(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate(WATCHED)
        await page.type("#words", "hello")
        await server.connected()
        # As when the server is gone.
        await page.evaluate("""(() => {
            const { prototype } = AudioWorklet, add = prototype.addModule;
            prototype.addModule = async () => {
                prototype.addModule = add;
                throw new DOMException("Unable to load a worklet's module.", "AbortError");
            };
        })()""")
        await page.click("#talk")
        await page.until("document.querySelector('#notice-text').innerText")
        assert await page.evaluate(LIVE) == 0
        await begin_long_reply(page, server)
        await page.click("#talk")
        await server.expect("input_audio_buffer.append")


async def test_a_link_that_takes_nothing_more_is_made_anew(server: ScriptedServer) -> None:
    async with chromium_page(server.url) as page:
        await page.type("#words", "one")
        await server.connected()
        await server.expect("response.create")
        await server.send(*reply_begins("r1", "m1"), *reply_ends("r1", "m1"))
        await page.until("quicksilver.turns[0].replies[0]?.done")
        # As when the network has gone without a word.
        await page.evaluate("""(() => {
            let stuck;
            Object.defineProperty(WebSocket.prototype, "bufferedAmount", {
                get() { return this === (stuck ??= this) ? 2e6 : 0; },
            });
        })()""")
        await page.type("#words", "two")
        await server.connected(2)
        await server.expect("response.create")
        assert typed(server) == ["two", "?"]


async def test_a_server_that_wants_a_key_since_it_restarted_asks_for_it(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        server.key = "open-sesame"
        await server.hang_up(1012)
        await page.until("document.querySelector('#notice-text').innerText.includes('access key')")
        assert await page.evaluate("quicksilver.state") == "ended"


async def test_devices_can_be_chosen_while_the_server_does_not_answer(
    server: ScriptedServer,
) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await page.evaluate("void (window.fetch = () => new Promise(() => {}))")
        await page.click("#settings-open")
        await page.until("document.querySelector('#settings').open")
        assert await page.evaluate("document.querySelector('#microphone').length") > 1


async def test_who_hangs_up_in_mid_sentence_has_not_heard_the_rest(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        await begin_long_reply(page, server)
        await server.send(*reply_ends("r1", "m1"))
        await page.until("quicksilver.turns[0].replies[0].done")
        await page.click("#hang-up")
        await page.until("quicksilver.state === 'ended'")
        assert await page.text(".reply .remark") == "Interrupted"


async def test_the_focus_does_not_go_with_a_button_that_is_hidden(server: ScriptedServer) -> None:
    async with chromium_page(server.url, *FAKE_MICROPHONE) as page:
        await start_talking(page, server)
        assert await page.evaluate("document.activeElement.id") == "hang-up"
        await server.send({"type": "error", "error": {"message": "No more."}})
        await page.until(shows("#notice"))
        await page.evaluate("document.querySelector('#notice-close').focus()")
        await page.click("#notice-close")
        await page.until("document.activeElement.id === 'scroller'")
        await page.evaluate("document.querySelector('#hang-up').focus()")
        await server.hang_up(1000)
        await page.until("quicksilver.state === 'ended'")
        assert await page.evaluate("document.activeElement.id") == "talk"


async def test_nobody_is_said_to_think_about_what_was_refused(server: ScriptedServer) -> None:
    async with chromium_page(server.url) as page:
        await page.type("#words", "hello")
        await server.connected()
        request = (await server.expect("response.create"))["event_id"]
        await page.until("quicksilver.state === 'thinking'")
        await server.send({"type": "error", "error": {"message": "No more.", "event_id": request}})
        await page.until("quicksilver.state === 'writing'")
        assert await page.text("#notice-text") == "No more."
