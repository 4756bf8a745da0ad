"""Whisper through a tiny model that says one sentence, whatever it hears."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from tests.support.tiny_whisper import SENTENCE, make_tiny_whisper
from voice.audio import Framer
from voice.config import WhisperConfig
from voice.errors import ModelError
from voice.hearing.asr.repair import Repair
from voice.hearing.asr.whisper import (
    STOCK,
    Decoded,
    WhisperRecognizer,
    WhisperStream,
    agreed,
)
from voice.types import SAMPLE_RATE_HZ, Samples, Transcript

NOISE = np.random.default_rng(0).normal(0, 2000, 32000).astype(np.int16)


@pytest.fixture
def model(tiny_whisper: Path) -> Path:
    return tiny_whisper


def recognizer(model: Path, **changes: object) -> WhisperRecognizer:
    config = WhisperConfig.model_validate({"model": str(model), "device": "cpu", **changes})
    return WhisperRecognizer(config)


def feed(stream: WhisperStream, audio: Samples, start: int = 0) -> list[Transcript]:
    interims = []
    for frame in Framer(start).push(audio):
        stream.accept(frame)
        interims.append(stream.interim())
    return [interim for interim in interims if interim is not None]


class Script(WhisperRecognizer):
    """Says what it is told, a text for each decode."""

    def __init__(self, *texts: str) -> None:
        self.config = WhisperConfig()
        self.texts = list(texts)
        self.decoded: list[int] = []
        self.beams: list[int] = []

    def decode(
        self, audio: Samples, beam_size: int, repair: Repair | None = None, language: str = ""
    ) -> Decoded:
        self.decoded.append(len(audio))
        self.beams.append(beam_size)
        text = self.texts.pop(0)
        return Decoded(text, 0.8 if text else 0.0)


def test_interim_and_final(model: Path) -> None:
    stream = recognizer(model).open(4)
    interims = feed(stream, NOISE, 3200)
    assert [interim.text for interim in interims] == [SENTENCE]
    assert interims[0].end_sample >= 3200 + 2 * 3840
    final = stream.finish()
    assert (final.turn_id, final.text, final.final) == (4, SENTENCE, True)
    assert final.end_sample == 3200 + 32000
    assert final.confidence > 0.9
    assert final.find_words
    words = final.find_words()
    assert [word.text for word in words] == SENTENCE.split()
    assert all(3200 <= w.start_sample <= w.end_sample <= final.end_sample for w in words)


@pytest.mark.parametrize(
    ("window_s", "seconds", "frames"),
    [(0, 2, 800), (0, 7.2, 850), (0, 29.6, 3000), (2.5, 2, 300), (30, 2, 3000)],
)
def test_the_encoders_context_is_short_and_ends_in_silence(
    model: Path, window_s: float, seconds: float, frames: int
) -> None:
    whisper = recognizer(model, window_s=window_s)
    audio = np.resize(NOISE, round(seconds * SAMPLE_RATE_HZ))
    assert whisper._features(audio).shape[-1] == frames
    assert whisper.decode(audio, beam_size=1).text == SENTENCE


@pytest.mark.parametrize(("seconds", "frames"), [(0.3, 100), (1.3, 150), (1.4, 200)])
def test_weights_may_be_trained_for_a_context_little_longer_than_the_audio(
    model: Path, tmp_path: Path, seconds: float, frames: int
) -> None:
    trained = recognizer(stating(model, tmp_path, 1.0))
    audio = np.resize(NOISE, round(seconds * SAMPLE_RATE_HZ))
    assert trained._features(audio).shape[-1] == frames
    assert trained.decode(audio, beam_size=1).text == SENTENCE


@pytest.mark.parametrize("window_s", [0, 31, "8"])
def test_a_context_that_cannot_be_is_told(model: Path, tmp_path: Path, window_s: object) -> None:
    with pytest.raises(ModelError, match="expected 0 < window_s <= 30"):
        recognizer(stating(model, tmp_path, window_s))


def stating(model: Path, tmp_path: Path, window_s: object) -> Path:
    copy = shutil.copytree(model, tmp_path / "stating")
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "window_s": window_s}))
    return copy


def test_numpy_keeps_no_thread_waiting_on_a_core_that_decodes_need(model: Path) -> None:
    threadpool_limits(2, "blas")
    recognizer(model)
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}


def test_more_than_30_s_is_decoded_in_windows(model: Path) -> None:
    long = np.concatenate([NOISE] * 16)
    assert recognizer(model).decode(long, beam_size=1).text == f"{SENTENCE} {SENTENCE}"


def test_silence_of_no_length_is_nothing(model: Path) -> None:
    final = recognizer(model).open(1).finish()
    assert (final.text, final.confidence) == ("", 0.0)


@pytest.mark.parametrize(
    ("text", "log_probability", "no_speech", "credible"),
    [
        ("what time is it", -0.3, 0.1, True),
        ("what time is it", -0.3, 0.9, True),
        ("Thank you.", -0.7, 0.9, False),
        ("Thank you.", -0.7, 0.2, True),
        ("Thank you.", -1.2, 0.0, False),
        ("", -0.1, 0.0, False),
        ("so so so so so so so so so so so so so so so so so so so so", -0.1, 0.0, False),
    ],
)
def test_the_guards(
    model: Path, text: str, log_probability: float, no_speech: float, credible: bool
) -> None:
    assert recognizer(model)._credible(text, log_probability, no_speech) is credible


def test_words_count_once_two_decodes_agree() -> None:
    script = Script("what", "what time", "What time is", "water time", "what time is it.", "final")
    stream = script.open(1)
    texts = [interim.text for interim in feed(stream, NOISE[:20000])]
    assert texts == ["what", "what time"]
    assert script.decoded == sorted(script.decoded)
    assert stream.finish().text == "final"


def test_people_are_shown_what_is_written_and_the_model_is_told_the_words() -> None:
    script = Script("A 12-ounce", "A 12-ounce Latte", "A 12-ounce latte, $5.")
    stream = script.open(1)
    interims = feed(stream, NOISE[:10000])
    assert [(t.text, t.shown) for t in interims] == [("a twelve ounce", "A 12-ounce")]
    final = stream.finish()
    assert (final.text, final.shown) == (
        "a twelve ounce latte five dollars",
        "A 12-ounce latte, $5.",
    )


def test_where_speech_falls_silent_the_final_decode_is_made_ahead() -> None:
    script = Script("one", "one two")
    stream = script.open(1)
    assert feed(stream, NOISE[:3200]) == []
    stream.interim(fell_silent=True)
    stream.interim(fell_silent=True)
    assert stream.finish().text == "one"
    assert stream.finish().text == "one"
    assert (script.decoded, script.beams) == ([3200], [5])


def test_what_was_decoded_ahead_does_not_hide_what_is_said_after_it() -> None:
    script = Script("one", "one two")
    stream = script.open(1)
    feed(stream, NOISE[:3200])
    stream.interim(fell_silent=True)
    # However soft.
    assert feed(stream, NOISE[:640] // 100) == []
    assert stream.finish().text == "one two"
    assert script.decoded == [3200, 3840]


def test_words_that_a_decode_made_ahead_confirms_count() -> None:
    script = Script("what time", "what time is it.")
    stream = script.open(1)
    assert feed(stream, NOISE[:4800]) == []
    told = stream.interim(fell_silent=True)
    assert told is not None
    assert told.text == "what time"


def test_agreement_ignores_case_and_punctuation() -> None:
    assert agreed(["What", "time,"], ["what", "time", "is"]) == 2
    assert agreed(["what", "time"], ["what", "timer"]) == 1
    assert agreed([], ["what"]) == 0


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        recognizer(tmp_path)


@pytest.mark.parametrize("file", ["model.bin", "tokenizer.json", "vocabulary.json"])
def test_a_spoilt_file_is_told(model: Path, tmp_path: Path, file: str) -> None:
    broken = shutil.copytree(model, tmp_path / "broken")
    (broken / file).write_bytes(b"{oops")
    with pytest.raises(ModelError, match="cannot be loaded on cpu"):
        recognizer(broken)


def test_a_missing_tokenizer_is_told_and_not_asked_of_a_hub(model: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(model, tmp_path / "broken")
    (broken / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"it has no tokenizer\.json"):
        recognizer(broken)


def test_what_cannot_decode_is_an_error_at_the_start(model: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(model, tmp_path / "broken")
    (broken / "config.json").unlink()
    with pytest.raises(ModelError, match="cannot be used: whisper failed"):
        recognizer(broken)


def test_weights_that_are_no_numbers_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="got words of the probability nan"):
        recognizer(make_tiny_whisper(tmp_path, scale=math.nan))


@given(st.floats(0, 70), st.lists(st.floats(0, 70), max_size=8), st.sampled_from([6.0, 10.0, 30.0]))
@settings(max_examples=40)
def test_long_audio_is_cut_where_it_is_quiet(
    seconds: float, pauses: list[float], longest_s: float
) -> None:
    audio = np.random.default_rng(1).integers(-9000, 9000, round(seconds * 16_000), dtype=np.int16)
    for pause in pauses:
        audio[round(pause * 16_000) :][:4800] //= 100
    pieces = replace(STOCK, longest_s=longest_s).pieces(audio)
    assert all(len(piece) <= longest_s * 16_000 for piece in pieces)
    assert np.array_equal(np.concatenate([*pieces, np.empty(0, np.int16)]), audio)
    assert len(pieces) < 2 or len(pieces[-1]) > 1600
    assert all(len(piece) > longest_s * 8_000 for piece in pieces[:-1])


def test_a_pause_is_where_long_audio_is_cut() -> None:
    audio = np.random.default_rng(1).integers(-9000, 9000, 15 * 16_000, dtype=np.int16)
    audio[8 * 16_000 :][:4800] //= 100
    first, second = replace(STOCK, longest_s=10.0).pieces(audio)
    assert 8 * 16_000 < len(first) < 8 * 16_000 + 4800
    assert len(first) + len(second) == len(audio)
