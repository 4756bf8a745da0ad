"""What a recogniser does to words leaves arguments spans of the text."""

from __future__ import annotations

import re
from random import Random

from dlm.datagen.language.noise import Style, draw_style, plain, utter
from dlm.datagen.language.phrases import Piece

PIECES = [
    Piece("set a timer for "),
    Piece("ten minutes", "duration"),
    Piece(" called "),
    Piece("Iced Tea", "name"),
]


def spoken(text: str) -> list[str]:
    return re.sub(r"[^\w\s]", "", text.lower()).split()


def test_whatever_is_heard_the_values_stand_in_the_text() -> None:
    rng = Random(1)
    changed = 0
    for _ in range(2000):
        heard = utter(rng, PIECES, draw_style(rng), rng.random() < 0.5)
        words = spoken(heard.text)
        for value in heard.values.values():
            wanted = spoken(value)
            assert any(words[i : i + len(wanted)] == wanted for i in range(len(words)))
        changed += words != spoken("set a timer for ten minutes called iced tea")
    assert 200 < changed < 1500


def test_plain_writes_as_a_recogniser_does() -> None:
    assert plain("It's 25, at 7-Eleven & Co.", digits=False).split() == (
        ["it's", "twenty", "five", "at", "seven", "eleven", "and", "co"]
    )
    assert plain("At 7:30.", digits=True).split() == ["at", "7:30"]


def test_nothing_said_is_still_a_sound() -> None:
    assert utter(Random(0), [], Style()).text == "um"
