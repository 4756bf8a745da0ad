import pytest

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


def test_get_time_elsewhere_names_the_place() -> None:
    assert told("get_time", place="new york").endswith(" in New York.")


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


def test_all_timers_at_once() -> None:
    here = world()
    for length in ("one minute", "two minutes"):
        here.call("set_timer", {"duration": length})
    assert here.call("cancel_timer", {"name": "all"}).text == "2 timers cancelled."


def test_a_duration_that_cannot_be_read_is_told() -> None:
    text = "Error: I could not read the duration blue."
    assert told("set_timer", duration="blue") == text


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
