"""What is said at a counter beside plain orders orders nothing, or exactly what was meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

import pytest

from dlm.datagen.dialogues import Source, stream
from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.texting import texted
from dlm.datagen.own_tools.script import Script
from dlm.datagen.tools.catalog import AGENT_TOOLS
from dlm.datagen.turns import at_counter, basic
from dlm.datagen.values.slots import Values
from dlm.language.spoken_numbers import number
from tests.dlm.datagen.worlds import world

VALUES = Values(free=True)
LATTE = {"drink": "latte", "size": "small", "milk": "oat milk", "sweetener": "honey"}
MOCHAS = {"drink": "mochas", "quantity": "three"}
TEA = {"drink": "green tea", "milk": "soy milk"}


def talk(seed: int, *orders: dict[str, str]) -> Script:
    """A customer who has ordered these in one message."""
    script = Script(Random(seed), VALUES, "train", at_ease=seed % 2 == 0)
    script.offer(AGENT_TOOLS["coffee"])
    for order in orders:
        script.messages.append({"role": "user", "content": " ".join(order.values())})
    while orders and len(script.world.order) < len(orders):
        script.world.order.clear()
        script.call([("order_drink", dict(order)) for order in orders])
    return script


def told(turn: Callable[[Script], bool], *orders: dict[str, str]) -> list[tuple[Script, Any, str]]:
    """What a turn calls, and the words that were said last, over many seeds."""
    found = []
    for seed in range(120):
        script = talk(seed, *orders)
        before = len(script.messages)
        if turn(script):
            new = script.messages[before:]
            calls = [(c["name"], c["arguments"]) for m in new for c in m.get("tool_calls", ())]
            said = [m["content"].lower() for m in new if m["role"] == "user"]
            found.append((script, calls, said[-1]))
    assert len(found) > 60
    return found


def test_a_question_orders_nothing_until_the_drink_is_taken() -> None:
    taken = 0
    for script, calls, _ in told(at_counter.ask):
        roles = [(m["role"], bool(m.get("tool_calls"))) for m in script.messages]
        assert roles[:2] == [("user", False), ("assistant", False)]
        assert not script.messages[-1].get("cut")
        if calls:
            taken += 1
            ((name, arguments),) = calls
            *asked, _ = (m["content"].lower() for m in script.messages if m["role"] == "user")
            assert name == "order_drink" and arguments["drink"].lower() in asked[-1]
    assert taken > 20


def test_a_drink_that_was_asked_about_takes_the_place_of_the_last() -> None:
    swapped = 0
    for script, calls, _ in told(at_counter.ask, LATTE):
        if len(calls) == 2:
            swapped += 1
            assert calls[0] == ("remove_drink", {"drink": "latte"})
            *_, asked, _ = (m["content"].lower() for m in script.messages if m["role"] == "user")
            assert calls[1][0] == "order_drink" and calls[1][1]["drink"].lower() in asked
            assert "latte" not in [o["drink"] for o in script.world.order]
    assert swapped > 10


def test_a_number_changes_how_many_there_are_and_orders_no_more() -> None:
    for orders in (LATTE, MOCHAS):
        for script, calls, said in told(at_counter.amount, orders):
            ((name, arguments),) = calls
            assert name == "change_drink" and arguments.keys() == {"drink", "quantity"}
            assert arguments["quantity"].lower() in said
            assert number(arguments["quantity"]) != number(orders.get("quantity", "one"))
            (ordered,) = script.world.order
            assert ordered["quantity"] == arguments["quantity"]


@pytest.mark.parametrize("turn", [at_counter.swap_detail, at_counter.insist])
def test_a_detail_heard_wrong_is_the_one_that_changes(turn: Callable[[Script], bool]) -> None:
    shouted = 0
    for script, calls, said in told(turn, LATTE):
        ((name, arguments),) = calls
        ((key, value),) = ((k, v) for k, v in arguments.items() if k != "drink")
        assert name == "change_drink" and arguments["drink"] == "latte" and key in LATTE
        assert value.lower() in said and value.lower() != LATTE[key]
        assert {k: v for k, v in script.world.order[0].items() if k != key} == {
            k: v for k, v in LATTE.items() if k != key
        }
        shouted += value.isupper()
    assert (shouted > 0) is (turn is at_counter.insist)


def test_the_drink_in_a_place_is_the_one_that_is_meant() -> None:
    drinks = [LATTE, {"drink": "mocha"}, TEA]
    for _, calls, said in told(at_counter.place, *drinks):
        ((_, arguments),) = calls
        places = {"first": "latte", "second": "mocha", "third": "green tea", "last": "green tea"}
        (meant,) = {drink for nth, drink in places.items() if re.search(rf"\b{nth}\b", said)}
        assert arguments["drink"] == meant


def test_two_go_or_all_but_one() -> None:
    for script, calls, said in told(at_counter.remove_two, LATTE, MOCHAS, TEA):
        gone = {arguments["drink"].lower() for _, arguments in calls}
        assert len(gone) == 2 and all(drink in said for drink in gone)
        assert len(script.world.order) >= 1
    for script, calls, _ in told(at_counter.keep_one, LATTE, MOCHAS, TEA):
        assert [name for name, _ in calls] == ["remove_drink", "remove_drink"]
        assert len(script.world.order) == 1
    # "Not the latte" would take either of these.
    alike = talk(1, LATTE, {"drink": "vanilla latte"})
    assert not at_counter.remove_two(alike) and not at_counter.keep_one(alike)


def test_who_wavers_gets_the_drink_named_last() -> None:
    for _, calls, said in told(at_counter.undecided):
        ((name, arguments),) = calls
        assert name == "order_drink" and arguments["drink"].lower() in said


def test_what_no_menu_has_is_asked_of_the_shop() -> None:
    refused = offered = 0
    for script, calls, _ in told(at_counter.off_menu):
        assert [name for name, _ in calls] == ["order_drink"] * len(calls)
        first = next(m["content"] for m in script.messages if m["role"] == "tool")
        refused += first.startswith("Error: We do not have")
        offered += len(calls) == 2 and f" {calls[1][1]['drink'].lower()}" in first
    assert refused > 90 and offered > 10


def test_a_couple_is_two() -> None:
    here = world()
    lattes = {"drink": "lattes", "quantity": "A couple"}
    assert here.call("order_drink", lattes).text == "Added: 2 lattes."
    here.call("change_drink", {"drink": "one of the lattes", "roast": "decaf"})
    assert here.call("read_order", {}).text == "The order is: 1 latte; 1 decaf latte."


def test_that_is_all_ends_no_conversation_while_an_order_waits() -> None:
    for seed in range(200):
        script = talk(seed, LATTE)
        basic.goodbye(script)
        said = next(m["content"] for m in reversed(script.messages) if m["role"] == "user")
        assert not re.search(r"\b(?:that's (?:all|it)|will be all|done)\b", said.lower())


def test_who_types_in_haste_is_copied_as_written() -> None:
    pieces = [Piece("could you please get me a "), Piece("cappuccino", "drink")]
    made = [texted(Random(seed), pieces) for seed in range(300)]
    assert {p[1].text for p in made} > {"cappuccino", "cappucino"}
    assert len({p[0].text for p in made}) > 20
    assert all(p.slot == q.slot for some in made for p, q in zip(some, pieces, strict=True))
    here = world()
    order = {"drink": "cappucino", "milk": "oat"}
    assert here.call("order_drink", order).text == "Added: cappuccino with oat."
    changed = here.call("change_drink", {"drink": "the capuccino", "milk": "lose the oat"})
    assert changed.text == "Changed: cappuccino."
    assert here.call("remove_drink", {"drink": "cappuccino"}).text == "Removed: cappuccino."


def test_the_shops_own_answers_are_no_last_word() -> None:
    rows = list(islice(stream(Random(4), Source(VALUES, None, "train"), {"coffee": 1.0}), 600))
    cut = [m for row in rows for m in row["messages"] if m.get("cut")]
    assert len(cut) > 10 and all(m["role"] == "assistant" for m in cut)
    assert not any(row["messages"][-1].get("cut") for row in rows)
