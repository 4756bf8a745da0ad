"""Which recogniser is chosen and what is reported, and the audio of a turn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from tests.support.hub import serving
from voice.config import AgentConfig, AsrConfig, SphinxConfig, WhisperConfig
from voice.errors import ModelError
from voice.hearing.asr import Recognizers, make_recognizer
from voice.hearing.asr.turn_audio import TurnAudio
from voice.hearing.asr.whisper import WhisperRecognizer
from voice.types import AudioFrame, Samples

AGENT = AgentConfig(name="test", instructions="", phrases=("stop", "go on"))


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SphinxConfig:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return SphinxConfig(cache_dir=str(tmp_path / "sphinx"))


def test_sphinx_as_configured(offline: SphinxConfig) -> None:
    recognizer, line = make_recognizer(AsrConfig(engine="sphinx", sphinx=offline), AGENT)
    assert recognizer.name == "sphinx"
    assert line == "sphinx (2 phrases), as configured"


def test_whisper_that_is_not_to_be_had_is_an_error(offline: SphinxConfig) -> None:
    whisper = WhisperConfig(model="base.en")
    with pytest.raises(ModelError, match=r"base\.en cannot be loaded on cpu"):
        make_recognizer(AsrConfig(engine="whisper", whisper=whisper), AGENT)


def test_whisper_is_fetched_once_and_a_hub_that_is_gone_is_told_at_once(
    offline: SphinxConfig, tiny_whisper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    config = AsrConfig(engine="whisper", whisper=WhisperConfig(model="owner/name", device="cpu"))
    with serving("owner/name", tiny_whisper) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub)
        template = hub + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        assert make_recognizer(config, AGENT)[0].name == "whisper"
    # The hub has ended; what was fetched is here.
    assert make_recognizer(config, AGENT)[0].name == "whisper"
    next((tmp_path / "hub").glob("*/snapshots/*/model.bin")).unlink()
    with pytest.raises(ModelError, match=f"{hub} cannot be reached: .*comes with the installation"):
        make_recognizer(config, AGENT)


def test_whisper_from_a_folder(offline: SphinxConfig, tiny_whisper: Path) -> None:
    whisper = WhisperConfig(model=str(tiny_whisper), device="cpu")
    recognizer, line = make_recognizer(AsrConfig(engine="whisper", whisper=whisper), AGENT)
    assert recognizer.name == "whisper"
    assert line == f"whisper {whisper.model}, as configured"


def test_auto_is_whisper_unless_the_machine_is_too_slow(
    offline: SphinxConfig, tiny_whisper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whisper = WhisperConfig(model=str(tiny_whisper), device="cpu")
    config = AsrConfig(engine="auto", sphinx=offline, whisper=whisper)
    assert make_recognizer(config, AGENT)[0].name == "whisper"
    monkeypatch.setattr("voice.hearing.asr.SLOWEST_S", 0.0)
    recognizer, line = make_recognizer(config, AGENT)
    assert recognizer.name == "sphinx"
    assert "takes" in line


def test_auto_is_sphinx_where_whisper_cannot_be_loaded(
    offline: SphinxConfig, tmp_path: Path
) -> None:
    config = AsrConfig(sphinx=offline, whisper=WhisperConfig(model=str(tmp_path)))
    recognizer, line = make_recognizer(config, AGENT)
    assert recognizer.name == "sphinx"
    assert line.startswith("sphinx: whisper ")


def other(name: str, *phrases: str) -> AgentConfig:
    return AgentConfig(name=name, instructions="", phrases=phrases)


def test_agents_of_the_same_words_share_a_recogniser(offline: SphinxConfig) -> None:
    config, recognizers = AsrConfig(engine="sphinx", sphinx=offline), Recognizers()
    first, _ = recognizers.of(config, AGENT)
    assert recognizers.of(config, AGENT)[0] is first
    assert recognizers.of(config, other("same words", *AGENT.phrases))[0] is first
    assert recognizers.of(config, other("other words", "hello"))[0] is not first
    strict = offline.model_copy(update={"min_confidence": 0.9})
    assert recognizers.of(AsrConfig(engine="sphinx", sphinx=strict), AGENT)[0] is not first


def test_all_agents_share_whispers_model(offline: SphinxConfig, tiny_whisper: Path) -> None:
    whisper = WhisperConfig(model=str(tiny_whisper), device="cpu")
    config, recognizers = AsrConfig(engine="whisper", whisper=whisper), Recognizers()
    first, _ = recognizers.of(config, AGENT)
    coffee = AgentConfig(name="coffee", instructions="", values={"drink": ("latte", "mocha")})
    second, _ = recognizers.of(config, coffee)
    assert isinstance(first, WhisperRecognizer)
    assert second is first


def frames(samples: Samples, start: int) -> list[AudioFrame]:
    return [AudioFrame(samples[at : at + 320], start + at) for at in range(0, len(samples), 320)]


def noise(level: float, seconds: float) -> Samples:
    return np.random.default_rng(0).normal(0, level, int(16000 * seconds)).astype(np.int16)


def test_it_collects() -> None:
    audio = TurnAudio()
    assert len(audio.samples()) == 0
    for frame in frames(noise(1000, 0.1), 6400):
        audio.append(frame)
    assert audio.length == 1600
    assert audio.end_sample == 8000
    np.testing.assert_array_equal(audio.samples(), noise(1000, 0.1))


def test_only_speech_after_the_mark_counts() -> None:
    audio = TurnAudio()
    for frame in frames(noise(3000, 0.5), 0):
        audio.append(frame)
    assert audio.speech_since_mark()
    audio.mark()
    for frame in frames(noise(20, 0.5), 8000):
        audio.append(frame)
    assert not audio.speech_since_mark()
    for frame in frames(noise(2000, 0.06), 16000):
        audio.append(frame)
    assert audio.speech_since_mark()
