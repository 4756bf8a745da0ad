from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tiny_piper import make_tiny_piper
from voice.config import EspeakConfig, PiperConfig, TtsConfig
from voice.errors import ModelError
from voice.speech.tts import make_synthesizer
from voice.types import Segment


def test_espeak_as_configured() -> None:
    voice, line = make_synthesizer(TtsConfig(engine="espeak", espeak=EspeakConfig(voice="en")))
    assert voice.name == "espeak:en"
    assert line == "voice: espeak-ng en, as configured"


@pytest.mark.parametrize(("engine", "why"), [("piper", "configured"), ("auto", "this machine")])
def test_piper_from_a_file(tmp_path: Path, engine: str, why: str) -> None:
    path = make_tiny_piper(tmp_path)
    config = TtsConfig.model_validate({"engine": engine, "piper": {"voice": str(path)}})
    voice, line = make_synthesizer(config)
    assert voice.name == "piper:en_US-tiny-low"
    assert line.endswith(why)
    chunks = list(voice.synthesize(Segment(1, 0, "Hello there.", "Hello there.")))
    assert sum(len(chunk.samples) for chunk in chunks) > 1000


def test_auto_falls_back_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    voice, line = make_synthesizer(TtsConfig())
    assert voice.name == "espeak:en-us"
    assert "en_US-lessac-medium is not on this machine and the hub does not answer" in line


def test_auto_falls_back_from_a_broken_voice(tmp_path: Path) -> None:
    path = make_tiny_piper(tmp_path)
    path.write_bytes(b"broken")
    voice, line = make_synthesizer(TtsConfig(piper=PiperConfig(voice=str(path))))
    assert voice.name == "espeak:en-us"
    assert "is no Piper voice" in line


def test_piper_as_configured_does_not_fall_back(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.onnx")
    with pytest.raises(ModelError, match=r"no such file: .*missing\.onnx"):
        make_synthesizer(TtsConfig(engine="piper", piper=PiperConfig(voice=missing)))
