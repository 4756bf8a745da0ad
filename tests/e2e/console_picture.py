"""``python -m tests.e2e.console_picture docs/console.png``: the console with a kept conversation.

A server of its own holds the demo's order of coffee and keeps it; Chromium shows it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from tests.e2e.chromium import chromium_page
from tests.support.server_program import program
from voice.demo.client import RealtimeClient, at_client_rate
from voice.demo.recordings import CONVERSATIONS, load
from voice.demo.server import EMBEDDED
from voice.types import SAMPLE_RATE_HZ

KEY = "the-operators-key"
SIZE = {"width": 1000, "height": 900, "deviceScaleFactor": 2, "mobile": False}


async def converse(address: str) -> None:
    """Order coffee, as the demo does."""
    async with RealtimeClient.open(f"ws://{address}/v1/realtime", api_key=KEY) as client:
        await client.settled()
        for line in CONVERSATIONS["coffee"]:
            await client.turn(at_client_rate(load(line.name), SAMPLE_RATE_HZ), timeout_s=60)


async def picture(folder: str) -> bytes:
    """The conversation in the console, as PNG."""
    settings = (*EMBEDDED, "records.keep_days=1", f'records.folder="{folder}"')
    server = program("--agent", "coffee", cwd=Path(), settings=settings)
    async with server as (_, _, address), chromium_page(f"http://{address}/console/") as page:
        await converse(address)
        await page.call("Emulation.setDeviceMetricsOverride", **SIZE)
        await page.type("#key", KEY)
        await page.until("document.querySelector('#kept a')")
        await asyncio.sleep(3)
        await page.click("#kept a")
        await page.until("quicksilver.seconds > 0")
        for part in ("tool", "latency"):
            await page.evaluate(
                f"document.querySelectorAll('#conversation .{part}')[0].open = true"
            )
        await page.evaluate("document.querySelectorAll('.reply .at')[1].click()")
        await page.click(".transport button")
        await page.until("document.querySelectorAll('.reply .now').length")
        await page.until("quicksilver.position % 1 > 0.9")
        await page.click(".transport button")
        await page.evaluate("document.activeElement.blur()")
        return await page.screenshot()


if __name__ == "__main__":
    os.environ["QUICKSILVER_API_KEY"] = KEY
    with tempfile.TemporaryDirectory() as folder:
        Path(sys.argv[1]).write_bytes(asyncio.run(picture(folder)))
