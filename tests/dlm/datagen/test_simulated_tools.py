"""Simulated tools answer as the real ones do."""

from __future__ import annotations

from random import Random

import pytest

from dlm.datagen.own_tools.simulated_tools import SIMULATED
from dlm.datagen.tools.world import World
from tests.dlm.datagen.worlds import told, world


@pytest.mark.parametrize(
    ("day", "text"),
    [
        ("", "Today is Saturday, November 21, 2026."),
        ("tomorrow", "Tomorrow is Sunday, November 22, 2026."),
        ("friday", "Friday is November 27, 2026."),
        ("christmas", "Christmas is Friday, December 25, 2026."),
        ("in two weeks", "In 2 weeks it is Saturday, December 5, 2026."),
        ("yesterday", "Yesterday was Friday, November 20, 2026."),
        ("purple", "Error: I could not read the day purple."),
    ],
)
def test_get_date(day: str, text: str) -> None:
    assert (told("get_date", day=day) if day else told("get_date")) == text


def test_timers_are_set_listed_and_cancelled() -> None:
    here = world()
    assert here.call("list_timers", {}).text == "No timers are running."
    assert here.call("cancel_timer", {}).text == "Error: No timer is running."
    assert here.call("set_timer", {"duration": "ten minutes"}).text == "Timer set for 10 minutes."
    named = here.call("set_timer", {"duration": "an hour", "name": "the pasta"})
    assert named.text == "Pasta timer set for 1 hour."
    assert here.call("list_timers", {}).text.startswith("2 timers: ")
    assert here.call("cancel_timer", {}).text == (
        "Error: Several timers are running. Which one: the 10 minute timer or pasta timer?"
    )
    assert here.call("cancel_timer", {"name": "ten minutes"}).text == "Timer cancelled."
    assert here.call("cancel_timer", {"name": "egg"}).text == "Error: There is no egg timer."
    assert here.call("cancel_timer", {"name": "Pasta"}).text == "Pasta timer cancelled."


def test_alarms_and_reminders() -> None:
    assert told("set_alarm", when="seven am") == "Alarm set for 7:00 AM tomorrow."
    assert told("set_alarm", when="friday at seven am") == (
        "Alarm set for 7:00 AM on Friday, November 27."
    )
    here = world()
    assert here.call("list_reminders", {}).text == "You have no reminders."
    assert here.call("set_reminder", {"text": "buy milk"}).text == "Reminder noted: buy milk."
    reminder = here.call("set_reminder", {"text": "call mom", "when": "at five"})
    assert reminder.text == "Reminder set for 5:00 PM today: call mom."
    assert here.call("list_reminders", {}).text == (
        "2 reminders: buy milk; call mom, 5:00 PM today."
    )


def test_lists() -> None:
    here = world()
    here.lists["shopping"] = []
    assert here.call("read_list", {}).text == "The shopping list is empty."
    assert here.call("add_to_list", {"item": "milk"}).text == "Added milk to the shopping list."
    assert here.call("add_to_list", {"item": "some bread"}).text == (
        "Added bread to the shopping list."
    )
    assert here.call("add_to_list", {"item": "milk"}).text == (
        "Milk is already on the shopping list."
    )
    assert here.call("read_list", {"list": "shopping list"}).text == (
        "The shopping list has 2 items: milk and bread."
    )
    assert here.call("remove_from_list", {"item": "milk"}).text == (
        "Removed milk from the shopping list."
    )
    assert here.call("remove_from_list", {"item": "milk"}).text == (
        "Error: Milk is not on the shopping list."
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("calculate", {"expression": "twelve times seven"}, "12 times 7 is 84."),
        ("calculate", {"expression": "divide nine by two"}, "9 divided by 2 is 4.5."),
        ("calculate", {"expression": "soup"}, "Error: I could not calculate that."),
        (
            "convert_units",
            {"amount": "five", "from_unit": "miles", "to_unit": "kilometers"},
            "5 miles is 8.05 kilometers.",
        ),
        (
            "convert_units",
            {"amount": "a", "from_unit": "mile", "to_unit": "feet"},
            "1 mile is 5280 feet.",
        ),
        (
            "convert_units",
            {"amount": "one", "from_unit": "mile", "to_unit": "grams"},
            "Error: I cannot convert mile to grams.",
        ),
        (
            "convert_currency",
            {"amount": "lots", "from_currency": "euros", "to_currency": "yen"},
            "Error: I could not read the amount lots.",
        ),
        (
            "set_device",
            {"device": "the light", "room": "kitchen", "state": "on"},
            "The kitchen light is now on.",
        ),
        ("set_device", {"device": "front door", "state": "lock"}, "The front door is now locked."),
        (
            "set_device",
            {"device": "blinds", "state": "fifty percent"},
            "The blinds are now 50 percent.",
        ),
        ("end_conversation", {}, "Goodbye."),
    ],
)
def test_results(tool: str, arguments: dict[str, str], text: str) -> None:
    assert told(tool, **arguments) == text


def test_forgetting_is_confirmed() -> None:
    here = world()
    for _ in range(2):
        assert here.call("forget_me", {}).text.endswith("Shall I delete them?")
        assert here.call("forget_me", {}).text == "All that I kept for you is deleted."


def test_an_order_from_first_to_last() -> None:
    here = world()
    assert here.call("read_order", {}).text == "The order is empty."
    assert here.call("confirm_order", {"name": "anna"}).text == "Error: The order is empty."
    latte = {"drink": "latte", "size": "large", "roast": "dark roast", "milk": "oat milk"}
    assert here.call("order_drink", latte | {"sweetener": "sugar"}).text == (
        "Added: large dark roast latte with oat milk and sugar."
    )
    mochas = {"drink": "mochas", "size": "small", "quantity": "two"}
    assert here.call("order_drink", mochas).text == "Added: 2 small mochas."
    assert here.call("read_order", {}).text == (
        "The order is: 1 large dark roast latte with oat milk and sugar; 2 small mochas."
    )
    assert here.call("remove_drink", {"drink": "the latte"}).text == "Removed: latte."
    assert here.call("remove_drink", {"drink": "tea"}).text == (
        "Error: There is no tea in the order."
    )
    assert here.call("confirm_order", {"name": "anna"}).text == (
        "Order confirmed for Anna: 2 small mochas."
    )
    assert here.call("read_order", {}).text == "The order is empty."


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'fly'"):
        World(Random(0), SIMULATED).call("fly", {})
