from __future__ import annotations

from unittest.mock import Mock

import pytest

from tests.voice.tools.conftest import Call
from tests.voice.tools.services import Clock
from voice.config.shop import ShopConfig
from voice.errors import StoreError
from voice.tools import SessionScope, Toolbox
from voice.tools.builtin.coffee import places_order
from voice.tools.store import Store
from voice.types import ToolCall


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
        ("drips; size: lg; quantity: 3x", "Added: 3 large drip coffees."),
        ("decaf filter; size: md", "Added: medium decaf filter coffee."),
        ("coffee black; size: the smallest", "Added: small black coffee."),
        ("tea green; size: venti", "Added: large green tea."),
        ("hot choc; size: kid's size", "Added: small hot chocolate."),
        ("espresso macchiato; shots: dbl", "Added: macchiato with a double shot."),
        ("espresso; shots: a double one", "Added: espresso with a double shot."),
        ("latte; milk: normal milk", "Added: latte with normal milk."),
        ("flattie; shots: 1 extra", "Added: flat white with 1 extra shot."),
        ("cappas; shots: doubles; quantity: a pair", "Added: 2 cappuccinos with a double shot."),
        ("chamomile; quantity: 2 x", "Added: 2 chamomile teas."),
        ("chai tea latte", "Added: chai latte."),
        ("white chocolate mocha", "Added: white mocha."),
        ("skinny latte", "Added: latte with skim milk."),
        ("latte; milk: skinny", "Added: latte with skim milk."),
        ("cuppas; milk: milk; quantity: two", "Added: 2 teas with milk."),
        ("caramel frappuccino; size: the biggest", "Added: extra large caramel frappe."),
        ("kids hot chocolate; extras: not too hot", "Added: small hot chocolate not too hot."),
        ("warm milk; extras: hold the foam", "Added: steamed milk with no foam."),
        ("cold brew; size: wee; extras: no ice", "Added: small cold brew with no ice."),
        (
            "beer",
            "Error: Sorry, we do not have beer. Would you like coffee, latte, cappuccino,"
            " flat white, americano or espresso?",
        ),
        (
            "pumpkin spice latte",
            "Error: Sorry, we do not have pumpkin spice latte. Would you like a latte?",
        ),
        ("latte; sweetener: half sweet", "Added: latte with half sweet."),
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
    assert (
        await call("confirm_order", name="anna")
        == "Error: The order is empty. What would you like?"
    )
    assert scope.customer == "Anna"
    await call("order_drink", drink="latte", size="large", milk="oat milk")
    await call("order_drink", drink="mocha", size="small")
    await call("order_drink", drink="mochas", size="small")
    await call("order_drink", drink="green tea", quantity="three")
    assert await call("read_order") == (
        "The order for Anna is: 1 large latte with oat milk; 2 small mochas; 3 green teas."
    )
    assert await call("remove_drink", drink="the green teas") == "Removed: 3 green teas."
    assert await call("remove_drink", drink="latte") == ("Removed: large latte with oat milk.")
    assert await call("remove_drink", drink="latte") == "Error: There is no latte in the order."
    assert await call("confirm_order", name="anna maria") == (
        "Order confirmed for Anna Maria: 2 small mochas."
    )
    placed = scope.now().timestamp()
    assert Store(toolbox.database, scope.owner).orders() == [
        (placed, "Anna Maria", "2 small mochas")
    ]


@pytest.mark.parametrize(
    ("message", "placed"),
    [
        ("that is all my name is anna", True),
        ("nope just that it's for dave", True),
        ("no thanks", True),
        ("yes that's right", True),
        ("put it under bob please", True),
        ("That’s it.", True),
        ("place the order", True),
        ("good and it's a large", False),
        ("but he wants it bigger so large", False),
        ("with oat milk if you've got it", False),
        ("have you got all that", False),
        ("don't place it yet", False),
        ("is that all?", False),
        ("i finish work at five so i'd be cutting it fine", False),
        ("", False),
    ],
)
def test_words_that_place_an_order(message: str, placed: bool) -> None:
    assert places_order(message) is placed


async def test_the_order_is_read_back_before_it_is_placed(
    call: Call, toolbox: Toolbox, scope: SessionScope
) -> None:
    (spec,) = toolbox.specs(["confirm_order"], scope)
    assert spec.confirmation is not None
    assert spec.confirmation.question({}) == ""
    await call("order_drink", drink="latte", quantity="two")
    assert spec.confirmation.question({}) == "The order is: 2 lattes. Shall I place it?"


@pytest.mark.parametrize(
    ("messages", "name", "customer"),
    [
        (("that's all for anna maria",), "anna maria", " for Anna Maria"),
        (("yes", "that's us done name's ruaridh"), "ruaridh", " for Ruaridh"),
        (("Anna.",), "Anna", " for Anna"),
        (("no thanks anna",), "anna", " for Anna"),
        (("that's all he wants",), "he wants", ""),
        (("it's a large",), "a large", ""),
        (("it's for my wife",), "my wife", ""),
        (("and sandra says that's all",), "sandra", ""),
        ((), "anna", " for Anna"),
        (("yes, place it now", "no, medium", "name's Katherine, with a K"), "", " for Katherine"),
        (("my name is Joe spelled j o e",), "", " for Joe"),
        (("yes, place it now", "it's for a friend with a dog"), "", ""),
        (("place it", "I'm with a group"), "", ""),
    ],
)
async def test_a_name_counts_where_it_was_given(
    call: Call, scope: SessionScope, messages: tuple[str, ...], name: str, customer: str
) -> None:
    await call("order_drink", drink="espresso")
    scope.said = messages
    assert await call("confirm_order", name=name) == f"Order confirmed{customer}: 1 espresso."


async def test_a_change_of_nothing_asks_what_to_change(call: Call) -> None:
    await call("order_drink", drink="latte", size="large")
    answer = "Error: The order has 1 large latte. What am I to change?"
    assert await call("change_drink", drink="latte") == answer
    assert await call("change_drink", drink="it", size="large", quantity="one") == answer


async def test_an_order_without_a_name(call: Call) -> None:
    await call("order_drink", drink="espresso")
    assert await call("confirm_order") == "Order confirmed: 1 espresso."


async def corrected(toolbox: Toolbox, scope: SessionScope, *calls: ToolCall) -> list[str]:
    """What the calls of one answer bring, in their order."""
    found = []
    for call in calls:
        beside = [other for other in calls if other is not call]
        found.append((await toolbox.run(call, scope, beside=beside)).content)
    return found


async def test_a_changed_drink_keeps_its_own_details_and_the_other_drinks(
    call: Call, toolbox: Toolbox, scope: SessionScope
) -> None:
    await call("order_drink", drink="latte", size="large", milk="oat milk", quantity="two")
    await call("order_drink", drink="tea", sweetener="honey")
    assert await corrected(
        toolbox,
        scope,
        ToolCall("c1", "remove_drink", {"drink": "latte"}),
        ToolCall("c2", "order_drink", {"drink": "lattes", "size": "medium", "shots": "a shot"}),
    ) == [
        "Removed: 2 large lattes with oat milk.",
        "Added: 2 medium lattes with 1 shot and oat milk.",
    ]
    assert await corrected(
        toolbox,
        scope,
        ToolCall("c3", "remove_drink", {"drink": "tea"}),
        ToolCall("c4", "order_drink", {"drink": "green tea"}),
    ) == ["Removed: tea with honey.", "Added: green tea with honey."]
    assert await corrected(
        toolbox,
        scope,
        ToolCall("c5", "remove_drink", {"drink": "green tea"}),
        ToolCall("c6", "order_drink", {"drink": "mocha", "sweetener": "no sugar"}),
    ) == ["Removed: green tea with honey.", "Added: mocha."]
    assert await call("read_order") == (
        "The order is: 2 medium lattes with 1 shot and oat milk; 1 mocha."
    )


@pytest.mark.parametrize(
    ("message", "added"),
    [("swap the caramel one for a mocha", "large mocha"), ("a mocha, and no latte", "mocha")],
)
async def test_a_drink_in_the_place_of_another_has_its_size(
    call: Call, toolbox: Toolbox, scope: SessionScope, message: str, added: str
) -> None:
    await call("order_drink", drink="caramel latte", size="large")
    scope.said = (message,)
    assert await corrected(
        toolbox,
        scope,
        ToolCall("c1", "remove_drink", {"drink": "caramel latte"}),
        ToolCall("c2", "order_drink", {"drink": "mocha"}),
    ) == ["Removed: large caramel latte.", f"Added: {added}."]


@pytest.mark.parametrize(
    ("before", "amount", "after"),
    [
        ("one pump of vanilla", "two pumps", "2 pumps of vanilla"),
        ("two sugars", "three packets", "3 packets of sugar"),
        ("honey", "two spoons of sugar", "2 spoons of sugar"),
    ],
)
async def test_an_amount_alone_is_of_the_same_sweetener(
    call: Call, toolbox: Toolbox, scope: SessionScope, before: str, amount: str, after: str
) -> None:
    await call("order_drink", drink="latte", sweetener=before)
    (spec,) = toolbox.specs(["change_drink"], scope)
    assert spec.readings["shots"].read(amount) is None
    told = await call("change_drink", drink="latte", sweetener=amount)
    assert told == f"Changed: latte with {after}."


async def test_a_drink_that_was_removed_earlier_is_no_correction(
    call: Call, scope: SessionScope
) -> None:
    await call("order_drink", drink="latte", milk="oat milk")
    await call("remove_drink", drink="latte")
    assert await call("order_drink", drink="latte") == "Added: latte."


async def test_nothing_is_removed_for_a_drink_that_is_not_on_the_menu(
    call: Call, toolbox: Toolbox, scope: SessionScope
) -> None:
    await call("order_drink", drink="latte", milk="oat milk")
    kept, refused = await corrected(
        toolbox,
        scope,
        ToolCall("c1", "remove_drink", {"drink": "latte"}),
        ToolCall("c2", "order_drink", {"drink": "goulash"}),
    )
    assert kept == "Error: I have not changed anything."
    assert refused.startswith("Error: Sorry, we do not have goulash. Would you like coffee,")
    assert await call("read_order") == "The order is: 1 latte with oat milk."


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ("size: medium", "Changed: medium latte with oat milk and cinnamon."),
        ("milk: almond milk", "Changed: large latte with almond milk and cinnamon."),
        ("milk: no milk", "Changed: large latte with cinnamon."),
        ("sweetener: two sugars", "Changed: large latte with oat milk, 2 sugars and cinnamon."),
        ("extras: whipped cream",
         "Changed: large latte with oat milk and cinnamon and whipped cream."),
        ("extras: hold the cinnamon", "Changed: large latte with oat milk."),
        ("extras: the cinnamon off", "Changed: large latte with oat milk."),
        ("extras: no foam", "Changed: large latte with oat milk and cinnamon and no foam."),
        ("quantity: three", "Changed: 3 large lattes with oat milk and cinnamon."),
        ("roast: decaf", "Changed: large decaf latte with oat milk and cinnamon."),
        ("size: huge", "Error: I could not read the size huge."),
        ("sweetener: no cinnamon", "Changed: large latte with oat milk."),
    ],
)  # fmt: skip
async def test_a_drink_is_changed_and_keeps_what_was_not_mentioned(
    call: Call, change: str, answer: str
) -> None:
    await call("order_drink", drink="latte", size="large", milk="oat milk", extras="cinnamon")
    await call("order_drink", drink="mocha", size="small")
    key, value = change.split(": ")
    assert await call("change_drink", drink="the latte", **{key: value}) == answer
    assert "1 small mocha" in await call("read_order")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what's in a mocha?", "A mocha is espresso with steamed milk and chocolate."),
        ("does the chai have nuts in it?", "Error: Sorry, I do not know that about the chai."),
        ("do you have oat milk?", "Yes, we have oat milk."),
        ("have you got any beer", "Sorry, we do not have beer."),
        ("how much is a latte", "Sorry, I do not know the prices."),
        ("do you do cakes", "We only have drinks, nothing to eat."),
        ("what do you recommend", "We have coffee, latte,"),
        ("hello what do you guys have", "We have coffee, latte,"),
        ("what can i get here", "We have coffee, latte,"),
        ("what about a pumpkin spice latte", "Sorry, we do not have pumpkin spice latte."),
        ("what about a nice large latte", "Error: Sorry, I do not know that about the latte."),
        ("is it any good", "Error: Sorry, I do not know that."),
    ],
)
async def test_a_question_is_answered_from_the_menu(
    call: Call, scope: SessionScope, question: str, told: str
) -> None:
    assert (await call("answer_question", message=question)).startswith(told)
    assert scope.order == {}


async def test_all_is_cancelled(call: Call) -> None:
    await call("order_drink", drink="latte")
    await call("order_drink", drink="tea", quantity="two")
    assert await call("cancel_order") == "Cancelled: 1 latte; 2 teas."
    assert await call("read_order") == "The order is empty."


async def test_a_placed_order_is_known_and_can_be_changed_while_it_is_not_made(
    call: Call, scope: SessionScope, toolbox: Toolbox, clock: Clock
) -> None:
    store = Store(toolbox.database, scope.owner)
    scope.shop = ShopConfig(ready_min=10, change_min=3)
    placed_at = scope.now().timestamp()
    await call("order_drink", drink="latte")
    await call("confirm_order", name="Dan")
    assert await call("read_order") == "The order for Dan is placed: 1 latte."
    assert await call("confirm_order") == "The order is placed: 1 latte."
    assert await call("answer_question", message="what name is it under") == "The name is Dan."
    clock.advance(minutes=2)
    asked = {"message": "how long will it be"}
    assert await call("answer_question", **asked) == "Your order will be ready in about 8 minutes."
    assert await call("change_drink", drink="it", size="large") == (
        "Changed: large latte. The order is placed like that."
    )
    scope.said = ("and a tea, the name is Eva",)
    assert await call("order_drink", drink="tea") == (
        "Added: tea. The name is Eva. The order is placed like that."
    )
    assert store.orders() == [(placed_at, "Eva", "1 large latte; 1 tea")]
    scope.said = ("no latte after all",)
    assert await call("remove_drink", drink="latte") == (
        "Removed: large latte. The order is placed like that."
    )
    await call("undo_last", message="undo that")
    assert store.orders() == [(placed_at, "Eva", "1 large latte; 1 tea")]
    clock.advance(minutes=2)
    made = "Error: The order is being made already, so I cannot change it."
    assert await call("remove_drink", drink="tea") == made
    assert await call("change_drink", drink="tea", size="large") == made
    assert await call("cancel_order") == made
    # Another order.
    assert await call("order_drink", drink="mocha") == "Added: mocha."
    assert await call("confirm_order") == "Order confirmed for Eva: 1 mocha."
    assert [content for _, _, content in store.orders()] == ["1 large latte; 1 tea", "1 mocha"]
    assert await call("cancel_order") == "Cancelled: 1 mocha."
    assert [content for _, _, content in store.orders()] == ["1 large latte; 1 tea"]


async def test_a_flavor_of_the_name_is_taken_off_and_not_the_drink(
    call: Call, scope: SessionScope
) -> None:
    await call("order_drink", drink="caramel latte", size="medium")
    await call("order_drink", drink="espresso")
    scope.said = ("yes", "take off the caramel")
    assert await call("remove_drink", drink="caramel") == "Changed: medium latte."
    await call("order_drink", drink="caramel latte")
    scope.said = ("drop the caramel latte",)
    assert await call("remove_drink", drink="caramel latte") == "Removed: caramel latte."


async def test_it_is_the_order_where_that_was_placed_just_now(
    call: Call, scope: SessionScope, toolbox: Toolbox
) -> None:
    store = Store(toolbox.database, scope.owner)
    await call("order_drink", drink="latte")
    await call("order_drink", drink="tea")
    scope.said = ("that's all",)
    await call("confirm_order")
    scope.said = ("cancel that", "that's all")
    assert await call("remove_drink", drink="that") == "Cancelled: 1 latte; 1 tea."
    assert (store.orders(), scope.placed) == ([], None)


async def test_what_was_placed_is_placed_again_where_its_end_is_taken_back(
    call: Call, scope: SessionScope, toolbox: Toolbox, clock: Clock
) -> None:
    store = Store(toolbox.database, scope.owner)
    await call("order_drink", drink="latte")
    await call("confirm_order", name="Dan")
    placed, kept = scope.placed, store.orders()
    scope.said = ("cancel the order",)
    await call("cancel_order")
    assert (scope.placed, store.orders()) == (None, [])
    await call("undo_last", message="undo that")
    assert (scope.placed, store.orders()) == (placed, kept)
    clock.advance(minutes=9)
    scope.said = ("a tea, the name is Eva",)
    await call("order_drink", drink="tea")
    assert (scope.placed, scope.customer) == (None, "Eva")
    await call("undo_last", message="undo that")
    assert await call("read_order") == "The order for Dan is placed: 1 latte."


async def test_what_cannot_be_kept_of_a_placed_order_is_not_in_it(
    call: Call, scope: SessionScope, toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    await call("order_drink", drink="latte")
    await call("confirm_order", name="Dan")
    with monkeypatch.context() as broken:
        broken.setattr(Store, "change_order", Mock(side_effect=StoreError("the disk is full")))
        for tool, given in (
            ("order_drink", {"drink": "tea"}), ("change_drink", {"drink": "it", "size": "large"}),
            ("remove_drink", {"drink": "latte"}), ("cancel_order", {}),
        ):  # fmt: skip
            assert (await call(tool, **given)).startswith("Error: ")
            assert await call("read_order") == "The order for Dan is placed: 1 latte."
    Store(toolbox.database, scope.owner).forget()
    gone = "Error: The order is not there any more, so I cannot change it."
    assert await call("order_drink", drink="tea") == gone
    assert await call("order_drink", drink="tea") == "Added: tea."


async def test_a_placed_order_and_its_name_are_forgotten_with_the_rest(
    call: Call, scope: SessionScope
) -> None:
    await call("order_drink", drink="latte")
    await call("confirm_order", name="Dan")
    await call("forget_me")
    assert await call("read_order") == "The order is empty."
    assert await call("answer_question", message="what name is it under") == (
        "The order has no name yet."
    )


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("a latte, name's Priya", "Priya"), ("one tea for Beth please", "Beth"),
        ("a tea and it's for beth", "Beth"), ("two teas under Marta, thanks", "Marta"),
        ("a tea for me", ""), ("a tea for my wife", ""), ("a latte for breakfast", ""),
        ("one latte for now please", ""), ("I'm thirsty, a tea", ""),
        ("two lattes please name of beth", "Beth"), ("a tea for beth that's all", "Beth"),
        ("a tea for two with milk for oat", ""),
        ("a tea, I'm Beth", "Beth"), ("a tea, I'm starving", ""), ("a tea, it's for takeout", ""),
    ],
)  # fmt: skip
async def test_a_name_beside_a_drink_is_kept(
    call: Call, scope: SessionScope, message: str, name: str
) -> None:
    scope.said = (message,)
    told = await call("order_drink", drink="tea")
    assert (scope.customer, f"The name is {name}." in told) == (name, bool(name))


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ("a pumpkin spice latte please", "pumpkin spice latte"),
        ("what a joke, get me a bloody latte", ""),
        ("two gingerbread lattes", "gingerbread latte"),
        ("a nice large oat milk latte", ""),
        ("my friend and a girl who wants latte", ""),
        ("two sugar free vanilla lattes", ""),
    ],
)
async def test_what_is_not_on_the_menu_is_refused_by_its_name(
    call: Call, scope: SessionScope, message: str, refused: str
) -> None:
    scope.said = (message,)
    drink = "lattes" if "lattes" in message else "latte"
    told = await call("order_drink", drink=drink)
    assert told.startswith(f"Error: Sorry, we do not have {refused}" if refused else "Added: latte")
