from __future__ import annotations

import pytest

from voice.tools.builtin.units import convert_units
from voice.tools.registry import ToolError
from voice.tools.scope import SessionScope


@pytest.mark.parametrize(
    ("amount", "source", "target", "answer"),
    [
        ("five", "miles", "kilometers", "5 miles is 8.05 kilometers."),
        ("a", "mile", "feet", "1 mile is 5280 feet."),
        ("half a", "kilo", "ounces are", "0.5 kilograms is 17.64 ounces."),
        ("two and a half", "pounds", "kilos", "2.5 pounds is 1.13 kilograms."),
        ("seventy two", "fahrenheit", "celsius", "72 degrees Fahrenheit is 22.22 degrees Celsius."),
        (
            "zero",
            "degrees celsius",
            "degrees fahrenheit",
            "0 degrees Celsius is 32 degrees Fahrenheit.",
        ),
        ("minus forty", "celsius", "fahrenheit", "-40 degrees Celsius is -40 degrees Fahrenheit."),
        ("one hundred", "degrees", "celsius", "100 degrees Fahrenheit is 37.78 degrees Celsius."),
        ("five", "degrees", "fahrenheit", "5 degrees Celsius is 41 degrees Fahrenheit."),
        ("three", "cups", "ounces", "3 cups is 24 fluid ounces."),
        ("ten", "ounces", "grams", "10 ounces is 283.5 grams."),
        ("a hundred", "square feet", "square meters", "100 square feet is 9.29 square meters."),
        ("one", "inch", "centimeters", "1 inch is 2.54 centimeters."),
        ("ten", "stone", "kilograms", "10 stone is 63.5 kilograms."),
        ("two", "hours", "minutes", "2 hours is 120 minutes."),
        ("two", "gigabytes", "megabytes", "2 gigabytes is 2000 megabytes."),
        ("100", "km/h", "mph", "100 kilometers per hour is 62.14 miles per hour."),
        ("10", "m/s", "km/h", "10 meters per second is 36 kilometers per hour."),
        ("72", "F", "C", "72 degrees Fahrenheit is 22.22 degrees Celsius."),
        ("0", "°C", "°F", "0 degrees Celsius is 32 degrees Fahrenheit."),
        ("3", "tbsp", "tsp", "3 tablespoons is 9 teaspoons."),
        ("2", "qt", "pt", "2 quarts is 4 pints."),
        ("8", "fl oz", "cups", "8 fluid ounces is 1 cup."),
        (
            "three fifty",
            "fahrenheit",
            "celsius",
            "350 degrees Fahrenheit is 176.67 degrees Celsius.",
        ),
        ("250", "mil", "cups", "250 milliliters is 1.06 cups."),
        ("45", "newton metres", "foot pounds", "45 newton metres is 33.19 foot pounds."),
        ("32", "psi", "bar", "32 psi is 2.21 bars."),
        (
            "38",
            "miles an hour",
            "metres per second",
            "38 miles per hour is 16.99 meters per second.",
        ),
    ],
)
def test_conversions(amount: str, source: str, target: str, answer: str) -> None:
    assert convert_units(amount, source, target, scope=SessionScope("s")) == answer


@pytest.mark.parametrize(
    ("amount", "source", "target", "complaint"),
    [
        ("blue", "miles", "feet", "I could not read the amount blue."),
        ("a billion", "light years", "millimeters", "That number is too large to say."),
        ("ten", "blorps", "miles", "I could not read the unit blorps."),
        ("ten", "miles", "pounds", "I cannot convert miles to pounds."),
        ("ten", "newton metres", "pounds", "I cannot convert newton metres to pounds."),
        ("ten", "feet", "degrees celsius", "I cannot convert feet to degrees Celsius."),
    ],
)
def test_what_cannot_be_converted(amount: str, source: str, target: str, complaint: str) -> None:
    with pytest.raises(ToolError) as failure:
        convert_units(amount, source, target, scope=SessionScope("s"))
    assert str(failure.value) == complaint


@pytest.mark.parametrize(
    ("amount", "source", "target", "answer"),
    [
        ("five", "foot eleven", "centimeters", "5 feet 11 inches is 180.34 centimeters."),
        ("five feet eleven", "inches", "cm", "5 feet 11 inches is 180.34 centimeters."),
        ("six", "feet and two inches", "meters", "6 feet 2 inches is 1.88 meters."),
        ("7", "pounds 4 ounces", "kilograms", "7 pounds 4 ounces is 3.29 kilograms."),
        ("180", "centimeters", "feet and inches", "180 centimeters is 5 feet 11 inches."),
        ("seventy", "kilos", "stone and pounds", "70 kilograms is 11 stone 0 pounds."),
    ],
)
def test_amounts_in_two_units(amount: str, source: str, target: str, answer: str) -> None:
    assert convert_units(amount, source, target, scope=SessionScope("s")) == answer


def test_an_amount_from_before_is_taken_whole() -> None:
    scope = SessionScope("s", said=("and in ounces", "grams in three quarters of a pound"))
    told = convert_units("three", "pound", "ounces", scope=scope)
    assert told == "0.75 pounds is 12 ounces."
