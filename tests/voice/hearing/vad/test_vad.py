"""The configured detector is made."""

from __future__ import annotations

from voice.config import VadConfig
from voice.hearing.vad import make_vad
from voice.hearing.vad.silero import SileroVad
from voice.hearing.vad.webrtc import WebRtcVad


def test_each_engine() -> None:
    assert isinstance(make_vad(VadConfig(engine="webrtc")), WebRtcVad)
    assert isinstance(make_vad(VadConfig(engine="silero")), SileroVad)
