"""The page by WebRTC, in Chromium with a recording for a microphone, and the real server."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.e2e.chromium import PROGRAM, chromium_page, microphone_from
from tests.support.server_program import program
from voice.demo.recordings import load
from voice.types import SAMPLE_RATE_HZ

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

AFTER_GREETING_S = 5.5
SILENCE_AFTER_S = 20.0

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
ANSWERED = "quicksilver.turns.find((t) => t.user?.text && t.replies.some((r) => r.done))"


async def test_a_person_is_understood_and_hears_the_reply(repo_root: Path, tmp_path: Path) -> None:
    recording = tmp_path / "user.wav"
    silences = [np.zeros(round(s * SAMPLE_RATE_HZ)) for s in (AFTER_GREETING_S, SILENCE_AFTER_S)]
    line = load("assistant-1-timer") / 32768
    soundfile.write(recording, np.concatenate([silences[0], line, silences[1]]), SAMPLE_RATE_HZ)
    async with (
        program(cwd=repo_root) as (_, _, address),
        chromium_page(f"http://{address}/?transport=webrtc", *microphone_from(recording)) as page,
    ):
        await page.evaluate(WATCH)
        await page.click("#talk")
        await page.until("quicksilver.state === 'speaking' && level() > 0.02")
        await page.until("quicksilver.state === 'listening' && level() < 0.001")
        await page.until(ANSWERED)
        await page.until("quicksilver.state === 'speaking'")
        await page.until("quicksilver.state === 'listening'")
        turn = await page.evaluate(ANSWERED)
        assert turn["user"]["text"] == "Set a timer for 10 minutes."
        reply = turn["replies"][-1]
        assert reply["heard"] == len(reply["text"])
        assert 50 < turn["voiceToVoiceMs"] < 8000
        # Typing stops what is said.
        await page.type("#words", "what is on the shopping list")
        await page.until("quicksilver.state === 'speaking'")
        await page.evaluate(
            "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))"
        )
        await page.until("quicksilver.turns.at(-1).replies.at(-1).interrupted")
        await page.click("#hang-up")
        await page.until("quicksilver.state === 'ended'")
        assert page.problems == []
