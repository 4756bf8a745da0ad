from __future__ import annotations

import pytest

from tests.voice.tools.conftest import Call
from tests.voice.tools.services import Clock


async def test_timers_run_down_and_are_cancelled(call: Call, clock: Clock) -> None:
    assert await call("list_timers") == "No timers are running."
    assert await call("set_timer", duration="ten minutes") == "Timer set for 10 minutes."
    clock.advance(seconds=30)
    assert await call("list_timers") == "1 timer: 9 minutes 30 seconds left."
    assert await call("set_timer", duration="four minutes", name="the pasta timer") == (
        "Pasta timer set for 4 minutes."
    )
    assert await call("list_timers") == (
        "2 timers: pasta, 4 minutes left; 9 minutes 30 seconds left."
    )
    assert await call("cancel_timer", name="egg") == "Error: There is no egg timer."
    assert await call("cancel_timer") == (
        "Error: Several timers are running. Which one: the pasta timer or 10 minute timer?"
    )
    assert await call("cancel_timer", name="pasta") == "Pasta timer cancelled."
    assert await call("cancel_timer") == "Timer cancelled."
    assert await call("cancel_timer") == "Error: No timer is running."
    assert await call("cancel_timer", name="egg") == "Error: There is no egg timer."


async def test_a_timer_is_found_by_its_length_and_all_of_them_at_once(call: Call) -> None:
    for duration in ("ten minutes", "an hour", "two hours"):
        await call("set_timer", duration=duration)
    assert await call("cancel_timer", name="the ten minute timer") == "Timer cancelled."
    assert await call("cancel_timer", name="all timers") == "2 timers cancelled."


@pytest.mark.parametrize("name", ["all timers", "all of my timers", "both", "every timer"])
async def test_all_of_no_timers_are_no_timer_of_that_name(call: Call, name: str) -> None:
    assert await call("cancel_timer", name=name) == "Error: No timer is running."
    await call("set_timer", duration="ten minutes")
    assert await call("cancel_timer", name=name) == "Timer cancelled."


async def test_a_timer_that_has_run_out_is_not_running(call: Call, clock: Clock) -> None:
    await call("set_timer", duration="one minute")
    clock.advance(minutes=2)
    assert await call("list_timers") == "No timers are running."
    assert await call("cancel_timer") == "Error: No timer is running."


@pytest.mark.parametrize(
    ("when", "answer"),
    [
        ("seven a m", "Alarm set for 7:00 AM tomorrow."),
        ("seven", "Alarm set for 7:00 PM today."),
        ("tomorrow at five", "Alarm set for 5:00 AM tomorrow."),
        ("friday at seven a m", "Alarm set for 7:00 AM on Friday, November 27."),
        ("in ten minutes", "Alarm set for 3:52 PM today."),
        ("tomorrow", "Error: At what time?"),
        ("today at nine a m", "Error: That time has already passed."),
        ("blue", "Error: I could not read the time blue."),
    ],
)
async def test_alarms(call: Call, when: str, answer: str) -> None:
    assert await call("set_alarm", when=when) == answer


async def test_reminders(call: Call) -> None:
    assert await call("list_reminders") == "You have no reminders."
    assert await call("set_reminder", text="buy milk") == "Reminder noted: buy milk."
    assert await call("list_reminders") == "1 reminder: buy milk."
    assert await call("set_reminder", text="to call mom", when="five") == (
        "Reminder set for 5:00 PM today: call mom."
    )
    assert await call("set_reminder", text="pay the rent", when="tomorrow at five") == (
        "Reminder set for 5:00 PM tomorrow: pay the rent."
    )
    assert await call("set_reminder", text="stretch", when="tomorrow") == (
        "Reminder set for 9:00 AM tomorrow: stretch."
    )
    assert await call("list_reminders") == (
        "4 reminders: call mom, 5:00 PM today; stretch, 9:00 AM tomorrow;"
        " pay the rent, 5:00 PM tomorrow; buy milk."
    )


@pytest.mark.parametrize(
    ("duration", "answer"),
    [
        ("blue", "Error: I could not read the duration blue."),
        ("eight days", "Error: A timer can run for 7 days at most."),
        ("", "Error: The duration is missing."),
    ],
)
async def test_lengths_that_cannot_be(call: Call, duration: str, answer: str) -> None:
    assert await call("set_timer", duration=duration) == answer
