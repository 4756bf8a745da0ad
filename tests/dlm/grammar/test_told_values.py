"""Arrays and numbers that a text gives a schema in a form of its own."""

from __future__ import annotations

from typing import Any

import pytest

from dlm.grammar.told_values import among, told_values

NUMBER, WORDS = {"type": "number"}, {"type": "string"}
TOPPINGS = {"enum": ["mushrooms", "olives", "onions", "ham"]}


def rows(**parts: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parts, "required": list(parts)}


@pytest.mark.parametrize(
    ("items", "text", "expected"),
    [
        (NUMBER, "They are 4, 8 and 15.", [[4, 8, 15]]),
        (NUMBER, "It is 4.", []),
        (TOPPINGS, "mushrooms and olives, no onions please", [["mushrooms", "olives"]]),
        (TOPPINGS, "mushrooms and olives " * 30, []),
        (
            rows(name=WORDS, n=NUMBER),
            "2 lamps and 3 chairs",
            [[{"name": "lamps", "n": 2}, {"name": "chairs", "n": 3}]],
        ),
        (rows(name=WORDS, city=WORDS, n=NUMBER), "2 lamps and 3 chairs", []),
        (rows(name=WORDS), "2 lamps and 3 chairs", []),
    ],
)
def test_arrays(items: dict[str, Any], text: str, expected: list[list[Any]]) -> None:
    schema = {"type": "array", "items": items}
    assert told_values("a", schema, [text], lambda schema: lambda value: True) == expected
    assert told_values("a", schema, [text], lambda schema: lambda value: False) == []


def test_numbers_of_rows_may_be_in_any_order() -> None:
    schema = {"type": "array", "items": rows(name=WORDS, price=NUMBER, n={"type": "integer"})}

    def whole(schema: object) -> Any:
        return lambda value: all(isinstance(row["n"], int) for row in value)

    found = told_values("a", schema, ["2 pens at 4.5 and 3 cups at 1.5"], whole)
    assert found == [
        [{"name": "pens", "price": 4.5, "n": 2}, {"name": "cups", "price": 1.5, "n": 3}]
    ]


def test_a_number_in_the_scale_of_its_name() -> None:
    def told(name: str, text: str) -> list[Any]:
        return told_values(name, NUMBER, [text], lambda schema: lambda value: True)

    assert told("population_millions", "5.5 million people") == [5.5]
    assert told("salaryK", "85k a year and 2 cars") == [85]
    assert told("population", "5.5 million people") == []
    assert told("population_millions", "5 people") == []


def test_a_length_of_time_in_the_unit_of_the_name_or_description() -> None:
    def told(schema: dict[str, Any], name: str) -> list[Any]:
        return told_values(name, schema, ["for an hour and a half"], lambda schema: bool)

    assert told(NUMBER, "durationMinutes") == [90]
    assert told({"type": "integer", "description": "How long, in minutes."}, "duration") == [90]
    assert told(NUMBER, "duration") == []


def test_null_stays_possible() -> None:
    made = among({"type": ["array", "null"]}, {}, [[1]])
    assert made == {"anyOf": [{"type": "array", "oneOf": [{"enum": [[1]]}]}, {"type": "null"}]}
