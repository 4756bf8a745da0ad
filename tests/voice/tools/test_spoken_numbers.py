from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from voice.tools.registry import ToolError, Unreadable
from voice.tools.spoken_numbers import amount, digits, duration


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("ten minutes", 600),
        ("a ten minute timer", 600),
        ("twenty-five minutes", 1500),
        ("for 5 min", 300),
        ("an hour", 3600),
        ("half an hour", 1800),
        ("a quarter of an hour", 900),
        ("three quarters of an hour", 2700),
        ("one and a half hours", 5400),
        ("an hour and three quarters", 6300),
        ("one hour thirty", 5400),
        ("an hour and ten minutes", 4200),
        ("five minutes thirty", 330),
        ("point five hours", 1800),
        ("a couple of minutes", 120),
        ("twenty minutes from now", 1200),
    ],
)
def test_durations(said: str, seconds: float) -> None:
    assert duration(said) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "said",
    [
        *("blue", "", "ten", "zero minutes", "ten minutes and blue", "half past seven"),
        *("900 days", "99999999999999999999 hours", "1e30 weeks", "0.00000001 seconds"),
    ],
)
def test_what_is_no_duration_is_named(said: str) -> None:
    with pytest.raises(Unreadable) as failure:
        duration(said)
    assert str(failure.value) == f"I could not read the duration {said}."


@given(st.integers(1, 24), st.integers(1, 59))
def test_hours_and_minutes_in_words_add_up(hours: int, minutes: int) -> None:
    said = f"{num2words(hours)} hours and {num2words(minutes)} minutes"
    assert duration(said) == timedelta(hours=hours, minutes=minutes)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("twenty", "20"),
        ("three and a quarter", "3.25"),
        ("half a", "0.5"),
        ("three quarters", "0.75"),
        ("minus five", "-5"),
        ("1,200", "1200"),
        ("one hundred and forty four", "144"),
        ("a million", "1000000"),
        ("3 million", "3000000"),
        ("two and a half million", "2500000"),
        ("a million and a half", "1500000"),
        ("half a million", "500000"),
        ("one point oh five", "1.05"),
        ("a dozen", "12"),
        ("half a dozen", "6"),
        ("point five", "0.5"),
        ("$20", "20"),
        ("a couple of", "2"),
    ],
)
def test_amounts(said: str, value: str) -> None:
    assert amount(said) == Decimal(value)


@pytest.mark.parametrize(
    "said",
    ["blue", "", "nan", "inf", "five six", "five minutes", "9" * 25, "1e24", "1e-25", "1e99999999"],
)
def test_what_is_no_amount_is_named(said: str) -> None:
    with pytest.raises(Unreadable) as failure:
        amount(said, "quantity")
    assert str(failure.value) == f"I could not read the quantity {said}."


def test_nothing_has_no_size() -> None:
    assert str(amount("0e99999999")) == "0"


@given(st.integers(0, 999_999_999))
def test_any_number_in_words_is_read_back(number: int) -> None:
    assert amount(num2words(number)) == number


def test_fractions_and_ordinals_only_where_they_are_meant() -> None:
    assert digits("two and a half times four", fractions=False) == "2 and a half times 4"
    assert digits("half past seven") == "half past 7"
    assert digits("a quarter to seven") == "a quarter to 7"
    assert digits("december twenty second", ordinals=True) == "december 22nd"
    assert digits("one second") == "1 second"


def test_nobody_says_that_much() -> None:
    assert digits("a" * 300) == "a" * 300
    for read in (amount, duration, digits):
        with pytest.raises(ToolError, match=r"^That is too long to be read\.$"):
            read("9" * 301)


@pytest.mark.parametrize(
    "said", ["ten minutes and an hour", "ten minutes and twenty minutes", "eleven minutes one"]
)
def test_several_lengths_are_no_length(said: str) -> None:
    with pytest.raises(Unreadable):
        duration(said)


@given(st.text(max_size=60))
def test_any_text_is_read_or_named(said: str) -> None:
    for read in (amount, duration):
        try:
            read(said)
        except Unreadable as failure:
            assert said in str(failure)
