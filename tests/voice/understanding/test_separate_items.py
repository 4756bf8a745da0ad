from __future__ import annotations

import pytest

from voice.understanding.separate_items import told_apart


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
