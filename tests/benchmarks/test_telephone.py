"""The channel carries what a telephone does, and both channels are counted alike."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.corpus import Utterance, demo_lines
from benchmarks.voice.ears import Heard, Listener
from benchmarks.voice.telephone import carried, compared, over_a_line
from voice.config import load_config

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
