from __future__ import annotations

import pytest

from tests.voice.tools.conftest import Call
from voice.tools import SessionScope, Toolbox


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            "latte; size: large; roast: dark roast; milk: oat milk; sweetener: sugar",
            "Added: large dark roast latte with oat milk and sugar.",
        ),
        ("mochas; size: small; quantity: two", "Added: 2 small mochas."),
        ("a flat white; quantity: a", "Added: flat white."),
        ("coffee; size: sixteen ounce", "Added: sixteen ounce coffee."),
        ("coffee; size: an 8 oz; roast: decaf", "Added: eight ounce decaf coffee."),
        ("latte; milk: oat; roast: lightly roasted", "Added: light roast latte with oat milk."),
        ("latte; milk: no milk; sweetener: no sugar", "Added: latte."),
        (
            "latte; shots: two; extras: whipped cream",
            "Added: latte with 2 shots and whipped cream.",
        ),
        ("latte; shots: double shot", "Added: latte with a double shot."),
        ("latte; shots: an extra shot", "Added: latte with an extra shot."),
        ("latte; shots: a shot", "Added: latte with 1 shot."),
        ("latte; sweetener: two teaspoons of sugar", "Added: latte with 2 teaspoons of sugar."),
        ("iced vanilla latte; quantity: a couple of", "Added: 2 iced vanilla lattes."),
        ("caramel macchiato; quantity: a dozen", "Added: 12 caramel macchiatos."),
        ("capuccino", "Added: cappuccino."),
        ("beer", "Error: We do not have beer."),
        ("latte; size: huge", "Error: I could not read the size huge."),
        ("latte; quantity: blue", "Error: I could not read the quantity blue."),
        ("latte; quantity: a million", "Error: I can take 50 of a drink at most."),
        ("latte; shots: blue", "Error: I could not read the number of shots blue."),
        ("", "Error: The drink is missing."),
    ],
)
async def test_ordering(call: Call, said: str, answer: str) -> None:
    drink, *others = said.split("; ")
    more = dict(other.split(": ") for other in others)
    assert await call("order_drink", drink=drink, **more) == answer


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
    placed = scope.now().timestamp()
    assert toolbox.store.orders() == [(placed, "Anna Maria", "2 small mochas")]


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
