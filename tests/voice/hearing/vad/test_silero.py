"""The neural detector on speech, on noise, and against faster-whisper's own run of it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.voice.hearing.vad.detecting import noise, sentence, shares
from voice.audio import Framer
from voice.errors import ModelError
from voice.hearing.vad import silero
from voice.hearing.vad.silero import SileroVad


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


def test_reset_forgets() -> None:
    audio, _ = sentence()
    vad = SileroVad()
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
