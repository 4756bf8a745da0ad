"""Numbers are read, written and found as people say them."""

from __future__ import annotations

import time

import pytest

from dlm.language.spoken_numbers import (
    is_unread,
    number,
    numbers_in,
    scaled_in,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a hundred", 100),
        ("two point five", 2.5),
        ("two and a half", 2.5),
        ("12.75", 12.75),
        ("blue", None),
        ("", None),
        ("five six", None),
        ("and five", None),
    ],
)
def test_number(text: str, value: float | None) -> None:
    assert number(text) == value


def test_numbers_in_words_are_read_back() -> None:
    for value in (*range(0, 130), 200, 1480, 9999, 20_000, 340_017, 5_000_000):
        assert [found for found, _, _ in numbers_in(f"set {words_of(value)} please")] == [
            str(value)
        ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fill in Two Hundred and Five gallons", {"205": "Two Hundred and Five"}),
        ("from ninety three to two hundred", {"93": "ninety three", "200": "two hundred"}),
        ("pet four two seven", {"4": "four", "2": "two", "7": "seven", "427": "four two seven"}),
        ("room two oh five", {"2": "two", "5": "five", "205": "two oh five"}),
        ("two oh oh five", {"2": "two", "5": "five", "2005": "two oh oh five"}),
        ("three billion and two", {"3000000002": "three billion and two"}),
        ("twenty-five, or 1,200.", {"25": "twenty-five", "1200": "1,200"}),
        ("a hundred and two point five", {"102.5": "a hundred and two point five"}),
        ("3 hundred at 7:45 on the 3rd", {"300": "3 hundred", "7": "7", "45": "45", "3": "3rd"}),
        ("10kg, 800x600", {"10": "10", "800": "800", "600": "600"}),
        ("€3.5k or 5m", {"3.5": "3.5k", "3500": "3.5k", "5": "5m", "5000000": "5m"}),
        ("12,5 of 1.250,50", {"12.5": "12,5", "1250.5": "1.250,50"}),
        ("[3,4,15]", {"3": "3", "4": "4", "15": "15"}),
        ("on 2024-03-12", {"2024": "2024", "3": "03", "12": "12"}),
        ("half a dozen, two dozen", {"6": "half a dozen", "24": "two dozen"}),
        ("the twenty-first, twice", {"21": "twenty-first", "2": "twice"}),
        ("minus five", {"-5": "minus five"}),
        ("-30 or 20-25", {"-30": "-30", "20": "20", "25": "25"}),
        ("$23.90, 4.00 and 1,250.50", {"23.9": "23.90", "4": "4.00", "1250.5": "1,250.50"}),
        ("-0.0 or 0.000001", {"0": "-0.0"}),
        ("that one, another one, anyone", {}),
        ("007", {}),
    ],
)
def test_numbers_are_found_where_they_stand(text: str, found: dict[str, str]) -> None:
    assert {value: text[start:end] for value, start, end in numbers_in(text)} == found


def test_a_long_text_is_read_in_time_that_grows_as_it_does() -> None:
    started = time.thread_time()
    assert sum(value == "1" for value, _, _ in numbers_in("one " * 20_000)) == 20_000
    assert time.thread_time() - started < 5


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("half a dozen", False),
        ("a few dozen", True),
        ("two thirds", True),
        ("two trillion", True),
        ("a few thousand", True),
        ("point five", True),
        ("the twentieth", False),
        ("minus five", False),
        ("at 7:30", False),
        ("two months", False),
        ("1,200 and -3.5", False),
    ],
)
def test_some_numbers_are_known_not_to_be_read(text: str, unread: bool) -> None:
    assert is_unread(text) is unread


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("5.5 million people", "population millions", [5.5]),
        ("$3.2M, and 2m of rope", "revenue mn", [3.2, 2.0]),
        ("five thousand and 7", "thousands", [5.0]),
        ("85k", "salary k", [85.0]),
        ("5.5 million people", "population", []),
        ("5.5 thousand people", "population millions", []),
    ],
)
def test_numbers_in_the_scale_of_a_name(text: str, name: str, found: list[float]) -> None:
    assert scaled_in(text, name) == found


def test_a_third_quarter_is_no_unread_number() -> None:
    assert not is_unread("in the third quarter")
    assert is_unread("three quarters of it")
