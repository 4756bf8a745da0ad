from pathlib import Path
from random import Random

import pytest

from dlm.datagen.values import Values
from dlm.datagen.words import WORDS


def test_open_lists_are_mixed_with_inventions_and_closed_ones_are_not() -> None:
    values, rng = Values(), Random(1)
    items = {values.draw("item", rng) for _ in range(400)}
    assert items - set(WORDS["item"])
    assert {values.draw("size", rng) for _ in range(400)} <= set(WORDS["size"])


def test_alternatives_are_drawn_from_the_kind_itself() -> None:
    assert Values().draw("low|high", Random(0)) in ("low", "high")


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'nonsense'"):
        Values().draw("nonsense", Random(0))


def test_the_corpora_widen_the_lists(corpora: Path) -> None:
    wide = Values(corpora)
    assert len(wide.known("place")) > 10_000
    assert len(wide.known("company")) > 200
    assert all(value.isascii() for value in wide.known("place"))


def test_share_alike_lists_need_the_option(corpora: Path) -> None:
    assert not Values(corpora).known("address")
    assert Values(corpora, share_alike=True).known("address")
