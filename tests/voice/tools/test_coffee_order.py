"""Which drink of an order is meant, where there are several."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.voice.tools.conftest import Call
from voice.tools import SessionScope, Toolbox
from voice.tools.builtin.coffee_order import pointed_at
from voice.tools.scope import Drink
from voice.types import ToolCall


async def test_the_last_of_two_alike_is_removed_unless_it_is_named(call: Call) -> None:
    await call("order_drink", drink="latte", size="small")
    await call("order_drink", drink="latte", size="large")
    assert await call("remove_drink", drink="the small latte") == "Removed: small latte."
    assert await call("read_order") == "The order is: 1 large latte."
    await call("order_drink", drink="latte", size="small")
    assert await call("remove_drink", drink="latte") == "Removed: small latte."
    assert await call("read_order") == "The order is: 1 large latte."
    await call("order_drink", drink="latte", milk="soy", quantity="two")
    await call("order_drink", drink="tea")
    assert await call("remove_drink", drink="latte") == (
        "Error: Which one: the large latte or the latte with soy milk?"
    )
    assert await call("remove_drink", drink="plain one") == "Removed: tea."


async def test_of_several_drinks_the_one_that_is_named_is_changed(call: Call) -> None:
    assert await call("change_drink", drink="latte", size="large") == (
        "Error: There is no latte in the order."
    )
    await call("order_drink", drink="latte", size="small", quantity="two")
    await call("order_drink", drink="latte", size="large")
    assert await call("change_drink", drink="latte", milk="oat milk") == (
        "Error: Which one: the small latte or the large latte?"
    )
    assert await call("change_drink", drink="large latte", milk="oat milk") == (
        "Changed: large latte with oat milk."
    )
    assert await call("change_drink", drink="one of the small lattes", milk="soy") == (
        "Changed: small latte with soy milk."
    )
    # "It" is what was spoken of last.
    assert await call("change_drink", drink="it", size="medium") == (
        "Changed: medium latte with soy milk."
    )
    assert await call("read_order") == (
        "The order is: 1 small latte; 1 medium latte with soy milk; 1 large latte with oat milk."
    )


async def test_all_become_alike_though_one_is_so_already(call: Call, scope: SessionScope) -> None:
    await call("order_drink", drink="latte", size="small", quantity="two")
    await call("order_drink", drink="latte", size="large")
    scope.said = ("make all of them large",)
    assert await call("change_drink", drink="it", size="large") == "Changed: 2 large lattes."
    assert await call("read_order") == "The order is: 3 large lattes."
    assert await call("change_drink", drink="it", size="large") == (
        "Error: The order has 3 large lattes. What am I to change?"
    )


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ("the first one", "large latte with soy milk"), ("second", "small mocha with soy milk"),
        ("the third one", "decaf latte with soy"),
        ("the small", "small mocha with soy milk"),
        ("the decaf", "decaf latte with soy milk and sugar"),
        ("my sister's mocha", "small mocha with soy milk"),
        ("no sugar mocha", ""), ("fourth one", ""), ("the sugar", ""),
        ("the moca", "small mocha with soy milk"), ("the second latte", "decaf latte"),
    ],
)  # fmt: skip
async def test_a_drink_is_found_by_its_place_and_by_what_it_is(
    call: Call, said: str, changed: str
) -> None:
    await call("order_drink", drink="latte", size="large")
    await call("order_drink", drink="mocha", size="small")
    await call("order_drink", drink="decaf latte", sweetener="sugar")
    told = await call("change_drink", drink=said, milk="soy")
    assert told.startswith(f"Changed: {changed}" if changed else "Error: There is no")


async def test_one_without_is_told_from_one_with(call: Call) -> None:
    await call("order_drink", drink="chai", sweetener="sugar")
    await call("order_drink", drink="chai")
    assert await call("change_drink", drink="the no sugar one", size="large") == (
        "Changed: large chai."
    )


@pytest.mark.parametrize(
    ("message", "order"),
    [
        ("make one of the three decaf", "2 lattes; 1 decaf latte"),
        ("only one is decaf", "2 lattes; 1 decaf latte"),
        ("make the lattes decaf", "3 decaf lattes"),
        ("can you make two of them decaf", "1 latte; 2 decaf lattes"),
        ("make one large and two decaf", "1 latte; 2 decaf lattes"),
        ("the other two should be decaf", "1 latte; 2 decaf lattes"),
        ("just two sugars and decaf", "3 decaf lattes"),
    ],
)
async def test_some_of_several_are_changed_alone(
    call: Call, scope: SessionScope, message: str, order: str
) -> None:
    await call("order_drink", drink="latte", quantity="three")
    scope.said = ("yes please", message)
    await call("change_drink", drink="lattes", roast="decaf")
    assert await call("read_order") == f"The order is: {order}."


async def test_a_number_beside_a_detail_is_of_how_many_it_is(call: Call) -> None:
    await call("order_drink", drink="latte", quantity="three")
    await call("change_drink", drink="lattes", size="small", quantity="one")
    await call("change_drink", drink="lattes", size="large", quantity="two")
    assert await call("read_order") == "The order is: 2 large lattes; 1 small latte."
    await call("change_drink", drink="large lattes", size="medium", quantity="four")
    assert await call("read_order") == "The order is: 4 medium lattes; 1 small latte."


def ordered(*drinks: Drink | tuple[Drink, int]) -> dict[Drink, int]:
    pairs = [one if isinstance(one, tuple) else (one, 1) for one in drinks]
    return dict(pairs)


LATTE = Drink("latte", milk="oat milk", sweetener="vanilla syrup", extras="cinnamon and foam")
SMALL = Drink("latte", "small")
MOCHA = Drink("mocha", "large", sweetener="vanilla")


@pytest.mark.parametrize(
    ("swap", "changed"),
    [
        ({"old": "vanilla", "new": "caramel", "drink": "latte"}, {"sweetener": "caramel syrup"}),
        ({"old": "oat milk", "new": "soy"}, {"milk": "soy milk"}),
        ({"old": "foam", "new": "whipped cream"}, {"extras": "cinnamon and whipped cream"}),
        ({"old": "oat milk", "new": "mint"}, {"milk": "", "extras": f"{LATTE.extras} and mint"}),
        ({"new": "iced", "drink": "latte"}, {"name": "iced latte"}),
        ({"old": "latte", "new": "large"}, {"size": "large"}),
        ({"old": "size", "new": "small", "drink": "latte"}, {"size": "small"}),
    ],
)  # fmt: skip
async def test_a_detail_takes_the_place_of_another(
    call: Call, scope: SessionScope, swap: dict[str, str], changed: dict[str, str]
) -> None:
    scope.order.update(ordered((LATTE, 2), MOCHA))
    assert (await call("swap_in_order", **swap)).startswith("Changed: ")
    assert scope.order == ordered((replace(LATTE, **changed), 2), MOCHA)


@pytest.mark.parametrize(
    ("swap", "told"),
    [
        ({"old": "vanilla", "new": "caramel"}, "Which one: the latte with"),
        ({"old": "honey", "new": "sugar"}, "There is no honey in the order"),
        ({"old": "cold one"}, "There is no cold one in the order"),
        ({"new": "large"}, "The order has 1 large mocha with vanilla already."),
    ],
)
async def test_a_swap_that_is_not_plain_changes_nothing(
    call: Call, scope: SessionScope, swap: dict[str, str], told: str
) -> None:
    scope.order.update(ordered(LATTE, MOCHA))
    assert (await call("swap_in_order", **swap)).startswith(f"Error: {told}")
    assert scope.order == ordered(LATTE, MOCHA)


async def test_the_last_drink_takes_the_place_of_another(call: Call, scope: SessionScope) -> None:
    iced = Drink("iced latte")
    scope.order.update(ordered(MOCHA, LATTE, iced))
    await call("swap_in_order", old="hot latte")
    assert scope.order == ordered(MOCHA, iced)
    scope.said = ("a tea instead of the mocha",)
    told = await call("order_drink", drink="tea")
    assert told == "Removed: large mocha with vanilla. Added: tea."
    assert scope.order == ordered(iced, Drink("tea"))


@pytest.mark.parametrize(
    ("message", "drink", "left"),
    [
        ("remove one latte", "latte", 2),
        ("take two off please", "lattes", 1),
        ("cancel one of the lattes", "one of the lattes", 2),
        ("take one off with oat milk", "one off with oat milk", 2),
        ("remove the lattes", "lattes", 0),
        ("remove the latte with two shots", "latte", 0),
        ("remove four lattes", "lattes", 0),
        ("remove that one", "that one", 0),
    ],
)
async def test_so_many_are_taken_off_as_are_said(
    call: Call, scope: SessionScope, message: str, drink: str, left: int
) -> None:
    scope.order.update(ordered((LATTE, 3)))
    scope.said = (message,)
    assert (await call("remove_drink", drink=drink)).startswith("Removed: ")
    assert scope.order == ({LATTE: left} if left else {})


async def test_one_of_several_kinds_is_asked_about_and_the_count_kept(
    call: Call, scope: SessionScope, toolbox: Toolbox
) -> None:
    scope.order.update(ordered((SMALL, 2), (LATTE, 2)))
    scope.said = ("remove one latte",)
    result = await toolbox.run(ToolCall("c", "remove_drink", {"drink": "latte"}), scope)
    scope.said = ("the small one",)
    await call("remove_drink", drink=result.options["drink"][0])
    assert scope.order == ordered(SMALL, (LATTE, 2))


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("take the vanilla out of the first one", "Changed: latte with oat milk and cinnamon"),
        ("could you leave the oat milk off the latte please", "Changed: latte with vanilla"),
        ("take the vanilla out of it", "Changed: large mocha."),
        ("get the vanilla out of the espresso", "Removed: "),
        ("take the foam out of the mocha", "Error: There is no foam in the mocha."),
        ("take the mocha off the order", "Removed: large mocha"),
        ("remove the mocha", "Removed: large mocha"),
    ],
)
async def test_a_detail_is_taken_out_of_a_drink_and_not_the_drink(
    call: Call, scope: SessionScope, message: str, told: str
) -> None:
    scope.order.update(ordered(LATTE, MOCHA))
    scope.said = (message,)
    assert (await call("remove_drink", drink="mocha")).startswith(told)


async def test_what_was_taken_off_just_now_is_put_back(call: Call, scope: SessionScope) -> None:
    assert await call("keep_drink") == "Error: Sorry, which drink of the order do you mean?"
    scope.order.update(ordered(LATTE, (SMALL, 2)))
    await call("remove_drink", drink="the small ones")
    assert await call("keep_drink", new="iced") == "Kept: 2 small iced lattes."
    await call("cancel_order")
    assert await call("keep_drink") == (
        "Kept: latte with oat milk, vanilla syrup and cinnamon and foam and 2 small iced lattes."
    )
    await call("remove_drink", drink="latte with oat milk")
    await call("order_drink", drink="tea")
    assert (await call("keep_drink")).startswith("Error: ")


async def test_a_hot_drink_is_told_to_be_hot_and_no_cold_one(
    call: Call, scope: SessionScope
) -> None:
    scope.order.update(ordered(MOCHA))
    assert await call("swap_in_order", new="hot") == "The large mocha with vanilla will be hot."
    scope.order.update(ordered(Drink("lemonade")))
    assert (await call("swap_in_order", new="hot")).startswith("Error: ")


@pytest.mark.parametrize(
    ("said", "named"),
    [("two", "it"), ("that one", "it"), ("everything", "everything"), ("the tea", "the tea"),
     ("large one", "the large one")],
)  # fmt: skip
def test_a_question_names_a_drink_by_what_names_one(said: str, named: str) -> None:
    assert pointed_at(said) == named


@pytest.mark.parametrize("said", ["just", "with", "only", "her"])
async def test_a_small_word_is_no_drink(call: Call, scope: SessionScope, said: str) -> None:
    scope.order.update(ordered(LATTE))
    assert await call("change_drink", drink=said, milk="soy") == (
        f"Error: There is no {said} in the order."
    )


@pytest.mark.parametrize(
    ("message", "order"),
    [
        ("medium for everything", "1 medium mocha; 2 medium teas"),
        ("both of them medium please", "1 medium mocha; 2 medium teas"),
        ("make all the teas medium", "1 mocha; 2 medium teas"),
        ("the teas medium, and that's everything", "1 mocha; 2 medium teas"),
        ("make it medium", "1 mocha; 2 medium teas"),
    ],
)
async def test_all_drinks_are_changed_where_all_are_said(
    call: Call, scope: SessionScope, message: str, order: str
) -> None:
    scope.order.update(ordered(Drink("mocha"), (Drink("tea"), 2)))
    scope.said = (message,)
    await call("change_drink", drink="teas", size="medium")
    assert await call("read_order") == f"The order is: {order}."


@pytest.mark.parametrize(
    ("message", "order"),
    [
        ("a large tea then, with milk", "1 large tea with milk"),
        ("and then a large tea with milk", "1 tea; 1 large tea with milk"),
        ("then a large tea with milk", "1 tea; 1 large tea with milk"),
        ("a large tea with milk", "1 tea; 1 large tea with milk"),
    ],
)
async def test_then_says_more_of_what_stands_in_the_order(
    call: Call, scope: SessionScope, message: str, order: str
) -> None:
    scope.order.update(ordered(Drink("tea")))
    scope.said = (message,)
    await call("order_drink", drink="tea", size="large", milk="milk")
    assert await call("read_order") == f"The order is: {order}."


@pytest.mark.parametrize(
    ("message", "order"),
    [
        ("let's have the tea, medium, instead of the mocha", "2 small lattes; 1 medium tea"),
        ("a tea rather than the mocha, medium", "2 small lattes; 1 medium tea"),
        ("the mocha medium, with tea instead of coffee", "2 small lattes; 1 medium mocha"),
        ("the mocha medium", "2 small lattes; 1 medium mocha"),
    ],
)
async def test_a_change_of_what_is_replaced_puts_the_other_drink_there(
    call: Call, scope: SessionScope, message: str, order: str
) -> None:
    scope.order.update(ordered((SMALL, 2), Drink("mocha")))
    scope.said = (message,)
    await call("change_drink", drink="mocha", size="medium")
    assert await call("read_order") == f"The order is: {order}."


async def test_of_several_that_one_takes_the_place_of_all_go_or_one_is_asked_for(
    call: Call, scope: SessionScope
) -> None:
    scope.order.update(ordered(SMALL, LATTE))
    scope.said = ("a tea instead of the latte",)
    assert (await call("order_drink", drink="tea")).startswith("Error: Which one is to go: the ")
    scope.said = ("a tea instead of the lattes",)
    await call("order_drink", drink="tea")
    assert scope.order == ordered(Drink("tea"))


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("another one the same but with caramel", "Added: latte with caramel syrup."),
        ("the same, only with hazelnut", "Added: latte with hazelnut syrup."),
        ("the same but with vanilla and caramel", "Added: latte with vanilla syrup and caramel."),
        ("a latte with caramel", "Added: latte with vanilla syrup and caramel."),
    ],
)
async def test_another_flavor_takes_the_place_of_the_first_in_the_same_drink(
    call: Call, scope: SessionScope, message: str, told: str
) -> None:
    scope.said = (message,)
    flavor = "hazelnut" if "hazelnut" in message else "caramel"
    drink = {"drink": "latte", "sweetener": "vanilla syrup", "extras": flavor}
    assert await call("order_drink", **drink) == told


async def test_everything_goes_only_where_that_is_said(call: Call, scope: SessionScope) -> None:
    for message, left in (("make everything to go", 1), ("take everything off", 0)):
        scope.order.update(ordered(MOCHA))
        scope.said = (message,)
        await call("remove_drink", drink="everything")
        assert len(scope.order) == left


@pytest.mark.parametrize(
    ("message", "order"),
    [
        ("yes, a large tea, that's it", "1 large tea"),
        ("right, one large tea. that's all", "1 large tea"),
        ("yes, another large tea, that's it", "2 large teas"),
        ("yes, a large tea", "2 large teas"),
        ("a large tea, that's it", "2 large teas"),
    ],
)
async def test_who_says_the_order_over_again_orders_nothing_more(
    call: Call, scope: SessionScope, message: str, order: str
) -> None:
    scope.order.update(ordered(Drink("tea", "large")))
    scope.said = (message,)
    await call("order_drink", drink="tea", size="large")
    assert await call("read_order") == f"The order is: {order}."


async def test_a_drink_with_a_detail_in_its_name_goes_as_a_whole(
    call: Call, scope: SessionScope
) -> None:
    scope.order.update(ordered(Drink("iced latte"), Drink("vanilla latte")))
    for drink in ("iced latte", "vanilla latte"):
        scope.said = (f"remove the {drink}",)
        assert await call("remove_drink", drink=drink) == f"Removed: {drink}."
