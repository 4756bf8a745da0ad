from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.speech.normalization import spoken
from voice.speech.tts.timing import WordStart, estimated_timings, syllables, word_timings
from voice.types import Segment


def segment(text: str, said: str | None = None) -> Segment:
    return Segment(1, 0, text, spoken(text) if said is None else said)


def test_known_starts_are_the_ends_of_the_words_before() -> None:
    written = segment("Pay $5 now")
    starts = [WordStart(0, 0), WordStart(4, 100), WordStart(9, 150), WordStart(17, 300)]
    timings = word_timings(written, np.full(400, 9000, np.int16), starts)
    assert [(t.end_char, t.end_sample) for t in timings] == [(3, 100), (6, 300), (10, 400)]


def test_a_word_ends_with_its_sound_rather_than_with_the_pause_after_it() -> None:
    audio = np.full(400, 9000, np.int16)
    audio[60:200] = 0
    timings = word_timings(segment("one, two"), audio, [WordStart(5, 200)])
    assert [t.end_sample for t in timings] == [60, 400]


def test_words_between_known_ones_share_the_time_by_syllables() -> None:
    timings = word_timings(
        segment("a banana b c"), np.full(600, 9000, np.int16), [WordStart(11, 500)]
    )
    assert [t.end_sample for t in timings] == [100, 400, 500, 600]


def test_contradicting_starts_are_left_out() -> None:
    starts = [WordStart(4, 90), WordStart(8, 20), WordStart(12, 9999)]
    ends = [
        t.end_sample
        for t in word_timings(segment("one two six ten"), np.zeros(100, np.int16), starts)
    ]
    assert ends == sorted(ends)
    assert ends[0] == 90
    assert ends[-1] == 100


def test_text_that_was_spoken_otherwise_is_matched_in_proportion() -> None:
    timings = estimated_timings(segment("one two three four", "el dos"), 100)
    assert [(t.end_char, t.end_sample) for t in timings] == [(7, 50), (18, 100)]
    timings = estimated_timings(segment("one two", "a b c d"), 100)
    assert [(t.end_char, t.end_sample) for t in timings] == [(3, 50), (7, 100)]


def test_nothing_spoken_has_no_timing() -> None:
    assert estimated_timings(segment("👍"), 100) == ()
    assert estimated_timings(segment("", "hello"), 100) == ()


@pytest.mark.parametrize(
    ("word", "length"), [("banana", 3), ("three", 1), ("hmm", 1), ("yes,", 1.6), ("да", 1)]
)
def test_syllables(word: str, length: float) -> None:
    assert syllables(word) == length


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 50_000))
def test_ends_are_in_order_and_within(text: str, said: str, total: int) -> None:
    timings = estimated_timings(segment(text, said), total)
    chars = [t.end_char for t in timings]
    samples = [t.end_sample for t in timings]
    assert chars == sorted(set(chars))
    assert samples == sorted(samples)
    assert all(0 <= sample <= total for sample in samples)
    assert not samples or samples[-1] == total
