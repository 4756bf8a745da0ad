"""Appointments: what is read of a message, which times there are, and whose they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.voice.tools.conftest import Call
from tests.voice.tools.services import Clock
from voice.callers import Caller, CallerKind
from voice.tools import SessionScope, Toolbox
from voice.types import ToolCall

SATURDAY = "Saturday, 15:42, as tests/voice/tools/services.py has it"
CLOSED = "Error: We are closed on Sundays. We are open Monday to Friday, from 9 AM to 5 PM."


@pytest.mark.parametrize(
    ("tool", "argument", "words", "expected"),
    [
        ("note_problem", "problem", "I have a bad cough", True),
        ("note_problem", "problem", "it's about a rash on my arm", True),
        ("note_problem", "problem", "hello", False),
        ("note_problem", "problem", "I'd like to make an appointment", False),
        ("note_problem", "problem", "on Tuesday at ten", False),
        ("note_problem", "problem", "what are your opening hours", False),
        ("note_problem", "problem", "can I speak to a person", False),
        ("note_name", "name", "Anna Schmidt", True),
        ("note_name", "name", "my name is Will Smith", True),
        ("note_name", "name", "it's for my son Peter", True),
        ("note_name", "name", "I'd rather not say", False),
        ("note_name", "name", "can we do eleven instead", False),
        ("note_number", "number", "oh five five double seven one two", True),
        ("note_number", "number", "my number is 555-123 4567", True),
        ("note_number", "number", "no, eleven", False),
        ("choose_time", "time", "in the morning", False),
        ("choose_time", "time", "half past ten", True),
        ("choose_time", "time", "tuesday at ten", False),
        ("choose_time", "day", "Tuesday, December 1", True),
        ("choose_time", "day", "ten", False),
        ("choose_time", "day", "two days", False),
        ("choose_time", "day", "in two days", True),
        ("note_name", "name", "it's for two people", False),
    ],
)
def test_what_is_read_of_a_message(
    toolbox: Toolbox, scope: SessionScope, tool: str, argument: str, words: str, expected: bool
) -> None:
    (spec,) = toolbox.specs([tool], scope)
    assert (spec.readings[argument].read(words) is not None) is expected


async def test_a_value_is_noted_as_it_was_understood(toolbox: Toolbox, scope: SessionScope) -> None:
    for tool, given, expected in (
        ("note_problem", {"problem": "I have a bad cough"}, {"problem": "a bad cough"}),
        (
            "note_problem",
            {"problem": "I have a stomach ache and I'd like to come tomorrow at ten"},
            {"problem": "a stomach ache"},
        ),
        ("note_name", {"name": "it's for my son peter miller"}, {"name": "Peter Miller"}),
        ("note_number", {"number": "oh five five double seven one"}, {"number": "0 5 5 7 7 1"}),
        ("choose_time", {"time": "three"}, {"time": "3:00 PM"}),
    ):
        result = await toolbox.run(ToolCall(tool, tool, {**given}), scope)
        assert result.values == expected


async def test_only_times_that_there_are_can_be_chosen(
    toolbox: Toolbox, scope: SessionScope, call: Call
) -> None:
    assert scope.now().strftime("%A, %H:%M") in SATURDAY
    assert await call("choose_time", day="sunday") == CLOSED
    assert (await call("choose_time", day="monday", time="eight am")).startswith("We see patients")
    assert await call("choose_time", day="monday", time="ten") == "Monday, November 23 at 10:00 AM."
    scope.known = {"day": "2026-11-23", "time": "10:00 AM", "name": "Ann", "problem": "x"}
    assert await call("book_appointment") == "Booked: Monday, November 23 at 10:00 AM."
    assert await call("choose_time", day="monday", time="ten") == (
        "10:00 AM is not free Monday, November 23. Free then: 9:00 AM, 9:30 AM and 10:30 AM."
    )
    result = await toolbox.run(ToolCall("c", "choose_time", {"time": "ten"}), scope)
    assert result.values == {"day": "2026-11-23", "time": ""}


async def test_today_is_today_also_as_it_was_noted(
    scope: SessionScope, clock: Clock, call: Call
) -> None:
    clock.advance(days=2)
    scope.known = {"day": "2026-11-23"}
    assert await call("choose_time", day="today") == "Monday, November 23."
    assert await call("choose_time", time="four pm") == "Monday, November 23 at 4:00 PM."
    assert (await call("choose_time", time="ten")).startswith("10:00 AM has passed")
    assert (await call("choose_time", day="monday", time="ten")).startswith("Monday, November 30")


async def test_what_has_passed_is_refused(
    scope: SessionScope, clock: Clock, toolbox: Toolbox, call: Call
) -> None:
    assert await call("choose_time", day="last tuesday", time="ten") == (
        "Error: Tuesday, November 17 has passed."
    )
    clock.advance(days=2)
    assert (await call("choose_time", day="today", time="ten")).startswith("10:00 AM has passed.")
    kept = await toolbox.run(ToolCall("c", "choose_time", {"day": "march 1 2028"}), scope)
    assert kept.values == {"day": "2028-03-01", "time": ""}
    scope.known = {"day": "2026-11-20", "time": "10:00 AM"}
    assert (await call("book_appointment")).startswith("Error: Friday, November 20 at 10:00 AM has")


async def test_a_slot_is_given_once_and_nobody_sees_whose_it_is(
    toolbox: Toolbox, scope: SessionScope, call: Call
) -> None:
    scope.known = {"day": "2026-11-23", "time": "10:00 AM", "name": "Ann", "problem": "x"}
    await call("book_appointment")
    other = replace(scope, session_id="other", caller=Caller(CallerKind.USER, "bob"))
    taken = await toolbox.run(ToolCall("d", "book_appointment", {}), other)
    assert taken.content.startswith("Error: Somebody else has taken that time")
    listed = await toolbox.run(ToolCall("e", "list_appointments", {}), other)
    assert listed.content == "You have no appointment."
    assert await call("list_appointments") == (
        "You have 1 appointment: Monday, November 23 at 10:00 AM."
    )
    assert await call("change_appointment", time="eleven") == (
        "Moved to Monday, November 23 at 11:00 AM."
    )
    assert (await call("change_appointment", day="sunday")).startswith(
        "Error: 11:00 AM is not free"
    )
    assert await call("cancel_appointment") == "Cancelled: Monday, November 23 at 11:00 AM."
    assert await call("cancel_appointment") == "Error: You have no appointment."
