from __future__ import annotations

import wave
from pathlib import Path

import av
import pytest

from voice.errors import ConfigError
from voice.voices import run


def test_voices_are_listed_and_heard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run([])
    listed = capsys.readouterr().out.split()
    assert {"hibari:heart", "piper:en_US-joe-medium", "espeak:en-us"} <= set(listed)
    path = tmp_path / "said.wav"
    run(["heart", "--out", str(path), "--text", "It is 7:30 PM."])
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels()) == (24_000, 1)
        assert 1 < file.getnframes() / file.getframerate() < 4
    smaller = tmp_path / "said.opus"
    run(["heart", "--out", str(smaller), "--text", "It is 7:30 PM."])
    with av.open(str(smaller)) as sound:
        seconds = sum(frame.samples / frame.sample_rate for frame in sound.decode(audio=0))
    assert 1 < seconds < 4
    assert smaller.stat().st_size < path.stat().st_size / 3
    with pytest.raises(SystemExit):
        run(["--out", "said.wav"])
    assert "expected the name of a voice as well" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=r"got 'nobody'; expected one of hibari:heart"):
        run(["nobody"])
    with pytest.raises(ConfigError, match=r"said.tune: expected a name that ends in .wav, .mp3"):
        run(["heart", "--out", "said.tune"])
