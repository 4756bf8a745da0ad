from __future__ import annotations

import pytest

from tests.voice.tools.conftest import Call
from voice.errors import StoreError
from voice.tools import SessionScope
from voice.tools.store import Store

UNDO = "undo that"


@pytest.mark.parametrize(
    ("calls", "looked_at"),
    [
        ([("set_alarm", {"when": "seven tomorrow"})], "list_alarms"),
        ([("set_timer", {"duration": "ten minutes"})], "list_timers"),
        ([("set_reminder", {"text": "buy soap", "when": "at nine"})], "list_reminders"),
        ([("add_to_list", {"item": "milk and eggs"})], "read_list"),
        ([("order_drink", {"drink": "latte"})], "read_order"),
        ([("set_device", {"device": "kitchen light", "state": "on"})], "get_device"),
    ],
)
async def test_what_was_made_is_undone(
    call: Call, scope: SessionScope, calls: list[tuple[str, dict[str, str]]], looked_at: str
) -> None:
    about = {"device": "kitchen light"} if looked_at == "get_device" else {}
    before = await call(looked_at, **about)
    scope.said = ("do it",)
    for name, arguments in calls:
        done = await call(name, **arguments)
    assert await call(looked_at, **about) != before
    scope.said = (UNDO, "do it")
    assert await call("undo_last", message=UNDO) == f"I took that back: {done}"
    assert await call(looked_at, **about) == before
    scope.said = ("once more", UNDO, "do it")
    assert await call("undo_last", message="undo it") == "Error: I cannot take that back."


@pytest.mark.parametrize(
    ("made", "undone", "looked_at"),
    [
        (("set_alarm", {"when": "seven"}), ("change_alarm", {"to": "eight"}), "list_alarms"),
        (("set_alarm", {"when": "every friday at six"}), ("cancel_alarm", {}), "list_alarms"),
        (("set_timer", {"duration": "ten minutes"}), ("change_timer", {"duration": "two more"}),
         "list_timers"),
        (("add_to_list", {"item": "milk"}), ("clear_list", {}), "read_list"),
        (("add_to_list", {"item": "milk"}), ("move_item", {"item": "milk", "to": "errands"}),
         "read_list"),
        (("add_to_list", {"item": "milk"}), ("remove_from_list", {"item": "milk"}), "read_list"),
        (("order_drink", {"drink": "tea"}), ("change_drink", {"drink": "tea", "size": "large"}),
         "read_order"),
        (("order_drink", {"drink": "tea"}), ("cancel_order", {}), "read_order"),
    ],
)  # fmt: skip
async def test_a_change_is_undone(
    call: Call,
    scope: SessionScope,
    made: tuple[str, dict[str, str]],
    undone: tuple[str, dict[str, str]],
    looked_at: str,
) -> None:
    scope.said = ("make it",)
    await call(made[0], **made[1])
    before = await call(looked_at)
    scope.said = ("change it", "make it")
    await call(undone[0], **undone[1])
    assert await call(looked_at) != before
    scope.said = (UNDO, "change it", "make it")
    await call("undo_last", message=UNDO)
    assert await call(looked_at) == before


@pytest.mark.parametrize(
    ("made", "removed", "looked_at"),
    [
        (("set_timer", {"duration": "ten minutes"}), ("cancel_timer", {}), "list_timers"),
        (("remember_fact", {"fact": "my car is red"}), ("forget_fact", {"what": "my car"}),
         "list_facts"),
    ],
)  # fmt: skip
async def test_what_was_made_and_removed_for_one_message_is_gone_when_both_are_undone(
    call: Call,
    scope: SessionScope,
    made: tuple[str, dict[str, str]],
    removed: tuple[str, dict[str, str]],
    looked_at: str,
) -> None:
    scope.said = ("make it, no, do not",)
    before = await call(looked_at)
    await call(made[0], **made[1])
    assert await call(looked_at) != before
    await call(removed[0], **removed[1])
    scope.said = (UNDO, *scope.said)
    await call("undo_last", message=UNDO)
    assert await call(looked_at) == before


async def test_what_could_not_be_undone_can_be_tried_again(
    call: Call, scope: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    await call("add_to_list", item="milk, eggs and oats")
    scope.said = ("not those, and wake me at seven",)
    await call("remove_from_list", item="milk, eggs and oats")
    await call("set_alarm", when="seven tomorrow")
    add, locked = Store.add_item, iter([False, True])

    def failing(store: Store, list_name: str, *items: str) -> None:
        if next(locked, False):
            raise StoreError("It is in use.", passes=True)
        add(store, list_name, *items)

    monkeypatch.setattr(Store, "add_item", failing)
    assert await call("undo_last", message=UNDO) == "Error: It is in use."
    assert await call("list_alarms") == "No alarms are set."
    assert await call("read_list") == "The shopping list has 1 item: oats."
    assert await call("list_done") == "Removed milk, eggs and oats from the shopping list."
    await call("undo_last", message=UNDO)
    assert await call("read_list") == "The shopping list has 3 items: oats, eggs and milk."
    assert await call("list_done") != "Removed milk, eggs and oats from the shopping list."


async def test_of_several_the_named_one_is_undone(call: Call, scope: SessionScope) -> None:
    scope.said = ("an alarm and a list",)
    await call("set_alarm", when="seven tomorrow")
    await call("add_to_list", item="oats")
    await call("undo_last", message="don't set the alarm after all")
    assert await call("list_alarms") == "No alarms are set."
    assert await call("read_list") == "The shopping list has 1 item: oats."


async def test_never_mind_behind_something_else_undoes_nothing(
    call: Call, scope: SessionScope
) -> None:
    scope.said = ("an alarm",)
    await call("set_alarm", when="seven tomorrow")
    scope.said = ("never mind that", "what is the time", "an alarm")
    assert await call("undo_last", message="never mind that") == "All right."
    assert await call("list_alarms") == "1 alarm: 7:00 AM tomorrow."


async def test_what_cannot_be_taken_back_is_said_so(call: Call, scope: SessionScope) -> None:
    assert await call("undo_last", message=UNDO) == "There is nothing that I could take back."
    await call("order_drink", drink="latte")
    scope.said = ("that's all",)
    await call("confirm_order")
    assert await call("undo_last", message=UNDO) == "Error: I cannot take that back."
    assert scope.placed


async def test_what_comes_up_is_of_all_kinds(call: Call) -> None:
    assert await call("coming_up", message="what's coming up") == "Nothing is coming up."
    await call("set_timer", duration="ten minutes", name="eggs")
    await call("set_alarm", when="seven tomorrow")
    await call("set_reminder", text="buy soap")
    coming = await call("coming_up", message="what's coming up")
    assert [one in coming for one in ("eggs", "7:00 AM tomorrow", "buy soap")] == [True] * 3
    assert await call("coming_up", message="what's on tomorrow?") == "1 alarm: 7:00 AM tomorrow."


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("what's on today", []),
        ("what have I got on the day after tomorrow", ["tablets"]),
        ("what's on on friday", ["tablets", "rent"]),
        ("what's on next friday", ["tablets", "rent"]),
        ("what's coming up this week", ["tablets"]),
        ("what's coming up next week", ["tablets", "rent"]),
        ("what's on on December 25th", ["tablets", "dentist"]),
        ("what have I got over the next two days", ["tablets"]),
    ],
)
async def test_what_comes_up_on_the_days_that_are_named(
    call: Call, message: str, told: list[str]
) -> None:
    for text, when in (
        ("tablets", "every day at eight a m"),
        ("rent", "friday at noon"),
        ("dentist", "december 25 at noon"),
    ):
        await call("set_reminder", text=text, when=when)
    said = await call("coming_up", message=message)
    assert [one for one in ("tablets", "rent", "dentist") if one in said] == told
    assert told or said == "Nothing is set for today."


async def test_what_was_done_for_the_last_message_is_told(call: Call, scope: SessionScope) -> None:
    assert await call("list_done") == "I have not done anything yet."
    scope.said = ("milk, and wake me at seven tomorrow",)
    done = [await call("add_to_list", item="milk"), await call("set_alarm", when="seven tomorrow")]
    scope.said = ("did you get all that?", *scope.said)
    assert await call("list_done") == " ".join(done)
