"""Numbers, times, sums and money are read and written as people say them."""

from __future__ import annotations

from datetime import date, datetime
from random import Random

import pytest

from dlm.datagen.language import spoken_values as said
from dlm.datagen.language.spoken_sums import converted, evaluate, exchanged

NOW = datetime(2026, 11, 21, 10, 30)
TODAY = NOW.date()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("ten minutes", 600), ("an hour and a half", 5400), ("half an hour", 1800), ("90 secs", 90),
        ("one hour and twenty minutes", 4800), ("2 hours 5 minutes", 7500),
        ("a couple of minutes", 120), ("two and a half hours", 9000), ("blue", None), ("ten", None),
        ("minutes", None),
    ],
)  # fmt: skip
def test_duration(text: str, seconds: int | None) -> None:
    assert said.duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("today", date(2026, 11, 21)),
        ("tomorrow", date(2026, 11, 22)),
        ("friday", date(2026, 11, 27)),
        ("on friday", date(2026, 11, 27)),
        ("christmas", date(2026, 12, 25)),
        ("in three days", date(2026, 11, 24)),
        ("may 3", date(2027, 5, 3)),
        ("yesterday", date(2026, 11, 20)),
        ("purple", None),
    ],
)
def test_day(text: str, found: date | None) -> None:
    assert said.day(text, TODAY) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("seven am tomorrow", datetime(2026, 11, 22, 7)),
        ("half past six", datetime(2026, 11, 21, 18, 30)),
        ("tomorrow at quarter to nine", datetime(2026, 11, 22, 8, 45)),
        ("11:15", datetime(2026, 11, 21, 11, 15)),
        ("in twenty minutes", datetime(2026, 11, 21, 10, 50)),
        ("friday at noon", datetime(2026, 11, 27, 12)),
        ("seven thirty p m", datetime(2026, 11, 21, 19, 30)),
        ("this evening at eight", datetime(2026, 11, 21, 20)),
        ("soon", None),
    ],
)
def test_when(text: str, found: datetime | None) -> None:
    assert said.when(text, NOW) == found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twelve times seven", 84), ("15 percent of 80", 12), ("2 plus 3 times 4", 14),
        ("half of nine", 4.5), ("the square root of eighty one", 9), ("six squared", 36),
        ("two to the power of five", 32), ("divide nine by three", 3),
        ("subtract four from ten", 6), ("a 10 percent tip on 50 dollars", 5),
        ("one over zero", None), ("blue times two", None), ("seven", None),
    ],
)  # fmt: skip
def test_evaluate(text: str, value: float | None) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("count", "source", "target", "value"),
    [
        (5, "miles", "kilometers", 8.04672), (0, "celsius", "fahrenheit", 32),
        (212, "fahrenheit", "celsius", 100), (1, "foot", "inches", 12), (3, "km", "meters", 3000),
    ],
)  # fmt: skip
def test_converted(count: float, source: str, target: str, value: float) -> None:
    assert converted(count, source, target) == pytest.approx(value)


def test_exchange_stays_near_the_usual_rate_and_knows_any_name() -> None:
    rng = Random(0)
    assert exchanged(100, "dollars", "euros", rng) == pytest.approx(100 / 1.168, rel=0.04)
    assert exchanged(1, "smackers", "dollars", rng) > 0
