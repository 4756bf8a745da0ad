"""Enumerations are read as people write them."""

from __future__ import annotations

import pytest

from dlm.language.enumerations import extended, is_none, items, listed_numbers, listed_rows


@pytest.mark.parametrize(
    ("span", "text", "expected"),
    [
        (
            "Ellen Ward",
            "Present: Ellen Ward, Marco Rossi and Li Wei.",
            ["Ellen Ward", "Marco Rossi", "Li Wei"],
        ),
        ("Chloe and Dev", "Ada, Bruno, Chloe and Dev came.", ["Ada", "Bruno", "Chloe", "Dev"]),
        ("Dev", "Ada and Dev came.", ["Ada", "Dev"]),
        (
            "milk",
            "We need milk, eggs and two lemons from the market.",
            ["milk", "eggs", "two lemons"],
        ),
        ("Colours", "Colours: red, green, blue", ["red", "green", "blue"]),
        ("green", "Take\n- red\n- green\n", ["red", "green"]),
        ("mushrooms", "mushrooms and olives, no onions", ["mushrooms", "olives"]),
        # Remarks are no items.
        ("Ellen Ward", "Ellen Ward, the mayor, and I went", ["Ellen Ward"]),
        ("Anna and Bo", "In Paris, Anna and Bo met.", ["Anna", "Bo"]),
        ("Salter", "Apologies: Salter. Absent: Vance.", ["Salter"]),
        ("gone", "nothing", ["gone"]),
    ],
)
def test_a_span_of_an_enumeration_stands_for_it(span: str, text: str, expected: list[str]) -> None:
    assert items(extended(span, text)) == expected


@pytest.mark.parametrize(
    ("span", "text", "expected"),
    [
        ("complaints", "There were no complaints", True),
        ("no complaints", "There were no complaints", True),
        ("onions", "Pizza without any onions", True),
        ("olives", "olives, no onions", False),
        ("olives", "not today, but olives", False),
    ],
)
def test_there_is_none(span: str, text: str, expected: bool) -> None:
    assert is_none(span, text) is expected


def test_numbers() -> None:
    assert listed_numbers("The numbers are 4, 8, 15 and 42; 3 or 5.") == [[4, 8, 15, 42], [3, 5]]
    assert listed_numbers("I rolled 3, 3 and 5.") == [[3, 3, 5]]
    assert listed_numbers("Room 7, and at 9:00 we go") == []


@pytest.mark.parametrize(
    ("text", "numbers", "rows"),
    [
        (
            "The order has 2 notebooks at 4.50 each and 5 pens at 1.20 each.",
            2,
            [("notebooks", (2, 4.5)), ("pens", (5, 1.2))],
        ),
        ("Order 2 lamps and 3 chairs for Nina Holm", 1, [("lamps", (2,)), ("chairs", (3,))]),
        (
            "Ellen is 41 years old and Marco is 29 years old",
            1,
            [("Ellen", (41,)), ("Marco", (29,))],
        ),
        ("milk: 2, eggs: 12", 1, [("milk", (2,)), ("eggs", (12,))]),
        ("2 lamps at 30 and 3 chairs", 1, []),
        ("2 lamps", 1, []),
    ],
)
def test_things_with_numbers(text: str, numbers: int, rows: list[object]) -> None:
    assert listed_rows(text, numbers) == rows
