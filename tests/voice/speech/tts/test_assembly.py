from __future__ import annotations

import numpy as np

from voice.speech.tts.assembly import CLAUSE_PAUSE_MS, SENTENCE_PAUSE_MS, Piece, assemble
from voice.speech.tts.timing import WordStart
from voice.types import Segment

RATE_HZ = 16_000


def test_sound_is_passed_on_as_it_comes() -> None:
    asked = []

    def pieces() -> object:
        for number in range(3):
            asked.append(number)
            yield Piece(np.full(1600, 5000, np.int16))

    chunks = assemble(Segment(1, 0, "a b c.", "a b c."), RATE_HZ, pieces())
    first = next(chunks)
    assert asked == [0]
    assert (len(first.samples), first.last, first.words) == (1600, False, ())
    rest = list(chunks)
    assert [chunk.last for chunk in rest] == [False, False, True]
    assert [word.end_char for word in rest[-1].words] == [1, 3, 6]


def test_word_starts_move_with_the_silence_taken_off() -> None:
    quiet, loud = np.zeros(800, np.int16), np.full(3200, 5000, np.int16)
    piece = Piece(np.concatenate([quiet, loud]), (WordStart(0, 0), WordStart(4, 800 + 1600)))
    *_, last = assemble(Segment(1, 0, "one two", "one two"), RATE_HZ, [piece])
    attack = RATE_HZ * 5 // 1000
    assert [word.end_sample for word in last.words] == [1600 + attack, 3200 + attack]


def test_the_pause_is_longer_after_a_sentence() -> None:
    def pause(text: str) -> int:
        *_, last = assemble(
            Segment(1, 0, text, text), RATE_HZ, [Piece(np.full(1600, 5000, np.int16))]
        )
        return len(last.samples)

    assert pause("so,") == CLAUSE_PAUSE_MS * 16
    assert pause("so.") == SENTENCE_PAUSE_MS * 16


def test_nothing_to_say_is_one_empty_last_chunk() -> None:
    (only,) = assemble(Segment(1, 0, "👍", ""), RATE_HZ, [])
    assert only.last
    assert len(only.samples) == 0
    assert only.words == ()
