from __future__ import annotations

import pytest

from tests.voice.tools.conftest import Call
from voice.tools import SessionScope, Toolbox


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (
            {
                "drink": "latte",
                "size": "large",
                "roast": "dark roast",
                "milk": "oat milk",
                "sweetener": "sugar",
            },
            "Added: large dark roast latte with oat milk and sugar.",
        ),
        ({"drink": "mochas", "size": "small", "quantity": "two"}, "Added: 2 small mochas."),
        ({"drink": "a flat white", "quantity": "a"}, "Added: flat white."),
        ({"drink": "coffee", "size": "sixteen ounce"}, "Added: sixteen ounce coffee."),
        (
            {"drink": "coffee", "size": "an 8 oz", "roast": "decaf"},
            "Added: eight ounce decaf coffee.",
        ),
        (
            {"drink": "latte", "milk": "oat", "roast": "lightly roasted"},
            "Added: light roast latte with oat milk.",
        ),
        ({"drink": "latte", "milk": "no milk", "sweetener": "no sugar"}, "Added: latte."),
        (
            {"drink": "latte", "shots": "two", "extras": "whipped cream"},
            "Added: latte with 2 shots and whipped cream.",
        ),
        ({"drink": "latte", "shots": "double shot"}, "Added: latte with a double shot."),
        ({"drink": "latte", "shots": "an extra shot"}, "Added: latte with an extra shot."),
        ({"drink": "latte", "shots": "a shot"}, "Added: latte with 1 shot."),
        (
            {"drink": "latte", "sweetener": "two teaspoons of sugar"},
            "Added: latte with 2 teaspoons of sugar.",
        ),
        (
            {"drink": "iced vanilla latte", "quantity": "a couple of"},
            "Added: 2 iced vanilla lattes.",
        ),
        ({"drink": "caramel macchiato", "quantity": "a dozen"}, "Added: 12 caramel macchiatos."),
        ({"drink": "capuccino"}, "Added: cappuccino."),
        ({"drink": "beer"}, "Error: We do not have beer."),
        ({"drink": "latte", "size": "huge"}, "Error: I could not read the size huge."),
        ({"drink": "latte", "quantity": "blue"}, "Error: I could not read the quantity blue."),
        ({"drink": "latte", "quantity": "half"}, "Error: I could not read the quantity half."),
        ({"drink": "latte", "quantity": "zero"}, "Error: I could not read the quantity zero."),
        ({"drink": "latte", "quantity": "a million"}, "Error: I can take 50 of a drink at most."),
        ({"drink": "latte", "shots": "blue"}, "Error: I could not read the number of shots blue."),
        ({}, "Error: The drink is missing."),
    ],
)
async def test_ordering(call: Call, arguments: dict[str, str], answer: str) -> None:
    assert await call("order_drink", **arguments) == answer


async def test_an_order_is_built_read_back_and_placed(
    call: Call, scope: SessionScope, toolbox: Toolbox
) -> None:
    assert await call("read_order") == "The order is empty."
    assert await call("confirm_order", name="anna") == "Error: The order is empty."
    await call("order_drink", drink="latte", size="large", milk="oat milk")
    await call("order_drink", drink="mocha", size="small")
    await call("order_drink", drink="mochas", size="small")
    await call("order_drink", drink="green tea", quantity="three")
    assert await call("read_order") == (
        "The order is: 1 large latte with oat milk; 2 small mochas; 3 green teas."
    )
    assert await call("remove_drink", drink="the green teas") == "Removed: green tea."
    assert await call("remove_drink", drink="latte") == "Removed: latte."
    assert await call("remove_drink", drink="latte") == "Error: There is no latte in the order."
    assert await call("confirm_order", name="anna maria") == (
        "Order confirmed for Anna Maria: 2 small mochas."
    )
    assert scope.order == {}
    placed = toolbox.store.orders()
    assert [(order.customer, order.content) for order in placed] == [
        ("Anna Maria", "2 small mochas")
    ]
    assert placed[0].placed == scope.now().timestamp()


async def test_an_order_without_a_name(call: Call) -> None:
    await call("order_drink", drink="espresso")
    assert await call("confirm_order") == "Order confirmed: 1 espresso."


async def test_the_last_of_two_alike_is_removed_unless_it_is_named(call: Call) -> None:
    await call("order_drink", drink="latte", size="small")
    await call("order_drink", drink="latte", size="large")
    assert await call("remove_drink", drink="the small latte") == "Removed: small latte."
    assert await call("read_order") == "The order is: 1 large latte."
    await call("order_drink", drink="latte", size="small")
    assert await call("remove_drink", drink="latte") == "Removed: latte."
    assert await call("read_order") == "The order is: 1 large latte."
