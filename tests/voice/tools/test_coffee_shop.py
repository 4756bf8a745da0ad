"""What a shop's own file decides: what there is, and what it costs."""

from __future__ import annotations

import pytest

from tests.voice.tools.conftest import Call
from voice.config.shop import ShopConfig
from voice.tools import SessionScope, Toolbox
from voice.tools.builtin.coffee_order import unoffered
from voice.tools.scope import Drink
from voice.types import ToolCall

SHOP = ShopConfig.model_validate({
    "currency": "EUR",
    "prices": {"latte": "3.50", "tea": "2", "green tea": "2.40", "matcha": "3.90"},
    "more": {"large": "0.5", "oat milk": "0.6", "shot": "0.8", "syrup": "0.4"},
    "answers": {
        "hours": {"asked": ["open"], "say": "We open at 8."},
        "dogs": {"asked": ["dogs?"], "say": "Dogs may come in."},
    },
})  # fmt: skip


@pytest.fixture
def shop(scope: SessionScope) -> None:
    scope.shop = SHOP


@pytest.mark.usefixtures("shop")
async def test_the_order_is_told_with_what_it_comes_to(call: Call) -> None:
    asked = {"message": "how much is that?"}
    assert await call("answer_question", **asked) == "The order is empty."
    assert await call("answer_question", message="what are your prices?") == (
        "A latte is €3.50, a tea is €2 and a green tea is €2.40."
    )
    await call("order_drink", drink="iced latte", size="large", milk="oat milk", quantity="two")
    await call("order_drink", drink="latte", shots="triple")
    assert await call("answer_question", **asked) == "That comes to €14.30."
    assert (await call("read_order")).endswith("with a triple shot. That comes to €14.30.")
    assert (await call("confirm_order")).endswith(" That comes to €14.30.")
    assert await call("answer_question", **asked) == "That comes to €14.30."


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("shots", "total"),
    [("an extra shot", "€4.30"), ("two extra shots", "€5.10"), ("three shots", "€5.90")],
)
async def test_each_shot_is_charged(call: Call, shots: str, total: str) -> None:
    await call("order_drink", drink="latte", shots=shots)
    assert (await call("read_order")).endswith(f" That comes to {total}.")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("when do you open and can my dog come?", "We open at 8. Dogs may come in."),
        ("how much is a large green tea", "A large green tea is €2.90."),
        ("what does a latte with two shots cost", "A latte with 2 shots is €5.10."),
        ("how much is an iced matcha latte", "An iced matcha latte is €3.90."),
        ("what is a latte with two pumps of vanilla, how much", "A latte with syrup is €3.90."),
        ("what would oat milk be on top?", "Extra oat milk costs €0.60."),
        (
            "what is your biggest size",
            "The sizes are small, medium, large and extra large. I do not know what they hold.",
        ),
        ("what do you have?", "We have latte, tea, matcha and green tea."),
        ("what teas have you got?", "We have tea and green tea."),
    ],
)
async def test_a_shop_answers_from_its_own_file(call: Call, question: str, told: str) -> None:
    assert await call("answer_question", message=question) == told


@pytest.mark.usefixtures("shop")
async def test_what_a_shop_does_not_sell_is_refused_before_anybody_is_asked(
    call: Call, scope: SessionScope, toolbox: Toolbox
) -> None:
    (spec,) = toolbox.specs(["order_drink"], scope)
    assert spec.refusal is not None
    black = ToolCall("c", "order_drink", {"drink": "black tea"})
    refused = spec.refusal(black, "a black tea")
    assert refused is not None and refused.options == {"drink": ("tea", "green tea")}
    assert refused.content.startswith("Error: Sorry, we do not have black tea.")
    assert await call("order_drink", drink="black tea") == refused.content
    tea = ToolCall("c", "order_drink", {"drink": "tea"})
    assert spec.refusal(tea, "a bubble tea") is not None
    assert spec.refusal(tea, "a cup of tea") is None
    strong = ToolCall("c", "order_drink", {"drink": "tea", "shots": "a shot"})
    assert spec.refusal(strong, "a tea with a shot of whiskey") is not None
    assert spec.refusal(strong, "a tea with a shot of espresso") is None
    assert scope.order == {}


@pytest.mark.parametrize(
    ("message", "name"),
    [("perfect, name of Hannah", "hannah"), ("that's it, Luis", "luis"), ("for a friend", "")],
)
async def test_an_order_is_placed_under_the_name_that_was_said(
    call: Call, scope: SessionScope, message: str, name: str
) -> None:
    await call("order_drink", drink="tea")
    scope.said = (message,)
    placed = await call("confirm_order", name=name or "luis")
    assert placed == f"Order confirmed{f' for {name.title()}' if name else ''}: 1 tea."


async def test_no_coffee_and_no_milk_goes_into_water(call: Call) -> None:
    await call("order_drink", drink="water")
    refused = "Error: I cannot put a double shot into water."
    assert await call("change_drink", drink="water", shots="a double") == refused
    assert await call("read_order") == "The order is: 1 water."


@pytest.mark.parametrize(
    "message",
    ["brew a sixteen ounce mocha with skim milk", "make me a light roast eight ounce mocha",
     "may i have an eight ounce mocha", "and a second mocha for my friend", "a um mocha",
     "two americanos a mocha and a tea", "a pair of mocha", "a jug of mocha"],
)  # fmt: skip
def test_what_stands_before_a_drink_of_the_menu_is_no_other_drink(message: str) -> None:
    assert unoffered("mocha", message) == ""
    assert unoffered("mocha", "a toffee nut mocha") == "toffee nut mocha"


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("said", "order", "told"),
    [
        (("and how much is it", "a tea"), {Drink("tea"): 2}, "That comes to €4."),
        (("how much is it", "is a latte sweet?"), {Drink("tea"): 2}, "A latte is €3.50."),
        (("how much is it", "do you have a tea?"), {Drink("tea"): 2}, "That comes to €4."),
        (("total?", "hello"), {Drink("tea"): 1}, "That comes to €2."),
        (("what do i pay", "a latte maybe"), {}, "A latte is €3.50."),
        (("how much", "a latte large"), {}, "A large latte is €4."),
        (("how much is the latte", ""), {Drink("iced latte", "large"): 2, Drink("tea"): 1},
         "A large iced latte is €4."),
        (("and what about the shot", "is oat milk extra"), {}, "Extra shot costs €0.80."),
        (("how much is that",), {Drink("iced matcha latte", sweetener="2 pumps of vanilla"): 1},
         "That comes to €4.30."),
        (("what does oat milk cost", ""), {Drink("tea"): 1}, "Extra oat milk costs €0.60."),
        (("how much is an oat latte", ""), {Drink("tea"): 1}, "A latte with oat milk is €4.10."),
        (("is oat milk extra",), {}, "Extra oat milk costs €0.60."),
        (("is decaf extra",), {}, "Error: Sorry, I do not know whether that costs more."),
        (("and a large one", "how much is a latte"), {}, "A large latte is €4."),
        (("or with oat milk", "how much is a large latte"), {},
         "A large latte with oat milk is €4.60."),
        (("what about a tea", "and a large one", "how much is a latte"), {}, "A tea is €2."),
        (("and a big one please", "how much is a latte"), {}, "Error: Sorry, I do not know that."),
        (("and a large one", "a latte"), {}, "Error: Sorry, I do not know that."),
        (("and a double one?", "how much is a latte"), {}, "A latte with a double shot is €4.30."),
        (("and a double one?", "a latte"), {}, "Error: Sorry, I do not know that."),
        (("is that more expensive than a tea?",), {Drink("latte"): 1},
         "A latte is €3.50 and a tea is €2."),
        (("are those cheaper than a latte",), {Drink("tea"): 2},
         "A tea is €2 and a latte is €3.50."),
        (("have you got down for me",), {}, "Error: Sorry, I do not know that."),
        (("is that more expensive than a tea?",), {}, "A tea is €2."),
        (("is that more expensive",), {Drink("tea"): 1}, "That comes to €2."),
        (("so a tea would be fine?", "can my dog come?"), {}, "Dogs may come in."),
        (("a tea should be ok then?", "a latte"), {}, "Error: Sorry, I do not know that."),
        (("yes, a tea would be fine", "can my dog come?"), {}, "Error: Sorry, I do not know that."),
    ],
)  # fmt: skip
async def test_a_price_is_of_what_was_just_spoken_of(
    call: Call, scope: SessionScope, said: tuple[str, ...], order: dict[Drink, int], told: str
) -> None:
    scope.order.update(order)
    scope.said = said
    assert await call("answer_question", message=said[0]) == told
