from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pytest

from benchmarks.voice.bystander import Outcome
from benchmarks.voice.interruptions import HUM, SPOKEN, backchannels, figures_of, hummed
from benchmarks.voice.short_words import HELD_OUT_VARIANTS, ShortWord, spoken


def test_shares_and_delays_are_counted() -> None:
    figures = figures_of([Outcome(100, 500, 0), Outcome(120, None, 300), Outcome(None, None, 0)])
    assert figures["stopped"] == {"count": 1, "of": 3, "rate": 0.3333}
    assert figures["held"]["count"] == 2
    assert figures["silent_ms_where_it_went_on"]["p50"] == 300


def said_by_flite(phrases: Sequence[str]) -> Iterator[ShortWord]:
    """As many, where flite is not installed."""
    yield from islice(spoken(phrases, np.random.default_rng(0)), 2)


def test_synthetic_backchannels_are_told_by_what_made_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.voice.interruptions.spoken_by_flite", said_by_flite)
    made = Counter((sound.kind, sound.held_out) for sound in backchannels())
    assert made == {
        ("synthetic backchannel, flite", False): 2,
        ("synthetic backchannel, espeak-ng", True): len(HELD_OUT_VARIANTS) * len(SPOKEN),
    }


def test_every_hummer_hums_some_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.voice.interruptions.HUMMERS", 4)
    found = list(hummed())
    assert [sound.held_out for sound in found] == [False, False, True, True] * 2
    assert {sound.kind for sound in found} == {HUM}
    assert all(500 < sound.start < 6000 for sound in found)
