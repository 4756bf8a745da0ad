from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from tests.voice.tools.services import NOW
from voice.tools import phrasing


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("84", "84"),
        ("8.04672", "8.05"),
        ("0.125", "0.125"),
        ("2.50", "2.5"),
        ("3.3333333", "3.33"),
        ("0.3333333", "0.333"),
        ("0.00012345", "0.000123"),
        ("-40.0", "-40"),
        ("1000000", "1000000"),
        ("0", "0"),
        ("-0.0", "0"),
        ("29.999999999", "30"),
    ],
)
def test_numbers(value: str, said: str) -> None:
    assert phrasing.number(Decimal(value)) == said


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (date(2026, 11, 21), "3:42 PM today"),
        (date(2026, 11, 22), "3:42 PM tomorrow"),
        (date(2026, 11, 20), "3:42 PM yesterday"),
        (date(2026, 11, 27), "3:42 PM on Friday, November 27"),
        (date(2027, 3, 3), "3:42 PM on Wednesday, March 3, 2027"),
    ],
)
def test_moments(day: date, said: str) -> None:
    assert phrasing.moment(NOW.replace(year=day.year, month=day.month, day=day.day), NOW) == said


def test_names_durations_and_lists() -> None:
    assert phrasing.name("rio de janeiro") == "Rio de Janeiro"
    assert phrasing.name("McCoy in la paz") == "McCoy In la Paz"
    assert phrasing.name("la paz") == "La Paz"
    assert phrasing.duration(timedelta(seconds=90_061)) == "1 day 1 hour 1 minute 1 second"
    assert phrasing.duration(timedelta(seconds=0.2)) == "0 seconds"
    assert phrasing.joined([]) == ""
    assert phrasing.joined(["milk", "eggs", "bread"], last="or") == "milk, eggs or bread"
    assert phrasing.time(NOW.replace(hour=0, minute=5)) == "12:05 AM"
    assert phrasing.time(NOW.replace(hour=12)) == "12:42 PM"
    assert phrasing.money(Decimal("17.1")) == "17.10"
