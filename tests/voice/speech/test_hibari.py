from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.voice.speech.test_espeak import ODD, audio, segment
from voice.errors import ModelError
from voice.speech.tts.hibari import HibariSynthesizer, hibari_voices
from voice.types import Segment, SpeechChunk


@pytest.fixture(scope="module")
def voice() -> HibariSynthesizer:
    return HibariSynthesizer()


def speak(voice: HibariSynthesizer, written: Segment, speed: float = 1.0) -> list[SpeechChunk]:
    chunks = list(voice.synthesize(written, speed))
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    return chunks


def test_each_sentence_is_a_chunk_and_sounds_at_once(voice: HibariSynthesizer) -> None:
    chunks = speak(voice, segment("Hello there. How are you?"))
    assert len(chunks) == 3
    samples = audio(chunks)
    assert samples.dtype == np.int16
    assert np.flatnonzero(np.abs(samples) > 300)[0] < voice.sample_rate_hz // 50


def test_words_are_timed_by_the_network(voice: HibariSynthesizer) -> None:
    text = "One oat milk latte comes to $4.50, and it is ready at 7:30 p.m."
    chunks = speak(voice, segment(text))
    ends = [word.end_sample for word in chunks[-1].words]
    assert [text[: word.end_char].split()[-1] for word in chunks[-1].words] == (
        text.replace("7:30 ", "").split()
    )
    assert ends == sorted(set(ends))
    assert ends[-1] <= len(audio(chunks))
    # The long pause at the comma lies behind "$4.50," and not inside it.
    written = segment("Stop, I said.")
    stop = speak(voice, written)[-1].words[0].end_sample
    alone = speak(voice, segment("Stop."))[-1].words[0].end_sample
    assert stop == pytest.approx(alone, rel=0.4)


def test_letters_are_not_read_as_words(voice: HibariSynthesizer) -> None:
    read = {
        said: voice._phonemes(said)[0] for said in ("A", "a", "a m", "A M", "A table", "plan A")
    }
    assert read["a m"] == read["A M"]
    assert read["a m"][: len(read["A"])] == read["A"] != read["a"]
    assert read["A table"][: len(read["A"])] != read["A"]
    assert read["plan A"][-len(read["A"]) :] == read["A"]


def test_the_same_text_is_the_same_audio_in_any_thread(voice: HibariSynthesizer) -> None:
    written = segment("I am going to dance in the bath.")
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: audio(speak(voice, written)), range(8)))
    assert all(np.array_equal(one, said[0]) for one in said)


def test_speed_changes_the_length(voice: HibariSynthesizer) -> None:
    written = segment("The timer is set for ten minutes. It rings at noon.")
    usual = len(audio(speak(voice, written)))
    for speed in (0.25, 0.9, 1.1, 1.5, 4):
        assert usual / len(audio(speak(voice, written, speed))) == pytest.approx(speed, rel=0.05)


@pytest.mark.parametrize("said", [*ODD, "10⁶", "한국어"])
def test_odd_text_is_survived(voice: HibariSynthesizer, said: str) -> None:
    speak(voice, segment(said, said))
    assert len(audio(speak(voice, segment("Still here.")))) > 5000


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hibari.voices

    other = tmp_path / "hibari.onnx"
    shutil.copy(hibari.voices.voice_path("heart"), other)
    with other.open("ab") as file:
        file.write(b"\0")
    monkeypatch.setattr(hibari.voices, "ASSETS", str(tmp_path))
    with pytest.raises(ModelError, match=r"hibari\.onnx: got SHA-256"):
        HibariSynthesizer()


def test_a_voice_that_is_not_here_is_an_error_and_not_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIBARI_HOME", str(tmp_path))
    assert hibari_voices() == ["heart"]
    with pytest.raises(ModelError, match="emma is not on this machine"):
        HibariSynthesizer("emma")
    with pytest.raises(ModelError, match="expected one of heart"):
        HibariSynthesizer("nobody")


@pytest.mark.parametrize("package", ["dlm", "voice"])
def test_onnxruntime_is_told_to_send_nothing(package: str) -> None:
    program = (
        f"import os, sys, {package};"
        "assert 'onnxruntime' not in sys.modules;"
        "print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    told = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "1"
