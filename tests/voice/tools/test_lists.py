from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from threading import Barrier

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.tools.conftest import Call
from tests.voice.tools.test_store import ASSISTANTS
from voice.tools import SessionScope, Toolbox
from voice.tools.builtin.lists import add_to_list
from voice.tools.database import Database
from voice.tools.store import Store


async def test_items_come_and_go(call: Call) -> None:
    assert await call("read_list") == "The shopping list is empty."
    assert await call("add_to_list", item="milk") == "Added milk to the shopping list."
    assert await call("read_list") == "The shopping list has 1 item: milk."
    assert await call("add_to_list", item="some eggs and bread") == (
        "Added eggs and bread to the shopping list."
    )
    assert await call("read_list", list="my shopping list") == (
        "The shopping list has 3 items: milk, eggs and bread."
    )
    assert await call("remove_from_list", item="the milk") == (
        "Removed milk from the shopping list."
    )
    assert await call("remove_from_list", item="milk") == "Error: Milk is not on the shopping list."
    assert await call("remove_from_list", item="an egg") == "Removed eggs from the shopping list."
    assert await call("read_list") == "The shopping list has 1 item: bread."


async def test_lists_are_apart_and_have_several_names(call: Call) -> None:
    await call("add_to_list", item="call mom and dad", list="my to do list")
    await call("add_to_list", item="milk", list="groceries")
    assert await call("read_list", list="todo") == "The todo list has 1 item: call mom and dad."
    assert await call("read_list") == "The shopping list has 1 item: milk."
    assert await call("read_list", list="christmas") == "The christmas list is empty."


async def test_a_new_list_begins_with_what_is_put_on_it(call: Call, scope: SessionScope) -> None:
    scope.said = ("Make a list called allotment.",)
    asked = await call("add_to_list", item="allotment")
    assert asked == "Error: Just tell me what to put on the allotment list."
    scope.said = ("put a book on the list called allotment",)
    assert await call("add_to_list", item="a book", list="allotment") == (
        "Added a book to the allotment list."
    )


async def test_nothing_is_put_on_a_list_twice(call: Call, toolbox: Toolbox) -> None:
    await call("add_to_list", item="apples")
    assert await call("add_to_list", item="apple") == "Apple is already on the shopping list."
    assert await call("add_to_list", item="apples and pears") == (
        "Added pears to the shopping list."
    )
    changes = toolbox.database.changes
    assert await call("add_to_list", item="apples and pears") == (
        "Apples and pears are already on the shopping list."
    )
    assert toolbox.database.changes == changes
    assert await call("add_to_list", item="milk and milk") == "Added milk to the shopping list."


def test_what_two_conversations_add_at_once_is_on_the_list_once(place: str) -> None:
    with ExitStack() as stack:
        databases = [stack.enter_context(closing(Database(place))) for _ in range(2)]
        threads = stack.enter_context(ThreadPoolExecutor(4))
        together = Barrier(4)

        def add(number: int, item: str) -> None:
            store = Store(databases[number % 2], ASSISTANTS)
            together.wait(PATIENCE_S)
            add_to_list(item, scope=SessionScope("s"), store=store)

        wanted = [f"item {number}" for number in range(20)]
        for item in wanted:
            list(threads.map(add, range(4), [item] * 4))
        assert Store(databases[0], ASSISTANTS).items("shopping") == wanted


@pytest.mark.parametrize("pair", ["half and half", "mac and cheese", "black & decker drill"])
async def test_some_things_have_an_and_in_them(call: Call, pair: str) -> None:
    await call("add_to_list", item=pair)
    assert await call("read_list") == f"The shopping list has 1 item: {pair}."


async def test_a_part_of_an_item_is_enough_to_remove_it_if_it_is_clear(call: Call) -> None:
    await call("add_to_list", item="a gallon of milk")
    await call("add_to_list", item="green tea")
    await call("add_to_list", item="black tea")
    assert await call("remove_from_list", item="milk") == (
        "Removed a gallon of milk from the shopping list."
    )
    assert await call("remove_from_list", item="tea") == "Error: Tea is not on the shopping list."


async def test_several_items_with_amounts_come_in_one_call(call: Call) -> None:
    assert await call("add_to_list", item="two litres of milk, mac and cheese and eggs") == (
        "Added two litres of milk, mac and cheese and eggs to the shopping list."
    )
    assert await call("read_list") == (
        "The shopping list has 3 items: two litres of milk, mac and cheese and eggs."
    )
    assert await call("remove_from_list", item="milk, eggs and bread") == (
        "Removed two litres of milk and eggs from the shopping list. "
        "The shopping list does not have bread."
    )


async def test_items_move_to_another_list(call: Call) -> None:
    await call("add_to_list", item="batteries and milk")
    await call("add_to_list", item="tent", list="camping")
    assert await call("move_item", item="the batteries", to="my camping list") == (
        "Moved batteries from the shopping list to the camping list."
    )
    assert await call("read_list", list="camping") == (
        "The camping list has 2 items: tent and batteries."
    )
    assert await call("move_item", item="tent", to="shopping") == (
        "Moved tent from the camping list to the shopping list."
    )
    assert await call("move_item", item="tent", to="party", list="camping") == (
        "Error: Tent is not on the camping list."
    )
    assert await call("read_list") == "The shopping list has 2 items: milk and tent."
    assert await call("move_item", item="milk", to="shopping") == (
        "Error: I do not know from which list to move milk."
    )


async def test_what_the_other_list_has_already_is_not_on_it_twice(
    call: Call, scope: SessionScope
) -> None:
    await call("add_to_list", item="egg and milk")
    await call("add_to_list", item="eggs", list="party")
    scope.said = ("move them",)
    assert await call("move_item", item="eggs, milk and bread", to="party", list="shopping") == (
        "Moved egg and milk from the shopping list to the party list. "
        "The shopping list does not have bread."
    )
    assert await call("read_list") == "The shopping list is empty."
    assert await call("read_list", list="party") == "The party list has 2 items: eggs and milk."
    await call("undo_last", message="undo that")
    assert await call("read_list", list="party") == "The party list has 1 item: eggs."
    assert await call("read_list") == "The shopping list has 2 items: milk and egg."


def test_an_item_is_known_though_another_list_has_one_like_it(
    toolbox: Toolbox, scope: SessionScope
) -> None:
    store = Store(toolbox.database, scope.owner)
    store.add_item("shopping", "oat milk")
    store.add_item("party", "whole milk", "eggs")
    (tool,) = toolbox.specs(("remove_from_list",), scope)
    known = tool.readings["item"].read
    assert known("milk") and known("milk and eggs")
    assert not known("milk and bread")


async def test_a_list_is_cleared_and_it_is_said_of_what(call: Call) -> None:
    await call("add_to_list", item="milk and eggs")
    await call("add_to_list", item="tent", list="camping")
    assert await call("clear_list") == "Cleared the shopping list: milk and eggs."
    assert await call("clear_list") == "The shopping list is empty."
    assert await call("read_list", list="camping") == "The camping list has 1 item: tent."


@pytest.mark.parametrize(
    ("item", "said", "items"),
    [
        ("crisps olives", "add crisps olives and hummus", "crisps and olives"),
        ("socks toothbrush", "a list with socks toothbrush, and soap", "socks and toothbrush"),
        ("olive oil", "add olive oil and bread", "olive oil"),
        ("two bottles prosecco", "two bottles prosecco and gin", "two bottles prosecco"),
        ("bags of spinach", "bags of spinach and milk", "bags of spinach"),
        ("sports drinks", "sports drinks and milk", "sports drinks"),
        ("walkers crisps", "add walkers crisps", "walkers crisps"),
    ],
)
async def test_a_plural_ends_an_item_of_an_enumeration(
    call: Call, scope: SessionScope, item: str, said: str, items: str
) -> None:
    scope.said = (said,)
    assert await call("add_to_list", item=item) == f"Added {items} to the shopping list."


async def test_that_list_is_the_one_that_was_named_last(call: Call, scope: SessionScope) -> None:
    await call("add_to_list", item="milk")
    scope.said = before = ("add charcoal to the garden party list", "what's on my to do list")
    await call("add_to_list", item="charcoal", list="garden party")
    told = "The garden party list has 1 item: charcoal."
    for said in ("read me that list", "is there charcoal on it"):
        scope.said = (said, *before)
        assert await call("read_list") == told
    scope.said = ("what's on my shopping list", *before)
    assert await call("read_list", list="shopping") == "The shopping list has 1 item: milk."
    scope.said = ("read me both", *before)
    assert await call("read_list") == f"The shopping list has 1 item: milk. {told}"
    scope.said = ("tongs too", *before)
    assert await call("add_to_list", item="tongs") == "Added tongs to the garden party list."
    scope.said = ("take the tongs off it", *before)
    assert await call("remove_from_list", item="tongs") == (
        "Removed tongs from the garden party list."
    )
    scope.said = ("clear it", "thanks", "can you hear me")
    assert await call("clear_list", list="shopping") == "Cleared the garden party list: charcoal."
