"""Which voice is chosen, and where it comes from."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.hub import serving
from tests.support.patience import PATIENCE_S
from tests.support.tiny_piper import make_tiny_piper
from tests.support.virtual_parts import Voice
from voice.config import EspeakConfig, HibariConfig, PiperConfig, TtsConfig
from voice.errors import ModelError
from voice.speech.tts import Voices, installed_voices, make_synthesizer
from voice.speech.tts.piper_files import REPOSITORY, download_voice, local_voice
from voice.types import Segment

VOICE = "en_US-tiny-low"
FOLDER = "en/en_US/tiny/low"


def use_hub(patch: pytest.MonkeyPatch, endpoint: str, cache: Path) -> None:
    from huggingface_hub import constants

    template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    patch.setattr(constants, "ENDPOINT", endpoint)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    patch.setattr(constants, "HF_HUB_CACHE", str(cache))
    patch.setattr(constants, "HF_HUB_OFFLINE", False)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The voice's folder on the hub; this machine's cache is empty."""
    make_tiny_piper(tmp_path / "hub" / FOLDER, VOICE)
    with serving(REPOSITORY, tmp_path / "hub") as address:
        use_hub(monkeypatch, address, tmp_path / "cache")
        yield tmp_path / "hub" / FOLDER


def test_a_voice_is_downloaded_once(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_voice(VOICE) is None
    path = download_voice(VOICE)
    assert path.read_bytes() == (hub / f"{VOICE}.onnx").read_bytes()
    assert Path(f"{path}.json").is_file()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert local_voice(VOICE) == path


def test_a_voice_that_the_hub_lacks_is_an_error(hub: Path) -> None:
    with pytest.raises(ModelError, match="en_US-nobody-low cannot be downloaded"):
        download_voice("en_US-nobody-low")


def test_a_half_fetched_voice_is_not_there(hub: Path) -> None:
    (hub / f"{VOICE}.onnx").unlink()
    with pytest.raises(ModelError, match="cannot be downloaded"):
        download_voice(VOICE)
    assert local_voice(VOICE) is None


@pytest.mark.parametrize("name", ["", "lessac", "../../etc/passwd", "en_US-a-b/../c"])
def test_a_name_that_cannot_be_one_is_an_error(name: str) -> None:
    with pytest.raises(ModelError, match=r"expected a path ending in \.onnx, or a name"):
        local_voice(name)


def test_espeak_as_configured() -> None:
    voice, line = make_synthesizer(TtsConfig(engine="espeak", espeak=EspeakConfig(voice="en")))
    assert voice.name == "espeak:en"
    assert line == "voice: espeak-ng en, as configured"


def test_piper_from_a_file(tmp_path: Path) -> None:
    path = make_tiny_piper(tmp_path)
    config = TtsConfig(engine="piper", piper=PiperConfig(voice=str(path)))
    voice, line = make_synthesizer(config)
    assert voice.name == "piper:en_US-tiny-low"
    assert line.endswith("configured")
    chunks = list(voice.synthesize(Segment(1, 0, "Hello there.", "Hello there.")))
    assert sum(len(chunk.samples) for chunk in chunks) > 1000


def test_auto_is_hibari_and_falls_back_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    voice, line = make_synthesizer(TtsConfig())
    assert (voice.name, line) == ("hibari:heart", "voice: hibari heart")
    monkeypatch.setenv("HIBARI_HOME", str(tmp_path))
    voice, line = make_synthesizer(TtsConfig(hibari=HibariConfig(voice="emma")))
    assert voice.name == "espeak:en-us"
    assert "because hibari's voice emma is not on this machine" in line


def test_a_voice_is_asked_for_with_its_engine_or_without() -> None:
    voices = installed_voices(TtsConfig())
    loaded = voices.of("en")
    assert loaded is not None
    assert loaded.name == "espeak:en"
    assert voices.of("espeak:en") is loaded
    assert voices.of("alloy") is None
    assert voices.of("") is None


def test_piper_as_configured_does_not_fall_back(tmp_path: Path) -> None:
    path = make_tiny_piper(tmp_path)
    path.with_name(path.name + ".json").unlink()
    with pytest.raises(ModelError, match=r"no such file: .*\.onnx\.json"):
        make_synthesizer(TtsConfig(engine="piper", piper=PiperConfig(voice=str(path))))


def test_a_voice_that_is_being_loaded_keeps_nobody_from_another() -> None:
    ready, loading = threading.Event(), threading.Event()

    def slow() -> Voice:
        loading.set()
        assert ready.wait(PATIENCE_S)
        return Voice()

    voices = Voices({"beeps:slow": slow, "beeps:quick": Voice})
    quick = voices.of("quick")
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(voices.of, "slow")
        assert loading.wait(PATIENCE_S)
        try:
            assert threads.submit(voices.of, "quick").result(PATIENCE_S / 2) is quick
        finally:
            ready.set()
        assert first.result(PATIENCE_S) is voices.of("slow")
