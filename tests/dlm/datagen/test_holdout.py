"""A hash decides what is held out."""

from __future__ import annotations

from random import Random

import pytest

from dlm.datagen.holdout import NothingHeldOutError, held_out, members, pick, unseen

OPTIONS = tuple(f"option {i}" for i in range(200))


def test_splits_are_disjoint_complete_and_about_a_twentieth() -> None:
    train, rest = members(OPTIONS, "train"), members(OPTIONS, "heldout")
    assert set(train) | set(rest) == set(OPTIONS)
    assert not set(train) & set(rest)
    assert 2 <= len(rest) <= 25
    assert all(held_out(option) for option in rest)


def test_short_lists_are_for_training_alone() -> None:
    assert members(OPTIONS[:7], "train") == OPTIONS[:7]
    with pytest.raises(NothingHeldOutError):
        pick(Random(0), OPTIONS[:7], "heldout")


def test_the_hash_is_fixed() -> None:
    assert [i for i in range(60) if held_out(str(i))] == [6, 37, 40]
    assert pick(Random(1), OPTIONS, "heldout") in members(OPTIONS, "heldout")


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'test'"):
        members(OPTIONS, "test")


def test_a_tenth_of_all_things_is_never_seen_in_training() -> None:
    assert 0.06 < sum(unseen(f"thing {i}") for i in range(2000)) / 2000 < 0.14
    assert unseen("flight") and not unseen("invoice")
