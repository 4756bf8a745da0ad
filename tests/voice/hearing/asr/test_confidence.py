"""Each piece of evidence counts the right way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voice.hearing.asr.confidence import DecodedWord, confidence, decoded_word

WORD = DecodedWord(frames=30, sound_score=-60, language_score=-2, order=3, posterior=0.9)


def test_no_words_no_confidence() -> None:
    assert confidence([]) == 0


def test_sure_and_unsure() -> None:
    forced = DecodedWord(frames=30, sound_score=-150, language_score=-9, order=1, posterior=0.01)
    assert confidence([WORD, WORD]) > 0.9
    assert confidence([forced, forced]) < 0.1


@pytest.mark.parametrize(
    "worse",
    [
        {"sound_score": -90.0},
        {"language_score": -8.0},
        {"order": 1},
        {"posterior": 0.2},
    ],
)
def test_worse_evidence_lowers_it(worse: dict[str, float]) -> None:
    assert confidence([WORD, replace(WORD, **worse)]) < confidence([WORD, WORD])  # type: ignore[arg-type]


def test_scores_are_taken_back_into_nats() -> None:
    word = decoded_word(20, 0.0, 1.0, 2, 1.0003)
    assert word.sound_score == pytest.approx(-690.8, abs=0.1)
    assert word.language_score == 0
    assert word.posterior == 1
