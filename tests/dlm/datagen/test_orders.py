from random import Random

import pytest

from dlm.datagen import orders
from dlm.datagen.grammar import template
from dlm.datagen.holdout import NothingHeldOutError, held_out


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_orders_belong_to_their_split_and_name_a_drink(split: str) -> None:
    rng = Random(1)
    found = [orders.compose(rng, split) for _ in range(200)]
    assert all(held_out(o) == (split == "heldout") for o in found)
    assert all("drink" in template(o).slots for o in found)
    assert len(set(found)) > 150


def test_parts_are_not_repeated() -> None:
    rng = Random(2)
    for _ in range(300):
        source = orders.compose(rng, "train")
        assert all(source.count(f"{{{slot}}}") == 1 for slot in template(source).slots)


def test_half_of_the_orders_to_learn_from_are_long() -> None:
    rng = Random(3)

    def parts(split: str) -> float:
        return sum(len(template(orders.compose(rng, split)).slots) for _ in range(400)) / 400

    assert parts("train") > parts("heldout") + 0.3


def test_numbers_of_drinks_and_shots_of_flavors_are_for_training() -> None:
    rng = Random(4)
    found = {s: " ".join(orders.compose(rng, s) for _ in range(400)) for s in ("train", "heldout")}
    assert "{many}" in found["train"] and "{flavor}" in found["train"]
    assert "{many}" not in found["heldout"] and "{flavor}" not in found["heldout"]


def test_a_split_that_is_never_drawn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "held_out", lambda source: False)
    with pytest.raises(NothingHeldOutError, match="heldout"):
        orders.compose(Random(1), "heldout")
