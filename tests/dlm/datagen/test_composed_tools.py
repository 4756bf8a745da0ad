"""Composed tools are new for each dialogue, and none that is kept unseen is in training."""

from __future__ import annotations

from random import Random

from dlm.datagen.holdout import unseen
from dlm.datagen.unfamiliar import composed_tools
from dlm.datagen.unfamiliar.composed_tools import (
    THINGS,
    ComposedTool,
    answer,
    compose,
    reply,
    request,
)
from dlm.datagen.values.slots import Values


def tools(split: str = "train") -> list[ComposedTool]:
    rng = Random(4)
    return [compose(rng, split) for _ in range(400)]


def test_things_of_the_splits_are_apart() -> None:
    assert not any(composed_tools.kept(name) for t in tools() for name in t.thing)
    assert all(unseen(t.thing[0]) for t in tools("heldout"))


def test_a_reply_says_no_number_that_the_result_lacks() -> None:
    rng, values = Random(3), Values()
    for tool in tools():
        said = {p.slot: p.text for p in request(tool, rng, values, digits=True) if p.slot}
        result = answer(tool, said, rng)
        if result.error:
            continue
        text = reply(tool, result, rng)
        assert "{" not in text and "NOUN" not in text
        known = result.text + " ".join(said.values())
        numbers = [w.strip(".,") for w in text.split() if w.strip(".,").replace(".", "").isdigit()]
        assert all(n in known for n in numbers), (result.text, text)


def test_training_never_names_what_the_tables_keep_unseen() -> None:
    rng = Random(1)
    hidden = {names[0] for group in THINGS for names in THINGS[group] if unseen(names[0])}
    for group in (*THINGS, composed_tools.ANY):
        for _ in range(300):
            for name in composed_tools.draw_thing(rng, group, "train"):
                assert not composed_tools.kept(name) and name not in hidden


def test_the_held_out_split_names_nothing_else() -> None:
    rng = Random(2)
    for group in THINGS:
        assert all(unseen(composed_tools.draw_thing(rng, group, "heldout")[0]) for _ in range(50))
