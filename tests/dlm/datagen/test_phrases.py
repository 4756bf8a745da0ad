"""Templates expand, orders are told from questions, and people put words around them."""

from __future__ import annotations

from random import Random

import pytest

from dlm.datagen.phrases import Piece, Template, fill, is_order, polite, template, tidy


def readings(source: str) -> set[str]:
    rng = Random(1)
    parsed = Template(source)
    return {tidy("".join(p.text or p.slot for p in parsed.expand(rng))) for _ in range(200)}


def test_choices_and_options_give_every_reading() -> None:
    assert readings("(a|b [c])") == {"a", "b", "b c"}
    assert readings("x [y|z]") == {"x", "x y", "x z"}


def test_slots_are_pieces_of_their_own() -> None:
    pieces = template("set {duration} now").expand(Random(0))
    assert pieces == [Piece("set "), Piece("", "duration"), Piece(" now")]
    assert template("a [{b}] ({c}|{d})").slots == {"b", "c", "d"}


@pytest.mark.parametrize("source", ["(a", "a]", "[a|b", "(a|(b)"])
def test_unbalanced_brackets_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match="balanced"):
        Template(source)


def test_fill_takes_fields_and_closes_up_punctuation() -> None:
    assert fill("{a} , [ ] {b} .", Random(3), {"a": "one", "b": "two"}) == "one, two."
    with pytest.raises(KeyError):
        fill("{missing}", Random(0), {})


@pytest.mark.parametrize(
    ("source", "order"),
    [
        ("!{order}", True),
        ("set a timer", True),
        ("(turn|switch) {state}", True),
        ("what time is it?", False),
        ("{duration} timer", False),
        ("(is|are) there timers?", False),
    ],
)
def test_orders_are_told_from_the_rest(source: str, order: bool) -> None:
    assert is_order(source) is order


def test_about_half_of_the_orders_stay_bare_and_slots_stay_whole() -> None:
    rng = Random(1)
    order = [Piece("call "), Piece("anna", "person")]
    said = [polite(rng, order) for _ in range(400)]
    assert all([p for p in pieces if p.slot] == [order[1]] for pieces in said)
    bare = sum(pieces == order for pieces in said)
    assert 150 < bare < 250
    assert any(p[0].text == "please " for p in said) and any(p[-1].text == " please" for p in said)
