"""Drives a headless Chromium over the DevTools protocol: just what the tests of the page need."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.support.patience import PATIENCE_S

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--remote-debugging-port=0",
)
FAKE_MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


def microphone_from(wav: Path) -> tuple[str, ...]:
    """Flags that make a recording the microphone; it plays once, from when it is opened."""
    return (*FAKE_MICROPHONE, f"--use-file-for-fake-audio-capture={wav}%noloop")


HOLD_MICROPHONE = """(() => {
    const media = navigator.mediaDevices, ask = media.getUserMedia.bind(media);
    media.getUserMedia = async (wanted) => {
        const context = new AudioContext(), line = context.createMediaStreamDestination();
        window.speak = async () =>
            void context.createMediaStreamSource(await ask(wanted)).connect(line);
        return line.stream;
    };
})()"""
WATCH_STATES = """(() => {
    const { body } = document;
    window.states = [body.dataset.state];
    new MutationObserver(() => states.push(body.dataset.state))
        .observe(body, { attributeFilter: ["data-state"] });
})()"""


class Page:
    """One open page.

    Attributes:
        problems: Uncaught exceptions, and errors on the console, blocked content included.
    """

    def __init__(self, socket: ClientConnection, session_id: str) -> None:
        self.problems: list[str] = []
        self._socket = socket
        self._session_id = session_id
        self._ids = itertools.count(1000)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._passed = 0

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the DevTools protocol, and its result."""
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params, "sessionId": self._session_id}
        await self._socket.send(json.dumps(message))
        # `until` waits within one.
        async with asyncio.timeout(2 * PATIENCE_S):
            return await answer

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited. As if the user had acted."""
        result = await self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    async def until(self, expression: str, timeout_s: float = PATIENCE_S) -> Any:
        """The first truthy value of an expression, or of its promise, asked for again and again."""
        watch = f"""(async () => {{
            const end = performance.now() + {timeout_s * 1000};
            while (performance.now() <= end) {{
                const value = await ({expression});
                if (value) return value;
                await new Promise((again) => setTimeout(again, 15));
            }}
            throw new Error("waited too long");
        }})()"""
        return await self.evaluate(watch)

    async def hold_microphone(self) -> None:
        """The page has silence from the microphone until `speak` opens it."""
        await self.evaluate(HOLD_MICROPHONE)

    async def speak(self) -> None:
        """Open the microphone that was held."""
        await self.evaluate("speak()")

    async def watch_states(self) -> None:
        """Keep the states that the page goes through from now on, for `passed`."""
        await self.evaluate(WATCH_STATES)

    async def passed(self, state: str) -> None:
        """Wait until it has been in a state, however short, since the one waited for before."""
        self._passed = await self.until(f"states.indexOf({json.dumps(state)}, {self._passed}) + 1")

    async def click(self, selector: str) -> None:
        """Click an element."""
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    async def text(self, selector: str) -> str:
        """The text of an element, as it is shown."""
        return str(await self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    async def type(self, selector: str, text: str) -> None:
        """Type a line into a field and press Enter."""
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        await self.call("Input.insertText", text=text)
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **key)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    async def screenshot(self) -> bytes:
        """What is to be seen, as PNG."""
        result = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(result["data"])

    async def read(self) -> None:
        """Take the browser's messages as they come, until cancelled."""
        async for text in self._socket:
            message = json.loads(text)
            answer = self._answers.pop(message.get("id"), None)
            if answer and "error" in message:
                answer.set_exception(AssertionError(str(message["error"])))
            elif answer:
                answer.set_result(message["result"])
            else:
                self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"]))
        if message.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(params["entry"]["text"])


@asynccontextmanager
async def chromium_page(url: str, *flags: str) -> AsyncIterator[Page]:
    """A new browser with one page open at an address; it ends with the block."""
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *FLAGS,
            *flags,
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            address = await _devtools_address(process)
            async with connect(address, max_size=None, compression=None) as socket:
                page = await _open(socket)
                reading = asyncio.create_task(page.read())
                try:
                    for domain in ("Runtime", "Log", "Page"):
                        await page.call(f"{domain}.enable")
                    await page.call("Page.navigate", url=url)
                    await page.until(f"window.quicksilver && location.href === {json.dumps(url)}")
                    yield page
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)
        finally:
            process.terminate()
            await process.communicate()


async def _devtools_address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE_S):
        async for line in process.stderr:
            if found := re.search(rb"DevTools listening on (ws://\S+)", line):
                return found[1].decode()
    raise AssertionError("Chromium ended before it could be driven")


async def _open(socket: ClientConnection) -> Page:
    create = {"id": 1, "method": "Target.createTarget", "params": {"url": "about:blank"}}
    target_id = (await _ask(socket, create))["targetId"]
    params = {"targetId": target_id, "flatten": True}
    attach = {"id": 2, "method": "Target.attachToTarget", "params": params}
    return Page(socket, (await _ask(socket, attach))["sessionId"])


async def _ask(socket: ClientConnection, message: dict[str, Any]) -> dict[str, Any]:
    await socket.send(json.dumps(message))
    while (answer := json.loads(await socket.recv())).get("id") != message["id"]:
        pass
    return dict(answer["result"])
