"""Templates expand, orders are told from questions, and people put words around them."""

from __future__ import annotations

from random import Random

import pytest

from dlm.datagen.language.phrases import Template, is_order, tidy


def readings(source: str) -> set[str]:
    rng = Random(1)
    parsed = Template(source)
    return {tidy("".join(p.text or p.slot for p in parsed.expand(rng))) for _ in range(200)}


def test_choices_and_options_give_every_reading() -> None:
    assert readings("(a|b [c])") == {"a", "b", "b c"}
    assert readings("x [y|z]") == {"x", "x y", "x z"}


@pytest.mark.parametrize("source", ["(a", "a]", "[a|b", "(a|(b)"])
def test_unbalanced_brackets_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match="balanced"):
        Template(source)


@pytest.mark.parametrize(
    ("source", "order"),
    [
        ("!{order}", True), ("set a timer", True), ("(turn|switch) {state}", True),
        ("what time is it?", False), ("{duration} timer", False), ("(is|are) there timers?", False),
    ],
)  # fmt: skip
def test_orders_are_told_from_the_rest(source: str, order: bool) -> None:
    assert is_order(source) is order
