"""Orders that are mentioned and not given."""

from __future__ import annotations

from random import Random

import pytest

from dlm.datagen.language import mentions
from dlm.datagen.language.phrases import Piece

ORDER = [Piece("turn on the "), Piece("lamp", "device"), Piece(" please")]


def said(pieces: list[Piece]) -> str:
    return " ".join("".join(piece.text for piece in pieces).split())


def many(split: str, pieces: list[Piece] = ORDER) -> list[tuple[str, str | None, bool]]:
    """What is made of an order: what is said, the answer, and whether it is a question."""
    rng = Random(1)
    drawn = (mentions.mentioned(rng, pieces, split) for _ in range(2000))
    return [(said(some), answer, question) for some, answer, question in drawn]


def test_an_order_is_refused_asked_about_told_of_and_still_given() -> None:
    found = {text: (answer, question) for text, answer, question in many("train")}
    told_not_to = {a for text, a, _ in many("train") if " don't " in text and a and "won't" in a}
    assert {"Okay, I won't.", "All right, I won't."} <= told_not_to
    assert found["don't turn on the lamp please"][0] in mentions.GROUPS[0].answers
    assert found["how do i turn on the lamp please"][1]
    assert "i already turned on the lamp please" in found
    assert "thanks for turning on the lamp please" in found
    assert found["why don't you turn on the lamp please"] == (None, False)


def test_a_split_has_frames_of_its_own() -> None:
    train, heldout = ({text for text, _, _ in many(split)} for split in ("train", "heldout"))
    assert train and heldout and not train & heldout
    assert {answer is None for _, answer, _ in many("heldout")} == {True, False}


@pytest.mark.parametrize(
    ("pieces", "fits"),
    [
        ([Piece("set a timer for "), Piece("ten minutes", "duration")], True),
        ([Piece("what time is it")], False),
        ([Piece("can you set a timer")], False),
        ([Piece("forget the "), Piece("milk", "item")], False),
        ([Piece("stop")], False),
        ([Piece("check", "item"), Piece(" it")], False),
        ([Piece("show the list?")], False),
        ([], False),
    ],
)
def test_only_an_order_can_be_framed(pieces: list[Piece], fits: bool) -> None:
    assert mentions.is_mentionable(pieces) is fits
