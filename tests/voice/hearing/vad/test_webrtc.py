"""Speech is found at once and let go at once; the background is learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.voice.hearing.vad.detecting import noise, sentence, shares
from voice.hearing.vad.webrtc import WebRtcVad


def test_speech_and_silence_are_told_apart() -> None:
    audio, spoken = sentence()
    found = np.array(shares(WebRtcVad(2), audio))
    assert (found[spoken] >= 0.5).mean() > 0.8
    assert (found[: spoken.start] < 0.5).all()
    assert found.min() >= 0
    assert found.max() <= 1


def test_the_end_of_speech_is_not_dragged_on() -> None:
    audio, spoken = sentence()
    found = np.array(shares(WebRtcVad(2), audio))
    last = np.flatnonzero(found >= 0.5)[-1]
    assert abs(last - spoken.stop) <= 4, "more than 80 ms from the last loud sample"


def test_a_steady_hum_is_background() -> None:
    hum = (np.sin(np.arange(80000) * 0.05) * 2000).astype(np.int16)
    found = np.array(shares(WebRtcVad(0), hum))
    assert (found[10:] < 0.5).all()


def test_room_noise_is_mostly_background(shared_audio: Path) -> None:
    found = np.array(shares(WebRtcVad(2), noise(shared_audio, "room-background")))
    assert (found >= 0.5).mean() < 0.05


def test_reset_forgets() -> None:
    audio, _ = sentence()
    vad = WebRtcVad(2)
    first = shares(vad, audio)
    vad.reset()
    assert shares(vad, audio) == first
