"""The figures of the ears are counted right, on the demo's lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.ears import Listener, figures_of
from voice.config import load_config


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


def test_what_the_guard_rejects_counts_as_wrong(listener: Listener) -> None:
    figures = figures_of(listener, demo_lines("assistant")[:1], guard=1.1)
    assert figures["word_error_rate"]["rate"] == 1
    assert figures["word_error_rate_without_guard"]["rate"] == 0
    assert figures["accepted"]["count"] == 0


def test_an_early_end_is_counted(listener: Listener) -> None:
    line = demo_lines("assistant")[0]
    doubled = np.concatenate([line.samples, np.zeros(40000, np.int16), line.samples])
    later = replace(line, samples=doubled, end=len(doubled) - len(line.samples) + line.end)
    assert figures_of(listener, [later], guard=0.4)["cut_early"]["count"] == 1


def test_a_quiet_room_begins_no_turn(listener: Listener) -> None:
    assert listener.turns_in(np.zeros(32000, np.int16)) == 0
