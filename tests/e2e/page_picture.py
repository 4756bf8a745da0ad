"""``python -m tests.e2e.page_picture docs/page.png``: the page with a turn that is watched again.

A real server answers the demo's timer, which is the microphone; Chromium shows it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import soundfile

from tests.e2e.chromium import chromium_page, microphone_from
from tests.support.server_program import program
from voice.demo.recordings import load
from voice.types import SAMPLE_RATE_HZ

SIZE = {"width": 900, "height": 1010, "deviceScaleFactor": 1.4, "mobile": False}
ANSWERED = "quicksilver.turns.at(-1)?.user?.final && quicksilver.turns.at(-1)?.replies.at(-1)?.done"


def microphone(folder: Path) -> Path:
    """A recording of somebody who asks for a timer."""
    file = folder / "user.wav"
    soundfile.write(file, load("assistant-1-timer"), SAMPLE_RATE_HZ)
    return file


async def picture(folder: Path) -> bytes:
    """The page, as PNG."""
    flags = microphone_from(microphone(folder))
    async with (
        program(cwd=Path()) as (_, _, address),
        chromium_page(f"http://{address}/", *flags) as page,
    ):
        await page.call("Emulation.setDeviceMetricsOverride", **SIZE)
        await page.until("document.querySelector('#agent-name').innerText")
        await page.watch_states()
        await page.hold_microphone()
        await page.click("#talk")
        await page.passed("speaking")
        await page.passed("listening")
        await page.speak()
        await page.until(ANSWERED)
        await page.until("document.querySelector('.turn:last-child .latency summary')")
        await page.until("quicksilver.turns.at(-1).moments.at(-1)?.kind === 'silence'")
        await page.click(".turn:last-child .latency summary")
        await page.until("document.querySelector('.turn:last-child .scene').innerText")
        await page.evaluate("document.activeElement.blur()")
        return await page.screenshot()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as kept:
        Path(sys.argv[1]).write_bytes(asyncio.run(picture(Path(kept))))
