"""Every state of the page, looked at: rules of access, both schemes, three widths.

``pytest tests/e2e/test_page_states.py --basetemp=/tmp/page`` leaves a picture of each there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.access import axe_source, check_access
from tests.e2e.chromium import FAKE_MICROPHONE, PROGRAM, Page, chromium_page
from tests.e2e.scripted_server import (
    reply_begins,
    reply_ends,
    reply_goes_on,
    scripted_server,
    speech_events,
    tone,
)
from tests.e2e.test_page_scripted import tool_events
from tests.e2e.test_page_troubles import ESCAPE

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

AGENT = {
    "name": "coffee",
    "examples": ["A large latte with oat milk, please", "What is in my order?"],
    "offers": [{"title": "Menu", "items": ["latte", "mocha", "tea"]}],
    "agents": ["coffee", "clinic"],
}
FIELDS = """[...document.querySelectorAll('input, select')].filter((field) =>
    field.offsetParent).map((field) => {
    const light = (colour) => {
        const linear = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const own = getComputedStyle(field);
    const both = [light(own.borderTopColor), light(own.backgroundColor)];
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
})"""


async def check_fields(page: Page) -> None:
    """The borders of fields stand out from them by 3:1, which axe does not check."""
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await page.call("Emulation.setEmulatedMedia", features=features)
        found = await page.evaluate(FIELDS)
        assert found and min(found) >= 3, scheme


async def test_every_state_can_be_used_by_everyone(tmp_path: Path) -> None:
    axe = axe_source()
    async with scripted_server() as server:
        server.agent = AGENT
        async with chromium_page(server.url, *FAKE_MICROPHONE) as page:

            async def look(what: str) -> None:
                await check_access(page, axe, what, tmp_path)

            await page.until("document.querySelectorAll('.example').length === 2")
            await page.click(".offer summary")
            await look("ready")
            await page.click("#settings-open")
            await page.until("document.querySelector('#settings').open")
            await look("settings")
            await check_fields(page)
            await page.evaluate("document.querySelector('#settings').close()")

            await server.close()
            await page.click("#talk")
            await page.until("document.querySelector('#notice-text').innerText")
            assert "The server cannot be reached." in await page.text("#notice-text")
            await page.until("quicksilver.state === 'idle'")
            await look("the server is gone")

            await server.open()
            server.admits.clear()
            await page.click("#talk")
            await page.until("quicksilver.state === 'connecting'")
            await look("connecting")
            server.admits.set()
            await server.connected()
            await page.until("quicksilver.state === 'listening'")
            await look("listening")
            question = speech_events("u1", "a timer for ten minutes", start_ms=0, end_ms=20)
            draft = {"type": "quicksilver.draft", "turn_id": 1, "number": 1, "calls": []}
            await server.send(*question[:2], {**draft, "text": "Set ░░░ for"})
            await page.until("document.querySelector('.ghost')?.innerText.includes('Set')")
            await look("hearing")
            await server.send(*question[2:])
            await page.until("quicksilver.state === 'thinking'")
            await look("thinking")
            story = reply_goes_on("r1", "m1", "Set for ten minutes.", tone(60))
            await server.send(*reply_begins("r1", "m1"), *tool_events("r1"), *story)
            await page.until("quicksilver.state === 'speaking'")
            await look("speaking")
            await server.send(*reply_ends("r1", "m1"))
            marks = {"asr_final": 5, "end_of_turn": 10, "first_audio": 15}
            await server.send({"type": "quicksilver.latency", "turn_id": 1, "marks_ms": marks})
            await page.until("document.querySelector('.latency summary')")
            await page.click(".latency summary")
            await look("watched again")
            # What is left of a minute of sound need not be heard.
            await page.evaluate(ESCAPE)
            await page.click("#mute")
            await page.until("quicksilver.state === 'muted'")
            await look("muted")
            await server.close()
            await page.until("quicksilver.state === 'reconnecting'")
            await look("reconnecting")
            await page.click("#hang-up")
            await page.until("quicksilver.state === 'ended'")
            assert await page.evaluate("document.querySelector('#notice').hidden")
            await look("ended")

            # Who types then begins a conversation without a microphone.
            await server.open()
            await page.type("#words", "what is in my order?")
            await server.connected(server.connections + 1)
            await server.expect("response.create")
            await server.send(*reply_begins("r2", "m2"))
            await server.send(*reply_goes_on("r2", "m2", "A latte.", tone(0.1)))
            await server.send(*reply_ends("r2", "m2"))
            await page.until("quicksilver.state === 'writing'")
            assert await page.evaluate("quicksilver.turns.length") == 1
            assert "A latte." in await page.text("#turns")
            await look("writing")
