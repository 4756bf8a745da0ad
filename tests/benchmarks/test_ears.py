from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.voice.corpus import Utterance, demo_lines
from benchmarks.voice.ears import Heard, Listener, figures_of
from benchmarks.voice.telephone import compared, over_a_line
from voice.config import load_config
from voice.prove.sound import carried


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Listener:
    cache: Path = tmp_path_factory.mktemp("sphinx")
    config = load_config(None, [f"asr.sphinx.cache_dir={cache}"])
    return Listener("silero", config, lambda agent, text: 0.5)


def test_clear_lines_are_heard_without_error(listener: Listener) -> None:
    figures = figures_of(listener, demo_lines("assistant")[:3], guard=0.4)
    assert figures["utterances"] == 3
    assert figures["word_error_rate"]["rate"] == 0
    assert figures["accepted"]["rate"] == 1
    assert figures["cut_early"]["count"] == 0
    assert 100 <= figures["end_of_turn_delay_ms"]["p50"] <= 1300


def test_a_quiet_room_begins_no_turn(listener: Listener) -> None:
    assert listener.turns_in(np.zeros(32000, np.int16)) == 0


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


class Noting(Listener):
    """Keeps what it is to hear."""

    def hear(self, utterance: Utterance) -> Heard:
        self.given = utterance
        return super().hear(utterance)


def test_both_channels_are_counted(tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.mktemp("sphinx")
    config = load_config(None, [f"asr.sphinx.cache_dir={cache}"])
    wide, narrow = (Noting("webrtc", config, lambda agent, text: 0.5) for _ in range(2))
    line = demo_lines("assistant")[0]
    found = compared({"wide_band": wide, "telephone": narrow}, [line], guard=0.4)
    assert found["wide_band"]["utterances"] == found["telephone"]["utterances"] == 1
    assert found["wide_band"]["word_error_rate"]["rate"] == 0
    assert wide.given is line
    assert np.array_equal(narrow.given.samples, over_a_line(line).samples)
