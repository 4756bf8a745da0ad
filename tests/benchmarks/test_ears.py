from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.voice.corpus import Utterance, demo_lines
from benchmarks.voice.decodes import nobody_speaks, partials
from benchmarks.voice.ears import by_kind, done, hear, surrounded
from benchmarks.voice.figures import Said
from voice.demo.turn_report import ToolUse, Turn
from voice.hearing.asr.whisper import WhisperRecognizer
from voice.prove.sound import carried
from voice.session.resources import Resources

AT = np.arange(16_000) / 16_000


def level(frequency_hz: float) -> float:
    """How loud a tone arrives, as a share of what it was."""
    tone = np.round(8000 * np.sin(2 * np.pi * frequency_hz * AT)).astype(np.int16)
    return float(carried(tone, 16_000).astype(float).std() / tone.astype(float).std())


@pytest.mark.parametrize(
    ("frequency_hz", "passes"),
    [(100, False), (1000, True), (3000, True), (3800, False), (6000, False)],
)
def test_only_the_telephone_band_passes(frequency_hz: float, passes: bool) -> None:
    assert level(frequency_hz) == pytest.approx(1.0 if passes else 0.0, abs=0.05)


@pytest.mark.parametrize("telephone", [False, True])
async def test_what_a_line_asks_for_is_done(embedded_parts: Resources, telephone: bool) -> None:
    line = demo_lines("assistant")[0]
    said = await hear(embedded_parts, line, telephone)
    assert done(said) is True
    assert (said.turn.commits, said.turn.early_commits) == (1, 0)
    told = by_kind([said])["demo"]
    assert told["word_errors"]["count"] == 0
    assert 100 <= told["dead_air_ms"]["p50"] <= 1300


async def test_a_line_that_noise_covers_is_not_done(embedded_parts: Resources) -> None:
    line = demo_lines("assistant")[0]
    noise = np.random.default_rng(0).normal(0, 12_000, 16_000).astype(np.int16)
    said = await hear(embedded_parts, replace(line, around=noise))
    assert done(said) is False


def test_noise_is_around_all_of_an_utterance() -> None:
    words = Utterance("words", "command", "assistant", np.zeros(1600, np.int16), 1600, "", None)
    audio, end = surrounded(replace(words, around=np.full(100, 30_000, np.int16)))
    assert end == 8000 + 1600
    assert len(audio) == end + 12 * 16_000
    assert audio.min() > 25_000


def test_an_order_is_done_with_all_that_was_ordered() -> None:
    order = Utterance(
        "order", "order", "coffee", np.zeros(1, np.int16), 1, None, "order_drink",
        {"coffeeDrink": "mocha", "sugarAmount": " a bit of brown sugar"},
    )  # fmt: skip
    turn = Turn("a mocha", (), "", "completed", {}, None, None, 1, 0)
    arguments = {"drink": "mocha", "sweetener": "brown sugar"}
    for given, verdict in ((arguments, True), ({"drink": "mocha"}, False)):
        made = replace(turn, tools=(ToolUse("order_drink", given, ""),))
        assert done(Said(order, made)) is verdict
    assert done(Said(replace(order, slots={}, tool=None), turn)) is None


def test_interim_transcripts_are_counted(embedded_parts: Resources) -> None:
    recognizer = embedded_parts.recognizer
    assert isinstance(recognizer, WhisperRecognizer)
    repair = recognizer.repair(embedded_parts.domain)
    assert repair is not None
    told = partials(recognizer, demo_lines("assistant")[:2], repair)
    assert told["apart_ms"]["n"] >= 3
    assert told["apart_ms"]["p50"] >= recognizer.config.interim_ms
    assert told["share_of_one_core"] > 0


def test_words_are_counted_where_nobody_speaks(embedded_parts: Resources) -> None:
    recognizer = embedded_parts.recognizer
    assert isinstance(recognizer, WhisperRecognizer)
    repair = recognizer.repair(embedded_parts.domain)
    assert repair is not None
    [line, *_] = demo_lines("assistant")
    sounds = {"silence": np.zeros(5 * 16_000, np.int16), "speech": np.tile(line.samples, 3)}
    told = nobody_speaks(recognizer, sounds, repair)
    # One clip of 5 s or of 3, two of 2, five of 1; 8 s of silence there are none.
    assert told["silence"] == {
        "written": {"count": 0, "of": 9, "rate": 0.0},
        "repeated": {"count": 0, "of": 9, "rate": 0.0},
        "words": 0,
    }
    assert told["speech"]["written"]["count"] > told["speech"]["repeated"]["count"]
