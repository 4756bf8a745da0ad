from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.voice.tools.services import NOW
from voice.tools import spoken_dates, spoken_times
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
        ("1 december", "2026-12-01"),
        ("8 June", "2027-06-08"),
        ("12 sept", "2027-09-12"),
        ("20th", "2026-12-20"),
        ("on the 3rd", "2026-12-03"),
        ("3rd", "2026-12-03"),
        ("twenty third", "2026-11-23"),
        ("Good Friday", "2027-03-26"),
        ("Shrove Tuesday", "2027-02-09"),
        ("easter monday", "2027-03-29"),
        ("xmas", "2026-12-25"),
        ("next monday", "2026-11-23"),
        ("next saturday", "2026-11-28"),
        ("this weekend", "2026-11-21"),
        ("next week", "2026-11-28"),
        ("next week on tuesday", "2026-11-24"),
        ("tuesday next week", "2026-11-24"),
        ("this week on sunday", "2026-11-22"),
        ("a week from tomorrow", "2026-11-29"),
        ("two weeks from friday", "2026-12-11"),
        ("29 february", "2028-02-29"),
        ("in two weeks", "2026-12-05"),
        ("in a month", "2026-12-21"),
        ("next month", "2026-12-21"),
        ("the fifteenth", "2026-12-15"),
        ("the thirty first", "2026-12-31"),
        ("december twenty fifth", "2026-12-25"),
        ("july fourth twenty thirty", "2030-07-04"),
        ("2026-12-01", "2026-12-01"),
        ("november twenty first", "2026-11-21"),
        ("the 21st of november", "2026-11-21"),
        ("november twentieth", "2027-11-20"),
        ("Friday, December 4", "2026-12-04"),
        ("friday the fourth", "2026-12-04"),
        ("christmas", "2026-12-25"),
        ("new year's day", "2027-01-01"),
        ("thanksgiving", "2026-11-26"),
        ("easter", "2027-03-28"),
    ],
)
def test_days(said: str, expected: str) -> None:
    assert spoken_dates.day(said, NOW) == date.fromisoformat(expected)


@pytest.mark.parametrize(
    "said",
    ["blue", "", "first", "second", "thirtieth february blue", "tomorrow blue", "morning glory"],
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
        ("one at five", "2026-11-21 17:00"),
        ("another one for five", "2026-11-21 17:00"),
        ("half seven", "2026-11-21 19:30"),
        ("a quarter past six", "2026-11-21 18:15"),
        ("quarter to eight", "2026-11-21 19:45"),
        ("seven oh five", "2026-11-21 19:05"),
        ("twelve thirty", "2026-11-22 00:30"),
        # With them.
        ("seven thirty p m", "2026-11-21 19:30"),
        ("7:30 p.m.", "2026-11-21 19:30"),
        ("5:10am tmrw", "2026-11-22 05:10"),
        ("fri noon", "2026-11-27 12:00"),
        ("19th at 10:40", "2026-12-19 10:40"),
        ("7a.m.", "2026-11-22 07:00"),
        ("730pm", "2026-11-21 19:30"),
        ("twelve a m", "2026-11-22 00:00"),
        ("oh seven thirty hours", "2026-11-22 07:30"),
        ("at 1930 hours", "2026-11-21 19:30"),
        ("eleven at night", "2026-11-21 23:00"),
        ("twelve tonight", "2026-11-22 00:00"),
        ("tonight at one a m", "2026-11-22 01:00"),
        ("tonight at twelve a m", "2026-11-22 00:00"),
        ("half an hour before noon", "2026-11-22 11:30"),
        ("noon", "2026-11-22 12:00"),
        ("midnight", "2026-11-22 00:00"),
        ("half past midnight", "2026-11-22 00:30"),
        ("quarter to midnight", "2026-11-21 23:45"),
        ("quarter to noon", "2026-11-22 11:45"),
        ("ten past noon tomorrow", "2026-11-22 12:10"),
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
        ("saturday morning", "2026-11-28 09:00"),
        ("8 june", "2027-06-08 09:00"),
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
    "said",
    [
        "today at five a m", "yesterday at five", "this morning at nine today",
        "saturday the twenty first at nine a m",
    ],
)  # fmt: skip
def test_a_moment_that_has_passed_is_told(said: str) -> None:
    with pytest.raises(ToolError, match=r"^That time has already passed\.$"):
        spoken_dates.moment(said, NOW)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("the thirty first of november", "31st of November"),
        ("february thirtieth", "February 30th"),
        ("29 february 2027", "29 February 2027"),
        ("december thirty two", "December 32"),
    ],
)
def test_a_date_that_no_calendar_has_is_told_and_no_other_day_is_meant(
    said: str, named: str
) -> None:
    with pytest.raises(ToolError, match=rf"^There is no {named}\.$"):
        spoken_dates.day(said, NOW)
    with pytest.raises(ToolError, match=rf"^There is no {named}\.$"):
        spoken_dates.moment(f"{said} at nine", NOW)


@pytest.mark.parametrize(
    "said", ["friday the twelfth", "friday december twelfth", "friday 12 december"]
)
def test_a_weekday_that_is_not_that_of_the_date_is_told(said: str) -> None:
    with pytest.raises(ToolError, match=r"^December 12 is a Saturday\.$"):
        spoken_dates.day(said, NOW)
    with pytest.raises(ToolError, match=r"^December 12 is a Saturday\.$"):
        spoken_dates.moment(f"{said} at nine", NOW)


def test_after_midnight_the_night_that_goes_on_is_meant() -> None:
    late = NOW.replace(hour=0, minute=30)
    for said in ("tonight at two", "tonight at two a m", "two at night"):
        assert spoken_dates.moment(said, late).moment == late.replace(hour=2, minute=0)
    tomorrow = spoken_dates.moment("tomorrow night at two", late).moment
    assert tomorrow == late.replace(day=23, hour=2, minute=0)


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
    # Of the two hours from one to two the second.
    again = eve.replace(month=11, day=1, hour=1, fold=1)
    after = spoken_dates.moment("two hours after midnight", eve).moment
    assert (after.hour, after.fold, after.timestamp()) == (1, 1, again.timestamp())
    three = eve.replace(month=11, day=1, hour=3)
    for said in ("an hour earlier", "two hours before three a m", "two hours earlier"):
        moved = spoken_dates.moment(said, eve, near=three).moment
        hours = 1 if said.startswith("an") else 2
        assert three.timestamp() - moved.timestamp() == hours * 3600
    for said in ("a day later", "the day after three a m", "in two days"):
        moved = spoken_dates.moment(said, eve, near=eve.replace(hour=3)).moment
        assert moved.hour == (23 if said.startswith("in") else 3)
    past = spoken_dates.moment("half past", eve, near=again.replace(minute=10)).moment
    assert past.timestamp() - again.timestamp() == 1800
    first = again.replace(fold=0)
    for now, minutes in ((first, 30), (first.replace(minute=45), 45), (again, 30)):
        then = spoken_dates.moment("half past one a m", now).moment
        assert then.timestamp() - now.timestamp() == minutes * 60


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


HOURS = ("one two three four five six seven eight nine ten eleven twelve").split()  # noqa: SIM905
MORE = {
    "after lunch, about two": "2026-11-22 14:00",
    "lunchtime": "2026-11-22 12:00",
    "tomorrow around lunchtime": "2026-11-22 12:00",
    "first thing tomorrow": "2026-11-22 08:00",
    "first thing in the morning": "2026-11-22 08:00",
    "late tonight": "2026-11-21 21:00",
    "early tomorrow morning": "2026-11-22 09:00",
    "after work": "2026-11-21 18:00",
    "teatime": "2026-11-21 17:00",
    "after dinner": "2026-11-21 20:00",
    "just before eleven": "2026-11-21 23:00",
    "eightish": "",
    "8ish": "2026-11-21 20:00",
    "quarter to nine or so": "2026-11-21 20:45",
    "twelve noon tomorrow": "2026-11-22 12:00",
    "in about twenty minutes": "2026-11-21 16:02",
    "friday week": "2026-12-04 09:00",
    "a week on friday at six": "2026-12-04 06:00",
    "in a fortnight": "2026-12-05 09:00",
    "this coming friday at six": "2026-11-27 06:00",
    "end of the day": "2026-11-21 17:00",
    "the following monday at nine": "2026-11-23 09:00",
    "sometime tomorrow": "2026-11-22 09:00",
    "the day after sunday at ten": "2026-11-23 10:00",
    "an hour after six": "2026-11-21 19:00",
    "two hours before noon tomorrow": "2026-11-22 10:00",
    "ten minutes after six": "2026-11-21 18:10",
}


@pytest.mark.parametrize(("said", "expected"), MORE.items())
def test_parts_of_the_day_and_moments_beside_others(said: str, expected: str) -> None:
    if not expected:
        with pytest.raises(Unreadable):
            spoken_dates.moment(said, NOW)
        return
    then = datetime.fromisoformat(expected).replace(tzinfo=NOW.tzinfo)
    assert spoken_dates.moment(said, NOW).moment == then


def clocks(hour: int) -> dict[str, tuple[int, int]]:
    """How people say times of an hour."""
    this, following = HOURS[hour - 1], HOURS[hour % 12]
    return {
        this: (hour, 0), f"{this} o'clock": (hour, 0), f"{hour}": (hour, 0),
        f"half past {this}": (hour, 30), f"half {this}": (hour, 30), f"{this} thirty": (hour, 30),
        f"quarter past {this}": (hour, 15), f"a quarter to {following}": (hour, 45),
        f"{this} forty-five": (hour, 45), f"{this} oh five": (hour, 5), f"{hour}:30": (hour, 30),
        f"{hour}.15": (hour, 15), f"ten past {this}": (hour, 10),
        f"five to {following}": (hour, 55),
        f"twenty five past {this}": (hour, 25), f"ten after {this}": (hour, 10),
        f"quarter of {following}": (hour, 45), f"five minutes past {this}": (hour, 5),
    }  # fmt: skip


@pytest.mark.parametrize("hour", range(1, 12))
def test_every_time_of_day_is_read_in_every_part_of_it(hour: int) -> None:
    wrong = []
    parts = {"in the afternoon": 12, "pm": 12, "p.m.": 12, "in the morning": 0, "am": 0, "": None}
    for said, (_, minute) in clocks(hour).items():
        for lead in ("", "about ", "at about ", "roughly ", "round about ", "say ", "just after "):
            for part, added in parts.items():
                for tail in ("", " or so", " sharp", " please"):
                    words = f"{lead}{said} {part}{tail}".replace("  ", " ").strip()
                    first = 12 if added is None and hour < 7 else 0
                    expected = hour + (first if added is None else added), minute
                    read = spoken_times.time_of_day(spoken_dates.normal_form(words), 7)
                    wrong += [(words, read)] if read != expected else []
    assert wrong == []
