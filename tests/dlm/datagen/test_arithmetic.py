from random import Random

import pytest

from dlm.datagen.arithmetic import converted, evaluate, exchanged, money_text, restated, unit_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twelve times seven", 84),
        ("15 percent of 80", 12),
        ("2 plus 3 times 4", 14),
        ("half of nine", 4.5),
        ("the square root of eighty one", 9),
        ("six squared", 36),
        ("two to the power of five", 32),
        ("divide nine by three", 3),
        ("subtract four from ten", 6),
        ("a 10 percent tip on 50 dollars", 5),
        ("one over zero", None),
        ("blue times two", None),
        ("seven", None),
    ],
)
def test_evaluate(text: str, value: float | None) -> None:
    assert evaluate(text) == value


def test_restated_turns_orders_into_sums() -> None:
    assert restated("Multiply five by twenty-six") == "5 times 26"


@pytest.mark.parametrize(
    ("count", "source", "target", "value"),
    [
        (5, "miles", "kilometers", 8.04672),
        (0, "celsius", "fahrenheit", 32),
        (212, "fahrenheit", "celsius", 100),
        (1, "foot", "inches", 12),
        (3, "km", "meters", 3000),
    ],
)
def test_converted(count: float, source: str, target: str, value: float) -> None:
    assert converted(count, source, target) == pytest.approx(value)


def test_units_that_do_not_measure_the_same_are_not_converted() -> None:
    assert converted(1, "miles", "grams") is None
    assert converted(1, "smoots", "feet") is None


def test_amounts_are_written_as_the_tools_do() -> None:
    assert unit_text(1, "miles") == "1 mile"
    assert unit_text(8.0467, "kilometers") == "8.05 kilometers"
    assert unit_text(20, "celsius") == "20 degrees Celsius"
    assert money_text(20, "dollars") == "20 dollars"
    assert money_text(1.7, "euros") == "1.70 euros"


def test_exchange_stays_near_the_usual_rate_and_knows_any_name() -> None:
    rng = Random(0)
    assert exchanged(100, "dollars", "euros", rng) == pytest.approx(100 / 1.168, rel=0.04)
    assert exchanged(1, "smackers", "dollars", rng) > 0
