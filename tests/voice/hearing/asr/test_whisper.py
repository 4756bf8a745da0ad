"""Whisper through a tiny model that says one sentence, whatever it hears."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.support.tiny_whisper import SENTENCE, make_tiny_whisper
from voice.audio import Framer
from voice.config import WhisperConfig
from voice.errors import ModelError
from voice.hearing.asr.whisper import Decoded, WhisperRecognizer, agreed
from voice.hearing.end_of_turn import TRUSTED
from voice.types import Samples

NOISE = np.random.default_rng(0).normal(0, 2000, 32000).astype(np.int16)


@pytest.fixture
def model(tiny_whisper: Path) -> Path:
    return tiny_whisper


def recognizer(model: Path, **changes: object) -> WhisperRecognizer:
    config = WhisperConfig.model_validate({"model": str(model), "device": "cpu", **changes})
    return WhisperRecognizer(config)


class Script(WhisperRecognizer):
    """Says what it is told, a text for each decode."""

    def __init__(self, *texts: str) -> None:
        self.config = WhisperConfig()
        self.texts = list(texts)
        self.sure = 0.8
        self.decoded: list[int] = []

    def decode(self, audio: Samples, beam_size: int) -> Decoded:
        self.decoded.append(len(audio))
        text = self.texts.pop(0)
        return Decoded(text, self.sure if text else 0.0)


def test_interim_and_final(model: Path) -> None:
    stream = recognizer(model).open(4)
    interims = [t for frame in Framer(3200).push(NOISE) if (t := stream.accept(frame))]
    assert [interim.text for interim in interims] == [SENTENCE]
    assert interims[0].end_sample >= 3200 + 2 * 4800
    final = stream.finish()
    assert (final.turn_id, final.text, final.final) == (4, SENTENCE, True)
    assert final.end_sample == 3200 + 32000
    assert final.confidence > 0.9


@pytest.mark.parametrize("window_s", [0, 2.5, 30])
def test_the_encoders_context_can_be_short(model: Path, window_s: float) -> None:
    whisper = recognizer(model, window_s=window_s)
    frames = whisper._features(NOISE).shape[-1]
    assert frames == (window_s or 30) * 100
    assert whisper.decode(NOISE, beam_size=1).text == SENTENCE


def test_audio_beyond_the_short_context_is_kept(model: Path) -> None:
    assert recognizer(model, window_s=1)._features(NOISE).shape[-1] == 200


def test_more_than_30_s_is_decoded_in_windows(model: Path) -> None:
    long = np.concatenate([NOISE] * 16)
    assert recognizer(model).decode(long, beam_size=1).text == f"{SENTENCE} {SENTENCE}"


def test_a_rest_too_short_for_a_word_is_not_made_into_words(model: Path) -> None:
    long = np.concatenate([NOISE] * 15)
    assert recognizer(model).decode(np.append(long, NOISE[:1600]), 1).text == SENTENCE
    assert recognizer(model).decode(np.append(long, NOISE[:1601]), 1).text != SENTENCE
    assert recognizer(model).decode(NOISE[:1], 1).text == SENTENCE


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
    texts = [t.text for frame in Framer().push(NOISE[:24320]) if (t := stream.accept(frame))]
    assert texts == ["what", "what time"]
    assert script.decoded == sorted(script.decoded)
    assert stream.finish().text == "final"


def test_people_are_shown_what_is_written_and_the_model_is_told_the_words() -> None:
    script = Script("A 12-ounce", "A 12-ounce Latte", "A 12-ounce latte, $5.")
    stream = script.open(1)
    interims = [t for frame in Framer().push(NOISE[:10000]) if (t := stream.accept(frame))]
    assert [(t.text, t.shown) for t in interims] == [("a twelve ounce", "A 12-ounce")]
    final = stream.finish()
    assert (final.text, final.shown) == (
        "a twelve ounce latte five dollars",
        "A 12-ounce latte, $5.",
    )


def test_finish_is_repeated_only_when_speech_went_on() -> None:
    script = Script("one", "one two")
    stream = script.open(1)
    framer = Framer()
    for frame in framer.push(NOISE[:4160]):
        stream.accept(frame)
    assert stream.finish().text == "one"
    for frame in framer.push(np.zeros(3200, np.int16)):
        assert stream.accept(frame) is None
    assert stream.finish().text == "one"
    script.config = WhisperConfig(interim_ms=30000)
    stream._next_interim = 10**9
    for frame in framer.push(NOISE[:3200]):
        stream.accept(frame)
    assert stream.finish().text == "one two"


@pytest.mark.parametrize(("sure", "trusted"), [(0.9, True), (0.55, True), (0.4, False)])
def test_an_open_vocabulary_is_trusted_with_less(sure: float, trusted: bool) -> None:
    script = Script("what time is it")
    script.sure = sure
    final = script.open(1).finish()
    assert final.confidence == sure
    assert (final.sure_of_end >= TRUSTED) is trusted


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
