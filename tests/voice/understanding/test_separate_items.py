from __future__ import annotations

import pytest

from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.separate_items import counted_twice, told_apart, with_own_details

COUNT = Reading(lambda said: said, lambda _: "", counts=True)
SPECS = {
    "order_drink": ToolSpec(
        "order_drink", "Order.", {"required": ["drink"]}, readings={"number": COUNT}
    )
}


def is_drink(words: str) -> bool:
    return words.split()[-1].removesuffix("s") in ("latte", "mocha", "tea", "timer")


@pytest.mark.parametrize(
    ("request_text", "parts"),
    [
        ("two mochas, one small and one large, both with whipped cream",
         ("one small mocha with whipped cream", "one large mocha with whipped cream")),
        ("I'd like two lattes, one with oat milk",
         ("I'd like one latte with oat milk", "I'd like one latte")),
        ("five lattes two of them large the other three small",
         ("two large lattes", "three small lattes")),
        ("do me an espresso and two medium lattes one skim one whole",
         ("do me an espresso", "one skim medium latte", "one whole medium latte")),
        ("four teas, two with lemon and the rest with milk",
         ("two teas with lemon", "two teas with milk")),
        ("gimme 3 lattes 2 with sugar", ("gimme two lattes with sugar", "gimme one latte")),
        ("3 teas, 2 of them with milk 1 without", ("two teas with milk", "one tea")),
        ("4 lattes. 2 with soy 1 with oat 1 normal",
         ("two lattes with soy", "one latte with oat", "one latte")),
        ("two teas then one with lemon one without", ("one tea with lemon", "one tea")),
        ("three lattes please one of those needs to be decaf",
         ("one decaf latte", "two lattes")),
        ("set two timers, one for five minutes and one for ten",
         ("set one timer for five minutes", "set one timer for ten")),
    ],
)  # fmt: skip
def test_each_of_several_has_its_own_details(request_text: str, parts: tuple[str, ...]) -> None:
    assert told_apart(request_text, is_drink) == parts


@pytest.mark.parametrize(
    "request_text",
    ["two lattes, one mocha and one tea", "two lattes and one mocha", "three lattes, all large",
     "a latte with 2 sugars", "3 lattes with 2 sugars", "a tea with milk and a latte with sugar",
     "two lattes without sugar", "add two pounds of beef, one onion and one pepper",
     "a latte, one more thing"],
)  # fmt: skip
def test_other_requests_stay_whole(request_text: str) -> None:
    assert told_apart(request_text, is_drink) == (request_text,)


def orders(*given: dict[str, str]) -> list[ToolCall]:
    return [ToolCall(f"c{at}", "order_drink", one) for at, one in enumerate(given)]


@pytest.mark.parametrize(
    ("request_text", "given", "twice"),
    [
        ("three teas one decaf", [{"drink": "teas", "number": "three"},
         {"drink": "teas", "number": "three", "roast": "decaf"}], True),
        ("two small teas and two large teas", [{"drink": "teas", "number": "two", "size": "small"},
         {"drink": "teas", "number": "two", "size": "large"}], False),
        ("two teas and two lattes", [{"drink": "teas", "number": "two"},
         {"drink": "lattes", "number": "two"}], False),
        ("one with milk and one plain", [{"drink": "tea", "milk": "milk"}, {"drink": "tea"}], True),
        ("and the same twice", [{"drink": "tea"}, {"drink": "tea"}], False),
    ],
)  # fmt: skip
def test_no_two_calls_order_the_same_words(
    request_text: str, given: list[dict[str, str]], twice: bool
) -> None:
    assert counted_twice(request_text, orders(*given), SPECS) is twice


@pytest.mark.parametrize(
    ("request_text", "kept"),
    [
        ("a tea with lemon and a plain tea", {"drink": "tea"}),
        ("a tea with lemon and another tea, no lemon", {"drink": "tea"}),
        ("a tea with lemon and a tea with lemon", {"drink": "tea", "extras": "lemon"}),
        ("a tea and a tea, both with lemon", {"drink": "tea", "extras": "lemon"}),
    ],
)
def test_a_detail_said_once_is_of_one_thing(request_text: str, kept: dict[str, str]) -> None:
    made = orders(*[{"drink": "tea", "extras": "lemon"}] * 2)
    first, second = with_own_details(request_text, made, SPECS)
    assert (first, second.arguments) == (made[0], kept)
