from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.voice.tools.services import NOW
from voice.tools import spoken_dates
from voice.tools.registry import ToolError, Unreadable


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("today", "2026-11-21"),
        ("this morning", "2026-11-21"),
        ("tomorrow", "2026-11-22"),
        ("the day after tomorrow", "2026-11-23"),
        ("yesterday", "2026-11-20"),
        ("the day before yesterday", "2026-11-19"),
        ("this friday", "2026-11-27"),
        ("next monday", "2026-11-23"),
        ("next saturday", "2026-11-28"),
        ("this weekend", "2026-11-21"),
        ("next week", "2026-11-28"),
        ("in two weeks", "2026-12-05"),
        ("the fifteenth", "2026-12-15"),
        ("the thirty first", "2026-12-31"),
        ("december twenty fifth", "2026-12-25"),
        ("july fourth twenty thirty", "2030-07-04"),
        ("2026-12-01", "2026-12-01"),
        ("christmas", "2026-12-25"),
        ("new year's day", "2027-01-01"),
        ("thanksgiving", "2026-11-26"),
        ("easter", "2027-03-28"),
    ],
)
def test_days(said: str, expected: str) -> None:
    assert spoken_dates.day(said, NOW) == date.fromisoformat(expected)


@pytest.mark.parametrize(
    "said", ["blue", "", "february thirtieth", "tomorrow blue", "morning glory"]
)
def test_what_is_no_day_is_named(said: str) -> None:
    with pytest.raises(Unreadable) as failure:
        spoken_dates.day(said, NOW)
    assert str(failure.value) == f"I could not read the day {said}."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        # Without a.m. or p.m. it is the next one to come: it is 3:42 p.m.
        ("five", "2026-11-21 17:00"),
        ("half seven", "2026-11-21 19:30"),
        ("a quarter past six", "2026-11-21 18:15"),
        ("quarter to eight", "2026-11-21 19:45"),
        ("seven oh five", "2026-11-21 19:05"),
        ("twelve thirty", "2026-11-22 00:30"),
        # With them.
        ("seven thirty p m", "2026-11-21 19:30"),
        ("7:30 p.m.", "2026-11-21 19:30"),
        ("7a.m.", "2026-11-22 07:00"),
        ("730pm", "2026-11-21 19:30"),
        ("twelve a m", "2026-11-22 00:00"),
        ("oh seven thirty hours", "2026-11-22 07:30"),
        ("at 1930 hours", "2026-11-21 19:30"),
        ("eleven at night", "2026-11-21 23:00"),
        ("twelve tonight", "2026-11-22 00:00"),
        ("noon", "2026-11-22 12:00"),
        ("midnight", "2026-11-22 00:00"),
        # On a day.
        ("tomorrow at five", "2026-11-22 05:00"),
        ("tomorrow at twelve", "2026-11-22 12:00"),
        ("december 25th 9am", "2026-12-25 09:00"),
        ("seven o'clock tomorrow evening", "2026-11-22 19:00"),
        ("midnight tomorrow", "2026-11-23 00:00"),
        ("saturday at nine p m", "2026-11-21 21:00"),
        ("saturday at nine a m", "2026-11-28 09:00"),
        ("december twenty second at nine", "2026-12-22 09:00"),
        ("the third of march at six p m", "2027-03-03 18:00"),
        ("seven a m on the first", "2026-12-01 07:00"),
        ("in two days at five", "2026-11-23 05:00"),
        # From now on.
        ("in ten minutes", "2026-11-21 15:52"),
        ("an hour and a half", "2026-11-21 17:12"),
        ("in one hundred hours", "2026-11-25 19:42"),
        ("thirty six hours", "2026-11-23 03:42"),
    ],
)
def test_moments(said: str, expected: str) -> None:
    asked = spoken_dates.moment(said, NOW)
    assert asked.moment == datetime.fromisoformat(expected).replace(tzinfo=NOW.tzinfo)
    assert asked.time_said


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("tomorrow", "2026-11-22 09:00"),
        ("monday afternoon", "2026-11-23 15:00"),
        ("tonight", "2026-11-21 21:00"),
        ("this evening", "2026-11-21 19:00"),
        ("in the morning", "2026-11-22 09:00"),
        ("today", "2026-11-21 16:00"),
    ],
)
def test_a_day_without_a_time(said: str, expected: str) -> None:
    asked = spoken_dates.moment(said, NOW)
    assert asked.moment == datetime.fromisoformat(expected).replace(tzinfo=NOW.tzinfo)
    assert not asked.time_said


def test_a_first_hour_makes_an_afternoon_of_a_named_days_early_hours() -> None:
    assert spoken_dates.moment("tomorrow at five", NOW, first_hour=7).moment.hour == 17
    assert spoken_dates.moment("tomorrow at seven", NOW, first_hour=7).moment.hour == 7
    assert spoken_dates.moment("tomorrow at five a m", NOW, first_hour=7).moment.hour == 5


@pytest.mark.parametrize(
    "said", ["today at five a m", "yesterday at five", "this morning at nine today"]
)
def test_a_moment_that_has_passed_is_told(said: str) -> None:
    with pytest.raises(ToolError, match=r"^That time has already passed\.$"):
        spoken_dates.moment(said, NOW)


def test_a_time_without_its_hour_asks_for_it() -> None:
    with pytest.raises(ToolError, match=r"^10 past which hour\?$"):
        spoken_dates.moment("ten past", NOW)


@pytest.mark.parametrize(
    "said",
    [
        *("blue", "", "25 o'clock", "thirteen p m", "seven seventy", "five blue"),
        *("99999999999999999999 hours", "in 99999999999 days at nine"),
        *("december 31 9999 at midnight", "9999-12-31"),
    ],
)
def test_what_is_no_moment_is_named(said: str) -> None:
    with pytest.raises(Unreadable) as failure:
        spoken_dates.moment(said, NOW)
    assert str(failure.value) == f"I could not read the time {said}."


def test_summer_time_shifts_neither_a_length_nor_a_clock_time() -> None:
    eve = datetime(2026, 10, 31, 23, 0, tzinfo=ZoneInfo("America/New_York"))
    assert spoken_dates.moment("in four hours", eve).moment.hour == 2
    assert spoken_dates.moment("seven a m", eve).moment.hour == 7


@given(
    st.integers(0, 23), st.integers(0, 59), st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1))
)
def test_a_time_is_always_within_the_next_day(hour: int, minute: int, at: datetime) -> None:
    now = at.replace(tzinfo=ZoneInfo("UTC"))
    half = "a m" if hour < 12 else "p m"
    moment = spoken_dates.moment(f"{hour % 12 or 12}:{minute:02} {half}", now).moment
    assert (moment.hour, moment.minute) == (hour, minute)
    assert timedelta(0) < moment - now <= timedelta(days=1)


@given(st.text(alphabet="0123456789: apmto'clkhfsevnday", max_size=30))
def test_any_text_is_read_or_refused(said: str) -> None:
    for read in (spoken_dates.day, spoken_dates.moment):
        try:
            read(said, NOW)
        except ToolError as failure:
            assert str(failure).endswith(".")


def test_names_of_days_are_written_with_capitals() -> None:
    assert spoken_dates.titled("next friday") == "next Friday"
    assert spoken_dates.titled("new year's eve") == "New Year's Eve"
    assert spoken_dates.titled("the day after tomorrow") == "the day after tomorrow"
    assert spoken_dates.is_weekday("next friday")
    assert not spoken_dates.is_weekday("friday the thirteenth")
