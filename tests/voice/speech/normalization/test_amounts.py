from __future__ import annotations

import pytest

from voice.speech.normalization import spoken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$1", "one dollar"),
        ("$0.99", "ninety nine cents"),
        ("$0.01", "one cent"),
        ("$0", "zero dollars"),
        ("$1,234.56", "one thousand two hundred and thirty four dollars and fifty six cents"),
        ("-$5", "minus five dollars"),
        ("$1.5 million", "one point five million dollars"),
        ("$5k and €3bn", "five thousand dollars and three billion euros"),
        ("£1.01", "one pound and one penny"),
        ("20 €", "twenty euros"),
        ("$5/month", "five dollars per month"),
        ("5 USD", "five US dollars"),
        ("CHF 20", "twenty Swiss francs"),
        ("$20-$30", "twenty dollars to thirty dollars"),
        ("0.86 euros", "zero point eight six euros"),
        ("17.12 euros", "seventeen euros and twelve cents"),
        ("50¢", "fifty cents"),
        ("$0.005", "zero point zero zero five dollars"),
    ],
)
def test_money(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 km", "five kilometers"),
        ("1 km", "one kilometer"),
        ("5km.", "five kilometers."),
        ("12°C", "twelve degrees Celsius"),
        ("-5 °F", "minus five degrees Fahrenheit"),
        ("12°", "twelve degrees"),
        ("30%", "thirty percent"),
        ("60 km/h and 5 m/s", "sixty kilometers per hour and five meters per second"),
        ("3 mg/l", "three milligrams per liter"),
        ("5 m²", "five square meters"),
        ("6'2\"", "six feet two inches"),
        ("5 min.", "five minutes."),
        (
            'a 12" pizza, 65" TV, 12".',
            "a twelve inch pizza, sixty five inch T V, twelve inches.",
        ),
        ("16 GB", "sixteen gigabytes"),
        ("at 5 in the morning", "at five in the morning"),
    ],
)
def test_measures(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("½ tsp salt", "one half teaspoon salt"),
        ("1½ tsp", "one and a half teaspoons"),
        ("1/4 lb", "one quarter pound"),
        ("1h 30m", "one hour thirty minutes"),
        ("6' 2\"", "six feet two inches"),
        ("40 sq ft", "forty square feet"),
        ("500 mcg", "five hundred micrograms"),
        ("16 fl oz", "sixteen fluid ounces"),
        ("≈ 10 km", "about ten kilometers"),
    ],
)
def test_parts_and_pairs_of_measures(text: str, said: str) -> None:
    assert spoken(text) == said
