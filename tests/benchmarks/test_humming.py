from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.voice.humming import TUNES, WORDS, glottis, hummed, hummer, hums, resonances
from voice.types import Samples


def levels(samples: Samples) -> NDArray[np.float64]:
    """(N,) levels of steps of 10 ms, the loudest at 1."""
    steps = samples[: len(samples) // 160 * 160].astype(np.float64).reshape(-1, 160)
    level = np.sqrt(np.mean(steps**2, axis=1))
    return np.asarray(level / level.max())


def syllables(samples: Samples) -> int:
    """How often the level rises to half of its peak after it had been below."""
    loud = np.convolve(levels(samples), np.ones(3) / 3, "same") > 0.5
    return int(np.sum(loud[1:] & ~loud[:-1]))


def test_hums_are_the_same_on_every_call_and_no_two_are_alike() -> None:
    first, second = (list(islice(hums(WORDS), 12)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.samples, other.samples)
    assert [hum.word for hum in first[:5]] == list(WORDS)
    assert len({hum.samples.tobytes() for hum in first}) == 12


def test_every_other_hummer_is_held_out_and_hums_other_tunes() -> None:
    found = [hum.held_out for hum in islice(hums(["mm"], 2), 6)]
    assert found == [False, False, True, True, False, False]
    assert not set(TUNES[True]) & set(TUNES[False])


def test_a_smaller_head_has_a_higher_voice() -> None:
    people = [hummer(np.random.default_rng(seed), False) for seed in range(100)]
    assert np.corrcoef([p.pitch_hz for p in people], [p.size for p in people])[0, 1] > 0.5
    assert all(60 < p.pitch_hz < 400 for p in people)


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


def test_some_hums_have_two_syllables() -> None:
    rng = np.random.default_rng(3)
    counts = {
        word: np.mean([syllables(hummed(word, hummer(rng, True), rng)) for _ in range(8)])
        for word in ("mm", "mm hmm")
    }
    assert counts["mm"] < 1.3
    assert counts["mm hmm"] > 1.6


def test_nobody_hums_any_other_word() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="'stop'"):
        hummed("stop", hummer(rng, False), rng)


def test_the_glottis_opens_as_often_as_its_pitch_says() -> None:
    rng = np.random.default_rng(4)
    flow = glottis(np.full(16_000, 125.0), 0.0, rng)
    assert len(flow) == 16_000
    power = np.abs(np.fft.rfft(flow))
    assert np.argmax(power[50:]) + 50 == 125
    assert power[125] > 100 * power[187]
    unsteady = np.abs(np.fft.rfft(glottis(np.full(16_000, 125.0), 0.03, rng)))
    assert unsteady[1000] < power[1000]


def test_formants_are_where_they_are_told() -> None:
    hz = np.arange(0, 8000, 10.0)
    response = np.abs(resonances(hz, [(1000, 100), (2500, 150)]))
    assert response[0] == pytest.approx(1)
    assert hz[np.argmax(response)] == pytest.approx(1000, abs=20)
    assert response[250] > response[200]
    assert response[250] > response[300]
