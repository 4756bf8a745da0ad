"""Appointments: what is read of a message, which times there are, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Executable, Row

from tests.voice.tools.conftest import Call
from tests.voice.tools.services import NOW, Clock
from voice.callers import Caller, CallerKind
from voice.tools import SessionScope, Toolbox
from voice.tools.store import Store
from voice.types import ToolCall

SATURDAY = "Saturday, 15:42, as tests/voice/tools/services.py has it"
CLOSED = "Error: We are closed on Sundays. We are open Monday to Friday, from 9 AM to 5 PM."


@pytest.mark.parametrize(
    ("tool", "argument", "words", "expected"),
    [
        ("choose_time", "time", "in the morning", False),
        ("choose_time", "time", "half past ten", True),
        ("choose_time", "time", "tuesday at ten", False),
        ("choose_time", "day", "Tuesday, December 1", True),
        ("choose_time", "day", "ten", False),
        ("choose_time", "day", "two days", False),
        ("choose_time", "day", "in two days", True),
        ("choose_time", "day", "any time this week", True),
        ("choose_time", "day", "thursday morning", False),
        ("choose_time", "day", "tuesday or thursday of next week", True),
        ("choose_time", "day", "tuesday thursday", False),
        ("choose_time", "time", "first thing", False),
        ("choose_time", "part", "not in the afternoon", True),
        ("choose_time", "soon", "the week after", True),
        ("choose_time", "part", "early afternoon", True),
        ("choose_time", "part", "not before eleven", True),
        ("choose_time", "part", "eleven", False),
        ("choose_time", "soon", "what's the soonest you have", True),
        ("choose_time", "soon", "something earlier", True),
        ("choose_time", "soon", "half an hour earlier", True),
        ("choose_time", "soon", "any doctor", False),
        ("choose_time", "soon", "what's the latest you have", True),
        ("choose_time", "soon", "as late as you can", True),
        ("choose_time", "soon", "the last slot of the day", True),
        ("choose_time", "soon", "when is the latest we can come", True),
        ("choose_time", "soon", "what's your last slot", True),
        ("choose_time", "soon", "at the latest", False),
        ("choose_time", "soon", "my last appointment", False),
        ("choose_time", "soon", "the latest results", False),
        ("choose_time", "soon", "whatever's free", True),
        ("choose_time", "soon", "whatever", False),
        ("choose_time", "soon", "whatever it is", False),
        ("change_appointment", "soon", "forward by an hour", True),
        ("change_appointment", "day", "friday", True),
        ("change_appointment", "soon", "an hour", False),
    ],
)
def test_what_is_read_of_a_message(
    toolbox: Toolbox, scope: SessionScope, tool: str, argument: str, words: str, expected: bool
) -> None:
    (spec,) = toolbox.specs([tool], scope)
    assert (spec.readings[argument].read(words) is not None) is expected


async def test_only_times_that_there_are_can_be_chosen(
    toolbox: Toolbox, scope: SessionScope, call: Call
) -> None:
    assert scope.now().strftime("%A, %H:%M") in SATURDAY
    assert await call("choose_time", day="sunday") == CLOSED
    assert (await call("choose_time", day="monday", time="eight am")).startswith("We are open")
    assert await call("choose_time", day="monday", time="ten") == "Monday, November 23 at 10:00 AM."
    scope.known = {"day": "2026-11-23", "time": "10:00 AM", "name": "Ann", "problem": "x"}
    assert await call("book_appointment") == "Booked: Monday, November 23 at 10:00 AM."
    assert await call("choose_time", day="monday", time="ten") == (
        "10:00 AM is not free Monday, November 23. Free then: 9:00 AM, 9:30 AM and 10:30 AM."
    )
    result = await toolbox.run(ToolCall("c", "choose_time", {"time": "ten"}), scope)
    assert (result.values["day"], result.values["time"]) == ("2026-11-23", "")
    # The nearest one is offered.
    assert result.values["offered"] in ("9:30 AM", "10:30 AM")


async def test_today_is_today_also_as_it_was_noted(
    scope: SessionScope, clock: Clock, call: Call
) -> None:
    clock.advance(days=2)
    scope.known = {"day": "2026-11-23"}
    assert await call("choose_time", day="today") == "Monday, November 23."
    assert await call("choose_time", time="four pm") == "Monday, November 23 at 4:00 PM."
    assert (await call("choose_time", time="ten")).startswith("10:00 AM has passed")
    assert (await call("choose_time", day="monday", time="ten")).startswith("Monday, November 30")
    assert (await call("choose_time", day="the one on monday", time="ten")).startswith(
        "Monday, November 30"
    )


async def test_what_has_passed_is_refused(
    scope: SessionScope, clock: Clock, toolbox: Toolbox, call: Call
) -> None:
    assert await call("choose_time", day="last tuesday", time="ten") == (
        "Error: Tuesday, November 17 has passed."
    )
    clock.advance(days=2)
    assert (await call("choose_time", day="today", time="ten")).startswith("10:00 AM has passed.")
    kept = await toolbox.run(ToolCall("c", "choose_time", {"day": "march 1 2028"}), scope)
    assert {n: one for n, one in kept.values.items() if one} == {"day": "2028-03-01"}
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
    assert listed.content == "Error: I find no appointment under Ann."
    assert await call("list_appointments") == (
        "You have 1 appointment: Monday, November 23 at 10:00 AM."
    )
    assert await call("change_appointment", soon="an hour later") == (
        "Moved to Monday, November 23 at 11:00 AM."
    )
    assert await call("change_appointment", day="sunday") == CLOSED
    assert (await call("change_appointment", soon="two minutes later")).startswith(
        "We see patients every half hour. Free then: "
    )
    assert await call("cancel_appointment") == "Cancelled: Monday, November 23 at 11:00 AM."
    assert await call("cancel_appointment") == "Error: I find no appointment under Ann."


@pytest.mark.parametrize(
    ("given", "told", "day", "offered"),
    [
        (
            {"day": "next week", "part": "in the afternoon"},
            "Free Monday, November 23 in the afternoon: 12:00 PM, 12:30 PM and 1:00 PM.",
            "2026-11-23", "12:00 PM",
        ),
        (
            {"soon": "the earliest"}, "The next free time is Monday, November 23 at 9:00 AM.",
            "2026-11-23", "9:00 AM",
        ),
        (
            {"day": "next week", "time": "ten"}, "Free Tuesday, November 24: 10:00 AM.",
            "2026-11-24", "10:00 AM",
        ),
        (
            {"soon": "the latest you have", "part": "mornings"},
            "The last free time is Monday, November 23 at 11:30 AM.", "2026-11-23", "11:30 AM",
        ),
        (
            {"soon": "the last one", "day": "tuesday"},
            "The last free time is Tuesday, November 24 at 4:30 PM.", "2026-11-24", "4:30 PM",
        ),
        (
            {"soon": "the last one of the day"},
            "The last free time is Monday, November 23 at 4:30 PM.", "2026-11-23", "4:30 PM",
        ),
        (
            {"day": "monday", "part": "after four"},
            "Free Monday, November 23 after 4:00 PM: 4:00 PM and 4:30 PM.",
            "2026-11-23", "4:00 PM",
        ),
        (
            {"day": "monday", "part": "in the evening"},
            "Nothing is free then. We are open Monday to Friday, from 9 AM to 5 PM.",
            "2026-11-23", "",
        ),
    ],
)  # fmt: skip
async def test_who_leaves_the_choice_is_offered_what_is_free(
    toolbox: Toolbox,
    scope: SessionScope,
    call: Call,
    given: dict[str, str],
    told: str,
    day: str,
    offered: str,
) -> None:
    scope.known = {"day": "2026-11-23", "time": "10:00 AM", "name": "Ann", "problem": "x"}
    await call("book_appointment")
    scope.known = {}
    result = await toolbox.run(ToolCall("c", "choose_time", {**given}), scope)
    assert result.content == told
    assert (result.values["day"], result.values["offered"]) == (day, offered)


async def test_what_was_offered_is_chosen_among(scope: SessionScope, call: Call) -> None:
    scope.known = {"day": "2026-11-23", "offered": "9:30 AM"}
    monday = "Monday, November 23 at"
    assert await call("choose_time", soon="the second one") == f"{monday} 10:00 AM."
    assert await call("choose_time", soon="the last one") == f"{monday} 10:30 AM."
    assert await call("choose_time", soon="an hour later") == f"{monday} 10:30 AM."
    assert await call("choose_time", soon="I don't mind") == f"{monday} 9:30 AM."
    assert await call("choose_time", soon="whatever is first") == f"{monday} 9:30 AM."
    assert await call("choose_time", soon="the earliest") == (
        f"The next free time is {monday} 9:00 AM."
    )
    assert (await call("choose_time", soon="any time", day="tuesday")).endswith("24 at 9:00 AM.")
    assert await call("choose_time", soon="later") == f"The next free time is {monday} 10:00 AM."
    assert await call("choose_time", soon="earlier") == f"The next free time is {monday} 9:00 AM."


async def test_free_times_are_looked_for_at_once(
    toolbox: Toolbox, scope: SessionScope, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, nine = Store(toolbox.database, scope.owner), NOW.replace(day=23, hour=9, minute=0)
    for slot in range(16):
        store.book((nine + slot * timedelta(minutes=30)).timestamp(), "Bob", "")
    read, asked = toolbox.database.read, []

    def counting(statement: Executable) -> Sequence[Row[*tuple[Any, ...]]]:
        asked.append(statement)
        return read(statement)

    monkeypatch.setattr(toolbox.database, "read", counting)
    assert await call("choose_time", soon="the earliest") == (
        "The next free time is Tuesday, November 24 at 9:00 AM."
    )
    assert len(asked) == 1


async def test_what_was_cancelled_meanwhile_is_not_cancelled(
    scope: SessionScope, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope.known = {"day": "2026-11-23", "time": "10:00 AM", "name": "Ann", "problem": "x"}
    await call("book_appointment")
    cancel = Store.cancel_appointment

    def second(store: Store, due: float) -> bool:
        cancel(store, due)
        return cancel(store, due)

    monkeypatch.setattr(Store, "cancel_appointment", second)
    assert await call("cancel_appointment") == "Error: I find no appointment under Ann."


@pytest.mark.parametrize(
    ("days", "hours", "by"),
    [
        (0, 0, "5:00 PM on Monday, November 23"),
        (1, 0, "5:00 PM on Monday, November 23"),
        (2, 0, "5:00 PM"),
        (2, 4, "5:00 PM on Tuesday, November 24"),
    ],
)
async def test_a_call_back_is_promised_for_when_somebody_is_there(
    scope: SessionScope, clock: Clock, call: Call, days: int, hours: int, by: str
) -> None:
    clock.advance(days=days, hours=hours)
    scope.known = {"number": "555 1234"}
    told = f"You will be called back at 555 1234 by {by}."
    assert await call("request_call_back") == told
    # Of two at the same moment one is kept.
    assert (await call("request_call_back")).startswith("Error: I could not note that.")


async def test_another_one_is_the_next_beside_it(
    toolbox: Toolbox, scope: SessionScope, call: Call
) -> None:
    scope.known = {"day": "2026-11-23", "time": "10:00 AM", "name": "Ann", "problem": "a rash"}
    await call("book_appointment")
    result = await toolbox.run(ToolCall("c", "start_over", {"beside": "too"}), scope)
    assert result.values == {"problem": "a rash", "day": "2026-11-23", "time": "10:30 AM"}
    result = await toolbox.run(ToolCall("d", "start_over", {}), scope)
    assert result.values == {}
