from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchmarks.voice.humming import WORDS, hummed, hummer, hums


def test_hums_are_the_same_on_every_call_and_no_two_are_alike() -> None:
    first, second = (list(islice(hums(WORDS), 12)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.samples, other.samples)
    assert [hum.word for hum in first[:5]] == list(WORDS)
    assert len({hum.samples.tobytes() for hum in first}) == 12


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
