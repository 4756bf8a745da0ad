from __future__ import annotations

from datetime import date, datetime, timedelta
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


def test_money() -> None:
    assert phrasing.money(Decimal("17.124")) == "17.12"
    assert phrasing.money(Decimal("17.1")) == "17.10"
    assert phrasing.money(Decimal("20.0")) == "20"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (600, "10 minutes"),
        (60, "1 minute"),
        (570, "9 minutes 30 seconds"),
        (5400, "1 hour 30 minutes"),
        (90_061, "1 day 1 hour 1 minute 1 second"),
        (0.2, "0 seconds"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    assert phrasing.duration(timedelta(seconds=seconds)) == said


@pytest.mark.parametrize(
    ("hour", "said"), [(0, "12:05 AM"), (9, "9:05 AM"), (12, "12:05 PM"), (15, "3:05 PM")]
)
def test_times(hour: int, said: str) -> None:
    assert phrasing.time(datetime(2026, 1, 1, hour, 5)) == said


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


def test_full_dates() -> None:
    assert phrasing.full_date(NOW.date()) == "Saturday, November 21, 2026"


def test_lists() -> None:
    assert phrasing.joined([]) == ""
    assert phrasing.joined(["milk"]) == "milk"
    assert phrasing.joined(["milk", "eggs"]) == "milk and eggs"
    assert phrasing.joined(["milk", "eggs", "bread"], last="or") == "milk, eggs or bread"
    assert phrasing.counted(1, "item") == "1 item"
    assert phrasing.counted(3, "item") == "3 items"


def test_names_and_sentences() -> None:
    assert phrasing.name("new york") == "New York"
    assert phrasing.name("rio de janeiro") == "Rio de Janeiro"
    assert phrasing.name("McCoy") == "McCoy"
    assert phrasing.name("la paz") == "La Paz"
    assert phrasing.sentence("milk is here") == "Milk is here"
    assert phrasing.sentence("") == ""
