from __future__ import annotations

import wave
from pathlib import Path

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
    with pytest.raises(ConfigError, match=r"got 'nobody'; expected one of hibari:heart"):
        run(["nobody"])
