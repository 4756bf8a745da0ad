"""A person at the page, end to end: Chromium, a recording for a microphone, the real server."""

from __future__ import annotations

import asyncio
import base64
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.chromium import PROGRAM, chromium_page, microphone_from
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program

FLITE = shutil.which("flite")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
    pytest.mark.skipif(FLITE is None, reason="flite, which speaks for the user, is not installed"),
]


ANSWERED = "quicksilver.turns.find((t) => t.user?.text && t.replies.some((r) => r.done))"


async def spoken(text: str, path: Path) -> Path:
    """A recording of somebody who says something."""
    process = await asyncio.create_subprocess_exec(
        str(FLITE), "-voice", "slt", "-t", text, "-o", str(path)
    )
    assert await process.wait() == 0
    return path


async def test_a_timer_is_set_by_voice(repo_root: Path, tmp_path: Path) -> None:
    recording = await spoken("set a timer for ten minutes", tmp_path / "user.wav")
    async with (
        program(cwd=repo_root) as (_, _, address),
        chromium_page(f"http://{address}/?tap", *microphone_from(recording)) as page,
    ):
        await page.watch_states()
        await page.hold_microphone()
        await page.click("#talk")
        await page.passed("speaking")
        await page.passed("listening")
        greeting_end = await page.evaluate("quicksilver.played.endFrame")
        await page.speak()

        await page.passed("hearing")
        await page.until("document.querySelector('.interim')")
        await page.until(ANSWERED)
        await page.until("quicksilver.state === 'listening'")

        assert await page.text(".tool .tool-said") == "Timer · 10 min"
        result = "document.querySelector('.tool .tool-result').textContent"
        assert await page.evaluate(result) == "Timer set for 10 minutes."
        turn = await page.evaluate(ANSWERED)
        assert "timer" in turn["user"]["text"]
        reply = turn["replies"][-1]
        assert "minutes" in reply["text"]
        assert reply["heard"] == len(reply["text"])
        assert await page.text(".turn:last-child .heard") == reply["text"].strip()

        elapsed_ms = turn["voiceToVoiceMs"]
        assert elapsed_ms is not None and math.isfinite(elapsed_ms)
        assert 50 < elapsed_ms < 1000 * PATIENCE_S
        assert {"asr_final", "end_of_turn", "first_audio"} <= turn["marksMs"].keys()
        assert "voice to voice" in await page.text(".turn:last-child .latency")

        sound = await page.evaluate("quicksilver.played")
        rate_hz = await page.evaluate("new AudioContext().sampleRate")
        samples = np.frombuffer(base64.b64decode(sound["base64"]), "<i2").astype(float) / 32768
        answer = samples[len(samples) - round(sound["endFrame"] - greeting_end) :]
        loud = np.flatnonzero(np.abs(answer) > 0.02)
        assert 0.7 < (loud[-1] - loud[0]) / rate_hz < 10
        assert 0.02 < np.sqrt(np.mean(answer[loud[0] : loud[-1]] ** 2)) < 0.5
        assert page.problems == []


async def test_a_voice_is_heard_and_chosen(repo_root: Path) -> None:
    async with (
        program(cwd=repo_root) as (_, _, address),
        chromium_page(f"http://{address}/") as page,
    ):
        await page.click("#settings-open")
        await page.until("document.querySelectorAll('#voice option').length > 2")
        assert "heart (hibari)" in await page.text("#voice")
        await page.evaluate(
            "(v => { v.value = 'espeak:en-us'; v.dispatchEvent(new Event('change')); })"
            "(document.querySelector('#voice'))"
        )
        # In one: it may have been heard before the next question is asked.
        assert await page.evaluate(
            "(b => (b.click(), b.disabled))(document.querySelector('#voice-hear'))"
        )
        await page.until("!document.querySelector('#voice-hear').disabled")
        assert await page.text("#voice-note") == "From the next conversation on."
        # It is remembered when the page is opened again.
        await page.evaluate("window.before = true")
        await page.call("Page.navigate", url=f"http://{address}/")
        await page.until("window.quicksilver && !window.before")
        await page.click("#settings-open")
        await page.until("document.querySelector('#voice').value === 'espeak:en-us'")
