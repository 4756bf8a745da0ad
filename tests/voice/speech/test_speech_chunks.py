"""A segment's chunks: trimmed audio, a pause, and the timing of its words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speech.normalization import spoken
from voice.speech.tts.assembly import (
    CLAUSE_PAUSE_MS,
    SENTENCE_PAUSE_MS,
    Piece,
    SilenceTrimmer,
    assemble,
)
from voice.speech.tts.timing import WordStart, estimated_timings, syllables, word_timings
from voice.types import Samples, Segment, SpeechChunk

RATE_HZ = 16_000


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


def test_nothing_spoken_has_no_timing_and_one_empty_chunk() -> None:
    assert estimated_timings(segment("👍"), 100) == ()
    assert estimated_timings(segment("", "hello"), 100) == ()
    (only,) = assemble(segment("👍"), RATE_HZ, [])
    assert (only.last, len(only.samples), only.words) == (True, 0, ())


@pytest.mark.parametrize(
    ("word", "length"), [("banana", 3), ("three", 1), ("hmm", 1), ("yes,", 1.6), ("да", 1)]
)
def test_syllables(word: str, length: float) -> None:
    assert syllables(word) == length


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 50_000))
def test_ends_are_in_order_and_within(text: str, said: str, total: int) -> None:
    timings = estimated_timings(segment(text, said), total)
    chars = [t.end_char for t in timings]
    samples = [t.end_sample for t in timings]
    assert chars == sorted(set(chars))
    assert samples == sorted(samples)
    assert all(0 <= sample <= total for sample in samples)
    assert not samples or samples[-1] == total


def silence(ms: int) -> Samples:
    return np.zeros(ms * 16, np.int16)


def tone(ms: int) -> Samples:
    return np.full(ms * 16, 4000, np.int16)


def trimmed(samples: Samples, step: int, pause_ms: float = 120) -> Samples:
    trimmer = SilenceTrimmer(RATE_HZ)
    parts = [trimmer.push(samples[start : start + step]) for start in range(0, len(samples), step)]
    return np.concatenate([*parts, trimmer.finish(pause_ms)])


@pytest.mark.parametrize("step", [1_000_000, 160, 37])
def test_silence_is_taken_off_both_ends(step: int) -> None:
    audio = np.concatenate([silence(300), tone(200), silence(400), tone(100), silence(700)])
    kept = trimmed(audio, step)
    first = np.flatnonzero(kept)[0]
    assert 0 <= first <= RATE_HZ * 10 // 1000
    assert len(kept) - first == pytest.approx(16 * (200 + 400 + 100 + 120), abs=2)
    assert len(trimmed(silence(500), step)) == 0


def test_sound_is_let_through_at_once() -> None:
    trimmer = SilenceTrimmer(RATE_HZ)
    assert len(trimmer.push(silence(50))) == 0
    assert len(trimmer.push(tone(20))) == 16 * 25
    assert trimmer.dropped == 16 * 45


def test_a_chunk_comes_as_soon_as_its_piece() -> None:
    asked = []

    def pieces() -> object:
        for number in range(3):
            asked.append(number)
            yield Piece(tone(100))

    chunks = assemble(segment("a b c."), RATE_HZ, pieces())
    first = next(chunks)
    assert asked == [0]
    assert (len(first.samples), first.last, first.words) == (1600, False, ())
    assert [chunk.last for chunk in chunks] == [False, False, True]


def test_word_starts_move_with_the_silence_taken_off() -> None:
    piece = Piece(
        np.concatenate([silence(50), tone(200)]), (WordStart(0, 0), WordStart(4, 800 + 1600))
    )
    *_, last = assemble(segment("one two"), RATE_HZ, [piece])
    attack = RATE_HZ * 5 // 1000
    assert [word.end_sample for word in last.words] == [1600 + attack, 3200 + attack]


@pytest.mark.parametrize("speed", [0.25, 0.7, 1.5, 4.0])
def test_words_of_faster_speech_end_where_they_are_heard(speed: float) -> None:
    sound = np.concatenate([tone(1000), silence(1000), tone(500)])
    piece = Piece(sound, (WordStart(4, 15 * RATE_HZ // 10),))
    *sounds, last = assemble(segment("one two"), RATE_HZ, [piece], speed)
    ends_s = [word.end_sample / RATE_HZ for word in last.words]
    assert ends_s == pytest.approx([1 / speed, 2.5 / speed], rel=0.05, abs=0.1)
    assert sum(len(chunk.samples) for chunk in sounds) == last.words[-1].end_sample


@pytest.mark.parametrize("speed", [0.25, 4.0])
def test_faster_speech_comes_with_its_piece_too(speed: float) -> None:
    pieces = iter([Piece(tone(1000)), Piece(tone(1000))])
    first = next(assemble(segment("a b."), RATE_HZ, pieces, speed))
    assert len(first.samples) == pytest.approx(RATE_HZ / speed, rel=0.15)
    assert next(pieces, None) is not None


@pytest.mark.parametrize(("text", "ms"), [("so,", CLAUSE_PAUSE_MS), ("so.", SENTENCE_PAUSE_MS)])
def test_the_pause_is_longer_after_a_sentence(text: str, ms: float) -> None:
    chunks: list[SpeechChunk] = list(assemble(segment(text), RATE_HZ, [Piece(tone(100))]))
    assert len(chunks[-1].samples) == ms * 16
