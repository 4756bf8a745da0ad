from __future__ import annotations

import pytest

from tests.voice.tools.conftest import Call
from voice.tools.scope import SessionScope


async def test_reminders_are_set_and_listed(call: Call) -> None:
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
    ("when", "answer"),
    [
        ("every monday at nine", "Reminder set for 9:00 AM every Monday: do it."),
        ("every two hours", "Reminder set for every 2 hours: do it."),
        ("every day at five", "Reminder set for 5:00 PM every day: do it."),
        ("every evening", "Reminder set for 7:00 PM every day: do it."),
    ],
)
async def test_reminders_that_repeat(call: Call, when: str, answer: str) -> None:
    assert await call("set_reminder", text="do it", when=when) == answer


async def test_a_reminder_is_found_by_its_words_or_its_time(call: Call) -> None:
    assert await call("cancel_reminder", text="mom") == "Error: You have no reminders."
    await call("set_reminder", text="call mom", when="five")
    await call("set_reminder", text="call the dentist", when="six")
    await call("set_reminder", text="water the plants")
    assert await call("cancel_reminder") == (
        "Error: You have several reminders."
        " Which one: call mom, call the dentist or water the plants?"
    )
    assert await call("cancel_reminder", text="call") == (
        "Error: You have several reminders. Which one: call mom or call the dentist?"
    )
    assert await call("cancel_reminder", text="milk") == "Error: There is no such reminder: milk."
    assert await call("cancel_reminder", text="the dentist reminder") == (
        "Reminder cancelled: call the dentist."
    )
    assert await call("cancel_reminder", text="my five o'clock reminder") == (
        "Reminder cancelled: call mom."
    )
    assert await call("cancel_reminder") == "Reminder cancelled: water the plants."
    assert await call("list_reminders") == "You have no reminders."


async def test_all_reminders_are_cancelled_at_once(call: Call) -> None:
    for text in ("call mom", "buy milk"):
        await call("set_reminder", text=text)
    assert await call("cancel_reminder", text="all of them") == "2 reminders cancelled."


async def test_reminders_of_the_same_words_are_told_apart_by_their_times(call: Call) -> None:
    for when in ("seven p m", "eight p m"):
        await call("set_reminder", text="call mom", when=when)
    assert (await call("cancel_reminder")).endswith(
        "Which one: call mom, 7:00 PM today or call mom, 8:00 PM today?"
    )
    assert await call("change_reminder", text="call mom, 7:00 PM today", when="nine p m") == (
        "Reminder moved to 9:00 PM today: call mom."
    )


async def test_a_reminder_is_moved(call: Call) -> None:
    assert await call("change_reminder", text="mom", when="six") == "Error: You have no reminders."
    await call("set_reminder", text="call mom", when="tomorrow at five")
    assert await call("change_reminder", text="mom", when="six") == (
        "Reminder moved to 6:00 PM tomorrow: call mom."
    )
    assert await call("change_reminder", text="call mom", when="every friday at noon") == (
        "Reminder moved to 12:00 PM every Friday: call mom."
    )
    assert await call("list_reminders") == "1 reminder: call mom, 12:00 PM every Friday."
    assert await call("change_reminder", text="dad", when="six") == (
        "Error: There is no such reminder: dad."
    )


async def test_a_reminder_is_moved_by_a_length_and_on_some_of_its_days(
    call: Call, scope: SessionScope
) -> None:
    await call("set_reminder", text="put the bins out", when="tomorrow at nine p m")
    for message, when, moved in (
        ("move the bins one to ten", "one to ten", "10:00 PM tomorrow"),
        ("push it back half an hour", "half an hour", "10:30 PM tomorrow"),
        ("bring it forward an hour", "an hour", "9:30 PM tomorrow"),
    ):
        scope.said = (message,)
        told = await call("change_reminder", text="bins", when=when)
        assert told == f"Reminder moved to {moved}: put the bins out."
    scope.said = ("make it every weekday at eight",)
    await call("change_reminder", text="bins", when="every weekday at eight a m")
    scope.said = ("on mondays at nine",)
    assert await call("change_reminder", text="bins", when="mondays at nine a m") == (
        "Reminder moved to 9:00 AM every Monday, and still for"
        " 8:00 AM every Tuesday, Wednesday, Thursday and Friday: put the bins out."
    )
    assert (await call("list_reminders")).startswith("2 reminders: put the bins out, 9:00 AM")


async def test_of_a_reminder_that_repeats_one_day_is_cancelled(
    call: Call, scope: SessionScope
) -> None:
    await call("set_reminder", text="take the pills", when="every day at nine p m")
    scope.said = ("no pills reminder today please",)
    assert await call("cancel_reminder", text="pills") == (
        "Reminder for 9:00 PM today cancelled, and still set for 9:00 PM every day: take the pills."
    )
    scope.said = ("cancel the pills",)
    assert await call("cancel_reminder", text="pills") == "Reminder cancelled: take the pills."
