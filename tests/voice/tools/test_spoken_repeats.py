from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.voice.tools.services import NOW
from voice.tools import spoken_repeats
from voice.tools.registry import ToolError, Unreadable


@pytest.mark.parametrize(
    ("text", "described", "first"),
    [
        ("every weekday at half past six", "6:30 AM every weekday", "2026-11-23 06:30"),
        ("weekends at ten", "10:00 AM every weekend", "2026-11-22 10:00"),
        ("every monday and thursday at noon", "12:00 PM every Monday and Thursday",
         "2026-11-23 12:00"),
        ("seven in the evening every day", "7:00 PM every day", "2026-11-21 19:00"),
        ("every morning", "9:00 AM every day", "2026-11-22 09:00"),
        ("every friday night", "9:00 PM every Friday", "2026-11-27 21:00"),
        ("every other monday at nine", "9:00 AM every other Monday", "2026-11-23 09:00"),
        ("every two weeks on friday at five pm", "5:00 PM every other Friday", "2026-11-27 17:00"),
        ("every second monday at nine", "9:00 AM every other Monday", "2026-11-23 09:00"),
        ("every two hours", "every 2 hours", "2026-11-21 17:42"),
        ("every half hour", "every 30 minutes", "2026-11-21 16:12"),
        ("the first of every month at eight", "8:00 AM on day 1 of every month",
         "2026-12-01 08:00"),
        ("every six months", "9:00 AM on day 21 of every 6 months", "2027-05-21 09:00"),
        ("every three days at six p m", "6:00 PM every 3 days", "2026-11-21 18:00"),
        ("every three days at nine", "9:00 AM every 3 days", "2026-11-24 09:00"),
        ("monday through friday at seven", "7:00 AM every weekday", "2026-11-23 07:00"),
        ("every year on may fifth at ten", "10:00 AM every May 5", "2027-05-05 10:00"),
    ],
)  # fmt: skip
def test_what_repeats(text: str, described: str, first: str) -> None:
    found = spoken_repeats.repeat(text, NOW)
    assert found is not None
    assert spoken_repeats.described(found.rule) == described
    assert f"{found.first:%Y-%m-%d %H:%M}" == first


@pytest.mark.parametrize("text", ["tomorrow at five", "in two hours", "monday at nine", "blue"])
def test_what_does_not(text: str) -> None:
    assert spoken_repeats.repeat(text, NOW) is None


@pytest.mark.parametrize("text", ["every day at blorp", "every 5000 days", "every 2 hours at six"])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(Unreadable):
        spoken_repeats.repeat(text, NOW)


@pytest.mark.parametrize("text", ["every 45th of the month", "every second"])
def test_what_never_comes_or_comes_too_often_is_said(text: str) -> None:
    with pytest.raises(ToolError):
        spoken_repeats.repeat(text, NOW)


def test_the_interval_counts_from_the_first_moment() -> None:
    found = spoken_repeats.repeat("every other day at eight", NOW)
    assert found is not None
    second = spoken_repeats.after(found.rule, found.first, found.first)
    assert (second - found.first).days == 2


@pytest.mark.parametrize(("now", "first"), [(NOW, "2026-12-04 09:00"), (None, "2026-12-18 09:00")])
def test_an_interval_goes_on_counting_at_another_time(now: datetime | None, first: str) -> None:
    """Before the next one is due, and on its day, when the new time has passed."""
    biweekly = spoken_repeats.repeat("every other friday at eight", NOW.replace(day=28))
    assert biweekly is not None
    due = biweekly.first
    assert f"{due:%Y-%m-%d}" == "2026-12-04"
    now = now or due.replace(hour=9, minute=30)
    moved = spoken_repeats.at_time(biweekly.rule, due.replace(hour=9), due, now)
    assert f"{moved.first:%Y-%m-%d %H:%M}" == first


def test_the_steps_to_a_far_moment_are_not_taken_one_by_one() -> None:
    far = datetime(8999, 12, 31, 23, 59, tzinfo=NOW.tzinfo)
    for text, at in (("every 3 minutes", "00:00"), ("every 2 days at six a m", "06:00")):
        found = spoken_repeats.repeat(text, NOW.replace(minute=0))
        assert found is not None
        assert f"{spoken_repeats.after(found.rule, found.first, far):%H:%M}" == at


def test_an_interval_goes_on_counting_without_some_of_its_days() -> None:
    rule = "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYHOUR=8;BYMINUTE=0;BYSECOND=0"
    due = NOW.replace(month=12, day=4, hour=8, minute=0)
    friday = spoken_repeats.repeat("every friday", NOW)
    assert friday is not None
    left = spoken_repeats.without(rule, friday.rule, due, NOW)
    assert left is not None
    assert f"{left.first:%Y-%m-%d %H:%M}" == "2026-12-14 08:00"


@pytest.mark.parametrize(
    ("text", "described", "days"),
    [
        ("the 31st of every month", "day 31", ["11-30", "12-31", "01-31", "02-28", "03-31"]),
        ("every month on the 30th", "day 30", ["11-30", "12-30", "01-30", "02-28", "03-30"]),
        ("every 29th of the month", "day 29", ["11-29", "12-29", "01-29", "02-28", "03-29"]),
        ("the 28th of every month", "day 28", ["11-28", "12-28", "01-28", "02-28", "03-28"]),
    ],
)
def test_a_date_that_a_month_does_not_have_is_its_last_day(
    text: str, described: str, days: list[str]
) -> None:
    found = spoken_repeats.repeat(f"{text} at eight", NOW)
    assert found is not None
    assert spoken_repeats.described(found.rule) == f"8:00 AM on {described} of every month"
    moments = [found.first]
    while len(moments) < len(days):
        moments.append(spoken_repeats.after(found.rule, moments[-1], moments[-1]))
    assert [f"{moment:%m-%d}" for moment in moments] == days


def test_summer_time_does_not_move_the_time_of_day() -> None:
    zone = ZoneInfo("America/New_York")
    before = datetime(2026, 3, 7, 7, tzinfo=zone)
    found = spoken_repeats.repeat("every day at eight", before)
    assert found is not None
    later = spoken_repeats.after(found.rule, found.first, datetime(2026, 3, 9, tzinfo=zone))
    assert f"{later:%H:%M %z}" == "08:00 -0400"
    # At ten past one for the second time, the moment of that day is over.
    daily, now = "every day at half past one a m", datetime(2026, 11, 1, 1, 10, tzinfo=zone, fold=1)
    found = spoken_repeats.repeat(daily, datetime(2026, 10, 31, tzinfo=zone))
    assert found is not None
    later = spoken_repeats.after(found.rule, datetime(2026, 11, 1, 1, 30, tzinfo=zone), now)
    assert f"{later:%d %H:%M}" == "02 01:30"
    hourly = spoken_repeats.repeat("every six hours", datetime(2026, 3, 7, 22, tzinfo=zone))
    assert hourly is not None
    # At four, but the clock was put forward at two.
    assert f"{hourly.first:%H:%M}" == "05:00"
