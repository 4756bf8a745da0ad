"""Details of what was made last, in few words, told from another thing of its kind."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from voice.config import ToolsConfig, TurnConfig
from voice.tools import SessionScope, Toolbox
from voice.tools.scope import Drink
from voice.types import Message, Reading, Role, ToolCall, ToolSpec
from voice.understanding.details import detailed, shared_out


def shop_tools() -> dict[str, ToolSpec]:
    scope = SessionScope("x", order={Drink("tea"): 1, Drink("latte", "small"): 2})
    toolbox = Toolbox(ToolsConfig(database=":memory:"), TurnConfig())
    return {spec.name: spec for spec in toolbox.specs(["order_drink", "change_drink"], scope)}


def detail(
    said: str, *made: ToolCall, told: str = "Added.", before: Sequence[Message] = ()
) -> dict[str, str] | None:
    """The arguments by which a message changes what was made; an order has lattes and a tea."""
    tools = shop_tools()
    made = made or (ToolCall("1", "order_drink", {"drink": "latte"}),)
    results = (Message(Role.TOOL, told, call_id=call.call_id, name=call.name) for call in made)
    turn = (Message(Role.USER, "a latte"), Message(Role.AGENT, "", tool_calls=made), *results)
    call = detailed((*before, *turn, Message(Role.USER, said)), tools)
    assert call is None or call.name == "change_drink"
    return dict(call.arguments) if call else None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("make it a large one, and with oat milk", {"size": "large", "milk": "oat milk"}),
        ("a small one, with almond milk please", {"size": "small", "milk": "almond milk"}),
        ("decaf, please", {"roast": "decaf"}),
        ("large please, and that's everything for the office", {"size": "large"}),
        ("and two sugars", {"sweetener": "two sugars"}),
        ("oh, with an extra shot", {"shots": "extra shot"}),
        ("could you put vanilla in it", {"sweetener": "vanilla"}),
        ("whipped cream and a double shot", {"extras": "whipped cream", "shots": "double shot"}),
        ("no sugar, thanks", {"sweetener": "no sugar"}),
        ("can I have that with soy", {"milk": "soy"}),
        ("one of them with soy", {"milk": "soy"}),
        ("make that to go with a double shot", {"extras": "to go", "shots": "double shot"}),
        (
            "a dash of milk and one and a half sugars",
            {"milk": "dash of milk", "sweetener": "one and a half sugars"},
        ),
    ],
)
def test_details_are_of_the_last_one(said: str, expected: dict[str, str]) -> None:
    assert detail(said) == {"drink": "latte", **expected}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("some milk in the tea", {"drink": "tea", "milk": "milk"}),
        ("actually the tea decaf", {"drink": "tea", "roast": "decaf"}),
        (
            "no, the tea is with milk, and medium",
            {"drink": "tea", "milk": "milk", "size": "medium"},
        ),
        ("make everything to go", {"drink": "everything", "extras": "to go"}),
        ("make the latte large", {"drink": "latte", "size": "large"}),
        ("just one latte", {"drink": "latte", "quantity": "one"}),
        (
            "never mind. make it two teas, my neighbour Jean might come in",
            {"drink": "teas", "quantity": "two"},
        ),
        ("no 3 in total", {"drink": "latte", "quantity": "three"}),
        ("make the small one large", {"drink": "small one", "size": "large"}),
    ],
)
def test_what_is_there_and_is_pointed_at_is_changed(said: str, expected: dict[str, str]) -> None:
    assert detail(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "a large latte", "another one with oat milk", "and a tea with lemon", "one more, large",
        "a second one with milk", "is it large", "do you have oat milk", "that's all", "yes", "two",
        "a large one for my wife and a muffin", "with oat milk and a spaceship", "large mocha",
        "what milk is that", "", "soy milk instead of oat milk", "change the vanilla to caramel",
        "make it two mochas", "half of them with oat", "with cinnamon not chocolate",
        "peppermint then, the same size", "oat milk too, just hers", "with",
    ],
)  # fmt: skip
def test_what_asks_for_another_one_or_anything_else_is_no_detail(said: str) -> None:
    assert detail(said) is None


def test_a_size_behind_a_size_is_another_one_unless_it_corrects() -> None:
    large = ToolCall("1", "order_drink", {"drink": "latte", "size": "large"})
    assert detail("and a small one", large) is None
    assert detail("make it small", large) == {"drink": "latte", "size": "small"}


def test_of_several_that_are_called_the_same_it_is_the_newest() -> None:
    order = ToolCall("0", "order_drink", {"drink": "latte"})
    before = (Message(Role.USER, "a latte"), Message(Role.AGENT, "", tool_calls=(order,)))
    assert detail("with oat milk", before=before) == {"drink": "it", "milk": "oat milk"}


def test_which_one_is_not_guessed() -> None:
    both = (
        ToolCall("1", "order_drink", {"drink": "latte"}),
        ToolCall("2", "order_drink", {"drink": "tea"}),
    )
    assert detail("large please", *both) is None
    two = ToolCall("1", "order_drink", {"drink": "latte", "quantity": "two"})
    assert detail("one with soy", two) is None
    failed = ToolCall("1", "order_drink", {"drink": "beer"})
    assert detail("large please", failed, told="Error: no beer") is None


@pytest.mark.parametrize(
    ("said", "quantity", "expected"),
    [
        ("two of them large, the others small", "four",
         [{"quantity": "two", "size": "large"}, {"quantity": "two", "size": "small"}]),
        ("make one decaf and the other with oat milk", "two",
         [{"quantity": "one", "roast": "decaf"}, {"quantity": "one", "milk": "oat milk"}]),
        ("two of them large, the others for Tom", "four", []),
        ("one of them large", "two", []),
        ("one of them large and the other small", "", []),
    ],
)  # fmt: skip
def test_several_that_were_made_get_details_of_their_own_each(
    said: str, quantity: str, expected: list[dict[str, str]]
) -> None:
    given = {"drink": "lattes", **({"quantity": quantity} if quantity else {})}
    made = ToolCall("1", "order_drink", given)
    turn = (Message(Role.USER, "lattes"), Message(Role.AGENT, "", tool_calls=(made,)))
    calls = shared_out((*turn, Message(Role.USER, said)), shop_tools())
    assert [dict(call.arguments) for call in calls] == [
        {"drink": "latte", **one} for one in expected
    ]


def test_of_several_things_the_one_that_is_pointed_at_is_shared_out() -> None:
    made = (
        ToolCall("1", "order_drink", {"drink": "teas", "quantity": "five"}),
        ToolCall("2", "order_drink", {"drink": "mocha"}),
    )
    turn = (Message(Role.USER, "teas"), Message(Role.AGENT, "", tool_calls=made))
    for said, drinks in (
        ("three of the teas with milk, the rest with lemon", ["tea", "tea"]),
        ("three with milk, the rest with lemon", []),
    ):
        calls = shared_out((*turn, Message(Role.USER, said)), shop_tools())
        assert [call.arguments["drink"] for call in calls] == drinks


async def test_those_that_are_left_are_told_from_those_that_have_been_changed() -> None:
    toolbox = Toolbox(ToolsConfig(database=":memory:"), TurnConfig())
    scope = SessionScope("x", order={Drink("latte"): 1})
    four = {"drink": "lattes", "size": "large", "milk": "oat milk", "quantity": "four"}
    made = ToolCall("1", "order_drink", four)
    told = await toolbox.run(made, scope)
    tools = {one.name: one for one in toolbox.specs(["order_drink", "change_drink"], scope)}
    turn = (
        Message(Role.USER, "four large lattes with oat milk"),
        Message(Role.AGENT, "", tool_calls=(made,)),
        Message(Role.TOOL, told.content, call_id="1", name=made.name),
    )
    said = Message(Role.USER, "two of them decaf, the others with cinnamon")
    for number, call in enumerate(shared_out((*turn, said), tools)):
        await toolbox.run(ToolCall(f"c{number}", call.name, call.arguments), scope)
    decaf = Drink("latte", "large", "decaf", "", "oat milk")
    cinnamon = Drink("latte", "large", "", "", "oat milk", "", "cinnamon")
    assert scope.order == {Drink("latte"): 1, cinnamon: 2, decaf: 2}


def test_the_number_is_the_value_that_is_declared_to_count() -> None:
    def counts(said: str) -> str | None:
        return said if said in ("two", "four") else None

    def asks(said: str) -> str:
        return ""

    names = ("size", "pieces")
    schema = {"required": ["cake"], "properties": {one: {} for one in ("cake", *names)}}
    large = Reading(lambda said: said if said in ("large", "small") else None, asks)
    readings = {"size": large, "pieces": Reading(counts, asks, counts=True)}
    tools = {
        name: ToolSpec(name, "A cake.", schema, readings=readings)
        for name in ("order_cake", "change_cake")
    }
    made = ToolCall("1", "order_cake", {"cake": "tart", "pieces": "four"})
    turn = (Message(Role.USER, "four tarts"), Message(Role.AGENT, "", tool_calls=(made,)))
    said = Message(Role.USER, "two of them large, the others small")
    assert [call.arguments for call in shared_out((*turn, said), tools)] == [
        {"cake": "tart", "pieces": "two", "size": size} for size in ("large", "small")
    ]
