"""The operator's console in a real browser, before a real server with a real conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.access import axe_source, check_access
from tests.e2e.chromium import PROGRAM, Page, chromium_page
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from voice.demo.client import RealtimeClient
from voice.demo.server import EMBEDDED

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

KEY = "the-operators-key"
BEARER = {"Authorization": f"Bearer {KEY}"}
HOSTILE = "<img src=x onerror=document.title='broken'>"


@asynccontextmanager
async def calling(address: str) -> AsyncGenerator[RealtimeClient, None]:
    """A conversation of somebody with a hostile name, who has typed something likewise."""
    async with httpx.AsyncClient(base_url=f"http://{address}", headers=BEARER) as http:
        made = await http.post("/v1/realtime/client_secrets", json={"user": HOSTILE})
    url, key = f"ws://{address}/v1/realtime", made.json()["value"]
    async with RealtimeClient.open(url, api_key=key) as client:
        for text in ("set a timer for ten minutes", f"add {HOSTILE} to my list"):
            await client.settled()
            content = [{"type": "input_text", "text": text}]
            item = {"type": "message", "role": "user", "content": content}
            since = len(client.events)
            await client.send({"type": "conversation.item.create", "item": item})
            await client.send({"type": "response.create"})
            await client.wait_for("response.done", since, PATIENCE_S)
        await client.settled()
        yield client


async def sign_in(page: Page, key: str) -> None:
    await page.until("!document.querySelector('#sign-in').hidden")
    await page.type("#key", key)


async def test_the_operator_sees_and_hears_what_happened(repo_root: Path, tmp_path: Path) -> None:
    axe = axe_source()
    records = ("records.keep_days=1", f'records.folder="{tmp_path / "kept"}"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUICKSILVER_API_KEY", KEY)
        server = program(cwd=repo_root, settings=(*EMBEDDED, *records))
        async with server as (_, _, address), chromium_page(f"http://{address}/console/") as page:
            await sign_in(page, "another")
            await page.until("document.querySelector('#problem').innerText === 'The key is wrong.'")
            await check_access(page, axe, "signing in")
            await sign_in(page, KEY)
            await page.until("document.querySelector('#count').innerText.includes('No kept')")
            async with calling(address):
                await page.until("document.querySelector('#live .call')")
                shown = await page.text("#live")
                assert f"user:{HOSTILE}" in shown
                assert "assistant, " in shown
                await check_access(page, axe, "calls under way")
            await page.until("!document.querySelector('#live .call')")
            await ended(address)
            await check_search(page)
            await check_late_search(page)
            await check_lost_server(page)
            await check_access(page, axe, "conversations")
            await page.click("#kept a")
            await check_conversation(page)
            await check_access(page, axe, "a conversation")
            await page.evaluate("location.hash = '#/latency'")
            await page.until("document.querySelector('.hours td')")
            assert "2" in await page.text(".hours tbody")
            await check_access(page, axe, "latency")
            assert await page.evaluate("document.title") == "Quicksilver console"
            # The browser tells of the key that was refused.
            assert [told for told in page.problems if "401" not in told] == []
            await page.click("#sign-out")
            await page.until("!document.querySelector('#sign-in').hidden")
            assert KEY not in await page.evaluate("JSON.stringify(sessionStorage) + location.href")


async def ended(address: str) -> None:
    """Wait until the conversation is written to its end."""
    async with httpx.AsyncClient(base_url=f"http://{address}", headers=BEARER) as http:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                (about,) = (await http.get("/v1/conversations")).json()["conversations"]
                if about["ended"]:
                    return
                await asyncio.sleep(0.1)


async def check_search(page: Page) -> None:
    for words, count in (("zebra", 0), ("TIMER", 1)):
        await page.evaluate("document.querySelector('[name=text]').value = ''")
        await page.type("[name=text]", words)
        await page.until(f"document.querySelectorAll('#kept a').length === {count}")
    assert f"user:{HOSTILE}" in await page.text("#kept")


async def check_late_search(page: Page) -> None:
    """A list that comes late does not take the place of one that was searched for since."""
    await page.evaluate("""(() => {
        const ask = fetch;
        window.fetch = async (address, ...given) => {
            const answer = await ask(address, ...given);
            if (address.includes("text=TIMER")) await new Promise((go) => (window.go = go));
            return answer;
        };
    })()""")
    await page.click("#search .primary")
    await page.until("window.go")
    await page.evaluate("document.querySelector('[name=text]').value = ''")
    await page.type("[name=text]", "zebra")
    await page.until("document.querySelectorAll('#kept a').length === 0")
    await page.evaluate("go(), new Promise((later) => setTimeout(later, 100))")
    assert await page.evaluate("document.querySelectorAll('#kept a').length") == 0
    await page.evaluate("document.querySelector('[name=text]').value = ''")
    await page.type("[name=text]", "timer")
    await page.until("document.querySelector('#kept a')")


async def check_lost_server(page: Page) -> None:
    """A server that is back is not said to be gone."""
    await page.evaluate("void ((window.ask = fetch), (window.fetch = () => Promise.reject()))")
    await page.until("document.querySelector('#problem').innerText.includes('cannot be reached')")
    await page.evaluate("void (window.fetch = ask)")
    await page.until("document.querySelector('#problem').hidden")


async def check_conversation(page: Page) -> None:
    await page.until("quicksilver.seconds > 0")
    told: dict[str, Any] = await page.evaluate(
        "fetch('../v1/conversations' + location.hash.replace('#/conversation', ''),"
        f" {{headers: {json.dumps(BEARER)}}}).then((a) => a.json())"
    )
    assert await page.evaluate("quicksilver.seconds") == pytest.approx(told["seconds"], abs=0.2)
    shown = await page.text("#conversation")
    assert HOSTILE in shown
    assert "Timer set for 10 minutes." in shown
    assert "to the first sound" in shown
    assert await page.evaluate("document.querySelectorAll('#conversation img').length") == 0
    assert await page.evaluate(DRAWN) > 100
    # From the beginning of a reply on, by the keyboard, its words are marked while they sound. Not
    # of the last one: the sound would end by itself before it is stopped.
    await page.evaluate("document.querySelectorAll('.reply .at')[1].focus()")
    await press(page, "Enter", "\r")
    began_s = await page.evaluate("quicksilver.position")
    starts_ms = [reply["start_ms"] for turn in told["turns"] for reply in turn["replies"]]
    assert began_s == pytest.approx(starts_ms[1] / 1000, abs=0.05)
    await page.evaluate("document.querySelector('.transport button').focus()")
    await press(page, " ", " ")
    await page.until("document.querySelector('.reply .now')")
    await page.until(f"quicksilver.position > {began_s + 0.3}")
    await press(page, " ", " ")
    assert await page.text(".transport button") == "Play"
    await page.evaluate("document.querySelector('.transport input').focus()")
    stopped_s = await page.evaluate("quicksilver.position")
    await press(page, "ArrowLeft", "")
    assert await page.evaluate("quicksilver.position") < stopped_s
    # What is saved is what the server exports.
    await page.evaluate(SAVED)
    for at, head in ((0, "PK"), (1, '{"')):
        await page.evaluate(f"document.querySelectorAll('.keep button')[{at}].click()")
        assert (await page.until(f"saved[{at}]"))[:2] == head


SAVED = """(() => {
    window.saved = [];
    URL.createObjectURL = (blob) => {
        blob.text().then((text) => saved.push(text));
        return location.hash;
    };
})()"""
DRAWN = """(() => {
    const canvas = document.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, at) => at % 4 === 3 && value).length;
})()"""


async def press(page: Page, key: str, text: str) -> None:
    codes = {"Enter": 13, " ": 32, "ArrowLeft": 37}
    code = {" ": "Space"}.get(key, key)
    named = {"key": key, "code": code, "windowsVirtualKeyCode": codes[key]}
    await page.call("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
    await page.call("Input.dispatchKeyEvent", type="keyUp", **named)
    await asyncio.sleep(0)
