from dlm.datagen.grammar import Piece
from dlm.datagen.spans import (
    adjacent,
    conversion,
    day,
    duration,
    expression,
    find,
    moment,
    pieces,
    tokens,
)


def said(text: str, span: tuple[int, int] | None) -> str | None:
    return " ".join(text.split()[span[0] : span[1]]) if span else None


def test_find_wants_one_place_alone() -> None:
    words = tokens("Add milk, milk to the List.")
    assert find(words, "the list") == (4, 6) or find(words, "the list") == (3, 5)
    assert find(words, "milk") is None
    assert find(words, "bread") is None


def test_values_are_found_by_reading() -> None:
    text = "please set a 25 minute timer for me"
    assert said(text, duration(tokens(text))) == "25 minute"
    text = "wake me up tomorrow at seven thirty"
    assert said(text, moment(tokens(text))) == "tomorrow at seven thirty"
    text = "what is the weather next friday in rome"
    assert said(text, day(tokens(text))) == "next friday"
    text = "tell me what is twelve times seven please"
    assert said(text, expression(tokens(text))) == "twelve times seven"
    assert duration(tokens("set a timer")) is None


def test_a_sum_may_be_as_long_as_the_sentence() -> None:
    number = "one hundred and forty eight thousand five hundred and eighty seven"
    text = f"what is the square root of {number}"
    assert said(text, expression(tokens(text))) == f"square root of {number}"


def test_conversion_needs_an_amount() -> None:
    spans = conversion(tokens("how many feet are in 50 yards"), money=False)
    assert spans == {"from_unit": (6, 7), "to_unit": (2, 3), "amount": (5, 6)}
    assert conversion(tokens("yards to feet"), money=False) is None


def test_pieces_cut_the_sentence_at_its_spans() -> None:
    assert pieces("add Milk to it", {"item": (1, 2)}) == [
        Piece("add"), Piece("Milk", "item"), Piece("to it"),
    ]  # fmt: skip
    assert pieces("a b c", {"x": (0, 2), "y": (1, 3)}) is None
    assert adjacent([(2, 3), (0, 2)]) == (0, 3)
    assert adjacent([(0, 1), (2, 3)]) is None
