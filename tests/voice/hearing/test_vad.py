"""Both detectors on speech and noise."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from voice.audio import Framer
from voice.config import VadConfig
from voice.demo.recordings import load
from voice.errors import ModelError
from voice.hearing.vad import Vad, make_vad, silero
from voice.hearing.vad.silero import SileroVad
from voice.hearing.vad.webrtc import WebRtcVad
from voice.types import Samples


def shares(vad: Vad, audio: Samples) -> list[float]:
    return [vad.probability(frame) for frame in Framer().push(audio)]


def sentence() -> tuple[Samples, slice]:
    """Silence, a spoken sentence, silence; and the frames that the sentence fills."""
    said = load("assistant-3-units")
    loud = np.flatnonzero(np.abs(said.astype(int)) > 500)
    said = said[loud[0] : loud[-1]]
    quiet = np.random.default_rng(0).normal(0, 3, 16000).astype(np.int16)
    return np.concatenate([quiet, said, quiet]), slice(50, 50 + len(said) // 320)


def noise(shared_audio: Path, name: str) -> Samples:
    audio, _ = soundfile.read(shared_audio / "noise" / f"{name}.flac", dtype="int16")
    return np.asarray(audio)


def test_each_engine() -> None:
    assert isinstance(make_vad(VadConfig(engine="webrtc")), WebRtcVad)
    assert isinstance(make_vad(VadConfig(engine="silero")), SileroVad)


def test_speech_and_silence_are_told_apart() -> None:
    audio, spoken = sentence()
    found = np.array(shares(SileroVad(), audio))
    assert (found[spoken.start + 4 : spoken.stop] >= 0.5).mean() > 0.8
    assert (found[: spoken.start] < 0.5).all()
    assert (found[spoken.stop + 10 :] < 0.5).all()


def test_streaming_equals_faster_whispers_run_over_the_whole() -> None:
    from faster_whisper.vad import get_vad_model

    audio, _ = sentence()
    audio = audio[: len(audio) // 2560 * 2560]
    whole = get_vad_model()(audio.astype(np.float32) / 32768).reshape(-1)
    # Eight frames of 320 fill five windows of 512. The last window is left out: faster-whisper
    # zeroes its end while it makes the windows' contexts.
    vad = SileroVad()
    found = [vad.network(frame) for frame in Framer().push(audio)][7::8]
    np.testing.assert_allclose(found[:-1], whole[4::5][:-1], atol=1e-4)


@pytest.mark.parametrize("name", ["kitchen", "room-background"])
def test_noise_is_not_speech(shared_audio: Path, name: str) -> None:
    found = np.array(shares(SileroVad(), noise(shared_audio, name)))
    assert (found >= 0.5).mean() < 0.01


def test_the_fall_of_the_level_ends_speech_before_the_network_does() -> None:
    audio, spoken = sentence()
    vad = SileroVad()
    alone = np.array([vad.network(frame) for frame in Framer().push(audio)])
    found = np.array(shares(SileroVad(), audio))
    assert (found <= alone).all()
    assert alone[spoken.stop] >= 0.5
    assert (found[spoken.stop :] == 0).all()


def test_voices_around_the_user_are_not_taken_for_the_user(shared_audio: Path) -> None:
    voices = noise(shared_audio, "people-talking")[16_000 * 9 : 16_000 * 15].astype(np.float64)
    said, spoken = sentence()
    said = said[spoken.start * 320 : spoken.stop * 320]
    scale = 10 ** (-15 / 20) * said.std() / voices.std()
    audio = np.concatenate([voices, np.resize(voices, len(said)), voices]) * scale
    audio[len(voices) : len(voices) + len(said)] += said
    found = np.array(shares(SileroVad(), audio.astype(np.int16)))
    begin, end = len(voices) // 320, (len(voices) + len(said)) // 320
    assert (found[begin - 100 : begin] >= 0.5).mean() < 0.1
    assert (found[begin:end] >= 0.5).mean() > 0.7
    assert (found[end + 10 : end + 110] >= 0.5).mean() < 0.1


@pytest.mark.parametrize("engine", ["silero", "webrtc"])
def test_reset_forgets(engine: Any) -> None:
    audio, _ = sentence()
    vad = make_vad(VadConfig(engine=engine))
    first = shares(vad, audio[:24000])
    vad.reset()
    assert shares(vad, audio[:24000]) == first


def test_a_missing_model_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faster_whisper").mkdir()
    (tmp_path / "faster_whisper" / "__init__.py").touch()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "faster_whisper", raising=False)
    importlib.invalidate_caches()
    silero._load_model.cache_clear()
    with pytest.raises(ModelError, match="expected faster-whisper"):
        SileroVad()
    silero._load_model.cache_clear()


def test_webrtc_tells_speech_from_silence() -> None:
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
