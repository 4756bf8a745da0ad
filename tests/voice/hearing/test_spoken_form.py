"""Written transcripts as the words that were said, and those words read back."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from decimal import Decimal

import pytest
from babel.dates import format_time
from babel.numbers import format_currency, format_decimal, format_percent
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from voice.hearing.spoken_form import in_figures, spoken_form
from voice.tools.spoken_dates import moment
from voice.tools.spoken_numbers import amount

NUMBERS = ["zero", "one", "ten", "forty", "hundred", "thousand", "point", "half", "third", "and"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("A 12-ounce iced latte, with 2 shots.", "a twelve ounce iced latte with two shots"),
        ("Wake me at 7:30 AM, please!", "wake me at seven thirty a m please"),
        ("Add 2% milk... and 1/2 cup?", "add two percent milk and one half cup"),
        ("It's $5.50, not £3", "it's five dollars and fifty cents not three pounds"),
        ("on the 21st, or on May 1st", "on the twenty first or on may first"),
        ("Salt & pepper - Mr. Hill's own-brand", "salt and pepper mister hill's own brand"),
        ("...", ""),
    ],
)  # fmt: skip
def test_what_whisper_writes(written: str, said: str) -> None:
    assert spoken_form(written) == said


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Set a timer for ten minutes.", "Set a timer for 10 minutes."),
        ("What is twelve times seven?", "What is 12 times 7?"),
        ("A 12-ounce latte and thirty-five more", "A 12-ounce latte and 35 more"),
        ("Wake me at six thirty on the twenty-first.",) * 2,
        ("At seven thirty a.m., please.", "At 7:30 a.m., please."),
        ("Half a million for one of them",) * 2,
        ("Wake me at two thirty p m.", "Wake me at 2:30 p.m."),
        ("at seven a m or so", "at 7 a.m. or so"),
    ],
)
def test_numbers_are_shown_in_figures(written: str, shown: str) -> None:
    assert in_figures(written) == shown


@given(st.lists(st.sampled_from(NUMBERS) | st.from_regex(r"[A-Za-z,.]{1,5}", fullmatch=True)))
def test_figures_are_the_words_that_were_said(words: list[str]) -> None:
    written = " ".join(words)
    assert spoken_form(in_figures(written)) == spoken_form(written)


@given(st.lists(st.from_regex(r"[a-z]{1,9}('s)?", fullmatch=True), max_size=9))
def test_spoken_words_stay_as_they_are(words: list[str]) -> None:
    assert spoken_form(" ".join(words)) == " ".join(words)


@given(st.text(max_size=60))
def test_the_spoken_form_of_anything_is_its_own(written: str) -> None:
    said = spoken_form(written)
    assert spoken_form(said) == said
    assert said == " ".join(said.split())


@given(st.integers(0, 999_999))
def test_numbers_are_read_and_read_back(number: int) -> None:
    said = spoken_form(format_decimal(number, locale="en_US"))
    assert amount(said) == number
    assert spoken_form(num2words(number, to="ordinal")) == spoken_form(
        num2words(number, to="ordinal_num")
    )


@given(st.decimals(0, 9999, places=2))
def test_money_is_read_and_read_back(price: Decimal) -> None:
    said = spoken_form(format_currency(price, "USD", locale="en_US"))
    dollars = re.match("(.*?) dollars?", said)
    cents = re.search("(?:dollars? and |^)((?:(?!dollar).)*) cents?$", said)
    read = sum(amount(part[1]) * unit for part, unit in ((dollars, 100), (cents, 1)) if part)
    assert read == price * 100


@given(st.integers(0, 100))
def test_percentages_are_read_and_read_back(percent: int) -> None:
    said = spoken_form(format_percent(percent / 100, locale="en_US"))
    assert said.endswith(" percent")
    assert amount(said.removesuffix(" percent")) == percent


@given(st.times())
def test_times_are_read_and_read_back(at: time) -> None:
    said = spoken_form(format_time(at, "h:mm a", locale="en_US"))
    read = moment(said, datetime(2026, 3, 2, tzinfo=UTC)).moment
    assert (read.hour, read.minute) == (at.hour, at.minute)
