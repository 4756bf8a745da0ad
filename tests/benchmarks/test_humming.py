from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pytest
import soundfile

from benchmarks.voice.dead_air import is_held_out
from benchmarks.voice.humming import WORDS, hummed, hummer
from benchmarks.voice.short_words import pieces, recorded


@pytest.mark.parametrize("word", WORDS)
def test_a_hum_is_low_and_an_open_mouth_less_so(word: str) -> None:
    rng = np.random.default_rng(2)
    above = []
    for _ in range(4):
        samples = hummed(word, hummer(rng, False), rng)
        assert samples.dtype == np.int16
        assert 0.3 < len(samples) / 16_000 < 1.2
        power = np.abs(np.fft.rfft(samples.astype(np.float64))) ** 2
        hz = np.fft.rfftfreq(len(samples), 1 / 16_000)
        above.append(10 * np.log10(power[hz > 1000].sum() / power[hz > 60].sum()))
    assert max(above) < (-8 if word == "uh huh" else -18)


def archive(file: Path, names: list[str], rate_hz: int) -> None:
    """A tar of one-second recordings."""
    with tarfile.open(file, "w") as tar:
        for name in names:
            stored = io.BytesIO()
            noise = np.random.default_rng(0).normal(0, 500, rate_hz).astype(np.int16)
            soundfile.write(stored, noise, rate_hz, format="FLAC")
            info = tarfile.TarInfo(name)
            info.size = len(stored.getvalue())
            stored.seek(0)
            tar.addfile(info, stored)


def test_a_word_knows_whether_its_speaker_is_held_out(tmp_path: Path) -> None:
    names = [f"speech_commands/{word}-a{who}_nohash_0.ogg" for who in range(9) for word in "xy"]
    archive(tmp_path / "speech_commands.tar", names, 8000)
    found = list(recorded(tmp_path))
    assert [word.word for word in found] == [*"xy"] * 9
    assert all(len(word.samples) == 16_000 for word in found)
    assert [word.held_out for word in found[::2]] == [is_held_out(f"a{who}") for who in range(9)]
    assert [word.held_out for word in found[::2]] == [word.held_out for word in found[1::2]]


def test_pieces_are_of_adults_that_are_not_held_out(tmp_path: Path) -> None:
    rows = [
        {"audio": f"speechocean762/{who}.ogg", "speaker": f"so-{who}", "speaker_age": str(age),
         "corpus": "speechocean762"}
        for who, age in enumerate([20, 30, 12, 40, 50, 20])
    ]  # fmt: skip
    with lzma.open(tmp_path / "manifest.jsonl.xz", "wt") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    archive(tmp_path / "speechocean762.tar", [str(row["audio"]) for row in rows], 16_000)
    found = list(pieces(10, np.random.default_rng(0), tmp_path))
    assert len(found) == sum(
        row["speaker_age"] != "12" and not is_held_out(str(row["speaker"])) for row in rows
    )
    assert all(3000 < len(piece.samples) < 14_500 for piece in found)
    assert not any(piece.held_out or piece.word for piece in found)
