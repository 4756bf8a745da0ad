from random import Random

from dlm.datagen import moves_coffee
from dlm.datagen.script import Script
from dlm.datagen.values import Values

VALUES = Values()
LATTE = {"drink": "latte", "milk": "oat milk", "sweetener": "a bit of honey"}


def script(seed: int = 1) -> Script:
    """A dialogue in which a latte has just been ordered."""
    for attempt in range(seed, seed + 50):
        talk = Script(Random(attempt), VALUES, "train")
        talk.answer([("order_drink", dict(LATTE))])
        if talk.world.order:
            return talk
    raise AssertionError("the latte was refused 50 times")


def test_a_swap_takes_the_old_drink_away() -> None:
    talk = script()
    assert moves_coffee.swap(talk)
    assert [c["name"] for c in talk.messages[-4]["tool_calls"]] == ["remove_drink", "order_drink"]
    assert all(ordered["drink"] != "latte" for ordered in talk.world.order) or talk.world.order


def test_what_is_left_out_is_gone_and_the_rest_stays() -> None:
    talk = script()
    assert moves_coffee.without(talk)
    after = talk.messages[-4]["tool_calls"][1]["arguments"]
    assert after["drink"] == "latte" and len(after) == 2


def test_the_same_again() -> None:
    talk = script(7)
    assert moves_coffee.again(talk)
    after = talk.messages[-3]["tool_calls"][0]["arguments"]
    assert LATTE.items() <= after.items()


def test_the_whole_order_can_be_taken_back() -> None:
    talk = script()
    assert moves_coffee.clear(talk)
    assert talk.world.order == [] and talk.last is None


def test_without_an_order_nothing_of_this_happens() -> None:
    empty = Script(Random(0), VALUES, "train")
    for move in (moves_coffee.swap, moves_coffee.without, moves_coffee.again, moves_coffee.clear):
        assert not move(empty)
    assert empty.messages == []
