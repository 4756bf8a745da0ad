from random import Random

import pytest

from dlm.datagen.twins import TWINS
from dlm.datagen.world import World
from tests.dlm.datagen.worlds import told, world


def test_lists() -> None:
    here = world()
    here.lists["shopping"] = []
    assert here.call("read_list", {}).text == "The shopping list is empty."
    assert here.call("add_to_list", {"item": "milk"}).text == "Added milk to the shopping list."
    assert here.call("add_to_list", {"item": "some bread"}).text == (
        "Added bread to the shopping list."
    )
    assert here.call("add_to_list", {"item": "milk"}).text == (
        "Milk is already on the shopping list."
    )
    assert here.call("read_list", {"list": "shopping list"}).text == (
        "The shopping list has 2 items: milk and bread."
    )
    assert here.call("remove_from_list", {"item": "milk"}).text == (
        "Removed milk from the shopping list."
    )
    assert here.call("remove_from_list", {"item": "milk"}).text == (
        "Error: Milk is not on the shopping list."
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("calculate", {"expression": "twelve times seven"}, "12 times 7 is 84."),
        ("calculate", {"expression": "divide nine by two"}, "9 divided by 2 is 4.5."),
        ("calculate", {"expression": "soup"}, "Error: I could not calculate that."),
        (
            "convert_units",
            {"amount": "five", "from_unit": "miles", "to_unit": "kilometers"},
            "5 miles is 8.05 kilometers.",
        ),
        (
            "convert_units",
            {"amount": "a", "from_unit": "mile", "to_unit": "feet"},
            "1 mile is 5280 feet.",
        ),
        (
            "convert_units",
            {"amount": "one", "from_unit": "mile", "to_unit": "grams"},
            "Error: I cannot convert mile to grams.",
        ),
        (
            "convert_currency",
            {"amount": "lots", "from_currency": "euros", "to_currency": "yen"},
            "Error: I could not read the amount lots.",
        ),
        (
            "set_device",
            {"device": "the light", "room": "kitchen", "state": "on"},
            "The kitchen light is now on.",
        ),
        ("set_device", {"device": "front door", "state": "lock"}, "The front door is now locked."),
        (
            "set_device",
            {"device": "blinds", "state": "fifty percent"},
            "The blinds are now 50 percent.",
        ),
        ("end_conversation", {}, "Goodbye."),
    ],
)
def test_results(tool: str, arguments: dict[str, str], text: str) -> None:
    assert told(tool, **arguments) == text


def test_a_device_keeps_the_state_it_was_given() -> None:
    here = world()
    here.call("set_device", {"device": "lamp", "room": "den", "state": "green"})
    assert here.call("get_device", {"device": "lamp", "room": "den"}).text == (
        "The den lamp is green."
    )


def test_services_answer_and_sometimes_fail() -> None:
    rng = Random(4)
    weather = [World(rng, TWINS).call("get_weather", {"place": "paris"}) for _ in range(300)]
    fine = [r.text for r in weather if not r.error]
    assert 200 < len(fine) < 300
    assert all(text.startswith("Today in Paris: ") and ", low " in text for text in fine)
    assert "Error: The weather service cannot be reached." in {r.text for r in weather}
    price = [World(rng, TWINS).call("get_stock_price", {"company": "apple"}) for _ in range(100)]
    assert any(r.text.startswith("Apple is at ") and r.text.endswith(" dollars.") for r in price)
    found = [World(rng, TWINS).call("search_documents", {"query": "tides"}) for _ in range(50)]
    assert {r.text for r in found if r.error} == {"Error: Nothing about tides was found."}


def test_home_is_one_place() -> None:
    home = World(Random(2), TWINS)
    places = [home.call("get_weather", {}).fields.get("place") for _ in range(30)]
    assert len(set(places) - {None}) == 1
