"""The packaged weights: really there, checked, and never asked of a network."""

from __future__ import annotations

import hashlib
import re
import shutil
import socket
import sys
import zlib
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from voice.audio import Framer, StreamResampler
from voice.config import AsrConfig, WhisperConfig, load_agent
from voice.demo.recordings import CONVERSATIONS, load
from voice.errors import ModelError
from voice.hearing.asr import difference, make_recognizer
from voice.hearing.asr import packaged as module
from voice.hearing.asr.packaged import PACKAGED, read_file, read_packaged
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import SAMPLE_RATE_HZ, Segment


def installed(model: str) -> bool:
    packages = {package for parts in PACKAGED[model].values() for package, _, _ in parts}
    try:
        for package in packages - {""}:
            distribution(package)
    except PackageNotFoundError:
        return False
    return True


@pytest.mark.parametrize("model", PACKAGED)
def test_the_installed_files_are_those_expected(model: str) -> None:
    if not installed(model):
        pytest.skip(f"the packages of {model} are not installed")
    files = read_packaged(model)
    assert set(files) == set(PACKAGED[model])
    assert len(files["model.bin"]) > 40_000_000


def test_the_short_model_is_restored_to_the_last_bit() -> None:
    model = read_file("tiny.en-short", "model.bin")
    assert hashlib.sha256(model).hexdigest().startswith("d75a2f0c96c85b07")


def test_the_difference_that_is_shipped_can_be_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model, original, made = (tmp_path / name for name in ("tuned", "original", "model.difference"))
    model.write_bytes(read_file("tiny.en-short", "model.bin"))
    original.write_bytes(read_file("tiny.en", "model.bin"))
    monkeypatch.setattr(sys, "argv", ["", str(model), str(original), str(made)])
    difference.main()
    shipped = Path(module.__file__).with_name("tiny.en-short") / made.name
    # Not the bytes: they are as the zlib that packed them.
    assert zlib.decompress(made.read_bytes()) == zlib.decompress(shipped.read_bytes())


def test_the_default_whisper_hears_the_demo_without_a_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    whisper, line = make_recognizer(AsrConfig(engine="whisper"), load_agent("assistant"))
    assert line == "whisper tiny.en-short, as configured"
    for said in chain(*CONVERSATIONS.values()):
        stream = whisper.open(1)
        for frame in Framer().push(load(said.name)):
            stream.accept(frame)
        assert stream.finish().text == said.text


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Changed:
        def locate_file(self, _: str) -> Path:
            file = tmp_path / "config.json"
            file.write_text("{}")
            return file

    monkeypatch.setattr(module, "distribution", lambda _: Changed())
    with pytest.raises(ModelError, match=r"config\.json: got SHA-256 4413"):
        read_packaged("tiny.en")


def test_weights_of_our_own_are_checked_as_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tiny.en-short").mkdir()
    (tmp_path / "tiny.en-short" / "config.json").write_text("{}")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "packaged.py"))
    with pytest.raises(ModelError, match=r"config\.json: got SHA-256 4413"):
        read_packaged("tiny.en-short")


@pytest.mark.parametrize("file", ["model.difference", "model.bin"])
def test_a_damaged_part_of_the_short_model_is_told_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str
) -> None:
    for package, name, _ in PACKAGED["tiny.en-short"]["model.bin"]:
        folder = distribution(package).locate_file("") if package else Path(module.__file__).parent
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(str(folder)) / name, tmp_path / name)
        if name.endswith(file):
            with (tmp_path / name).open("r+b") as damaged:
                damaged.seek(5_000_000)
                damaged.write(b"damaged")

    class Here:
        def locate_file(self, name: str) -> Path:
            return tmp_path / name

    monkeypatch.setattr(module, "__file__", str(tmp_path / "packaged.py"))
    monkeypatch.setattr(module, "distribution", lambda _: Here())
    with pytest.raises(ModelError, match=rf"/{file}: got SHA-256"):
        read_file("tiny.en-short", "model.bin")


def test_a_sum_that_is_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "restored", lambda *_: b"{}")
    with pytest.raises(ModelError, match=r"tiny\.en-short, model\.bin: got SHA-256 4413"):
        read_file("tiny.en-short", "model.bin")


def test_a_missing_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Empty:
        def locate_file(self, file: str) -> Path:
            return tmp_path / file

    monkeypatch.setattr(module, "distribution", lambda _: Empty())
    with pytest.raises(ModelError, match="weights cannot be read"):
        read_packaged("tiny.en")


@pytest.mark.parametrize(
    ("model", "wanted"),
    [("base", "-e '.[base]'"), ("tiny.en-short", "-e .")],
)
def test_a_missing_package_is_told_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, model: str, wanted: str
) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "distribution", missing)
    with pytest.raises(ModelError, match=f"is not installed; .*{re.escape(wanted)}$"):
        read_packaged(model)


@pytest.mark.parametrize(
    ("language", "said", "words"),
    [
        ("es", "Buenos días, me gustaría saber qué tiempo hará mañana en Madrid.", "buenos días"),
        ("fr", "Bonjour, je voudrais savoir quel temps il fera demain à Paris.", "bonjour"),
        ("de", "Ich hätte gerne zwei Tassen Kaffee mit Milch und Zucker.", "ich hätte gerne"),
        ("en", "Good morning, I would like to know the weather in London.", "good morning"),
    ],
)
def test_the_base_hears_which_language_it_is(language: str, said: str, words: str) -> None:
    if not installed("base"):
        pytest.skip("the packages of base are not installed")
    chunks = [*EspeakSynthesizer(language).synthesize(Segment(1, 0, said, said), speed=0.8)]
    resampler = StreamResampler(chunks[0].sample_rate_hz, SAMPLE_RATE_HZ)
    samples = np.concatenate([resampler.push(chunk.samples) for chunk in chunks])
    base, _ = make_recognizer(
        AsrConfig(engine="whisper", whisper=WhisperConfig(model="base")), load_agent("assistant")
    )
    stream = base.open(1)
    for frame in Framer().push(np.pad(samples, 3200)):
        stream.accept(frame)
    heard = stream.finish()
    assert heard.language == language
    assert heard.language_confidence > 0.5
    assert heard.shown.lower().startswith(words)
    told = base.transcribe(samples, language, times=True)
    assert told.language == language
    assert " ".join(word.text for word in told.words) == told.text
