"""Slot values are drawn from lists, corpora and chance."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from random import Random

import pytest

from dlm.datagen.language import spoken_values as said
from dlm.datagen.language.spoken_sums import evaluate
from dlm.datagen.language.words import WORDS
from dlm.datagen.values.slots import Values
from dlm.language.spoken_numbers import number


def test_open_lists_are_mixed_with_inventions_and_closed_ones_are_not() -> None:
    values, rng = Values(), Random(1)
    items = {values.draw("item", rng) for _ in range(400)}
    assert items - set(WORDS["item"])
    assert {values.draw("size", rng) for _ in range(400)} <= set(WORDS["size"])


def test_share_alike_lists_need_the_option(corpora: Path) -> None:
    assert not Values(corpora).known("address")
    assert Values(corpora, share_alike=True).known("address")


VALUES = Values()


@pytest.mark.parametrize("digits", [False, True])
def test_what_is_said_can_be_read(digits: bool) -> None:
    rng = Random(6)
    now = datetime(2026, 11, 21, 10, 30)
    for _ in range(300):
        assert said.duration(VALUES.draw("duration", rng, digits))
        assert said.when(VALUES.draw("when", rng, digits), now)
        assert said.day(VALUES.draw("day", rng, digits), now.date())
        assert number(VALUES.draw("amount", rng, digits)) is not None
        assert evaluate(VALUES.draw("expression", rng, digits)) is not None
        assert evaluate(VALUES.draw("sum_order", rng, digits)) is not None
