from __future__ import annotations

from dataclasses import replace

import pytest

from tests.voice.understanding.test_corrections import TOOLS
from voice.types import Message, Reading, Role, ToolCall
from voice.understanding.reference_resolution import (
    about_the_named,
    as_called,
    changed_instead,
    like_before,
    made_instead,
    on_the_named,
)

THERE = ("tea", "latte", "cold brew", "blinds", "garage", "television")
KNOWN = Reading(
    lambda said: None,
    lambda said: "" if said.lower() in THERE else "There is none.",
    anywhere=True,
    there=lambda said: said.lower() in THERE,
)
DRINKS = {
    "order_drink": replace(TOOLS["order_drink"], readings={}),
    "change_drink": replace(TOOLS["change_drink"], readings={"drink": KNOWN}),
}
DEVICES = {"set_device": replace(TOOLS["set_device"], readings={"device": KNOWN})}


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("I also want an espresso, a double", "order_drink"),
        ("a double espresso with no sugar", "order_drink"),
        ("the espresso, sorry", "order_drink"),
        ("make the espresso a double", "change_drink"),
        ("no espresso please", "change_drink"),
        ("drop the espresso", "change_drink"),
    ],
)
def test_what_is_not_there_is_made_where_it_is_wanted(message: str, tool: str) -> None:
    there = Reading(lambda said: True, lambda said: "" if said == "tea" else "There is none.")
    drink = Reading(lambda said: said, lambda said: "")
    tools = {
        "order_drink": replace(TOOLS["order_drink"], readings={"drink": drink}),
        "change_drink": replace(TOOLS["change_drink"], readings={"drink": there}),
    }
    made = ToolCall("c", "change_drink", {"drink": "espresso", "shots": "a double"})
    assert made_instead(made, tools, message) == replace(made, name=tool)
    there_is = replace(made, arguments={"drink": "tea"})
    assert made_instead(there_is, tools, message) == there_is
    taken = replace(made, name="remove_drink")
    assert made_instead(taken, tools, message) == taken


@pytest.mark.parametrize(
    ("message", "made", "meant"),
    [
        ("Blinds shut and television on", ("television", "television"), ("Blinds", "television")),
        ("shut the garage back up", ("vacuum",), ("garage",)),
        ("turn it on", ("vacuum",), ("vacuum",)),
        ("television and blinds off", ("television", "blinds"), ("television", "blinds")),
    ],
)
def test_the_thing_is_the_one_that_is_named(
    message: str, made: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    def calls(devices: tuple[str, ...]) -> list[ToolCall]:
        return [ToolCall("c", "set_device", {"device": d, "state": "shut"}) for d in devices]

    assert about_the_named(calls(made), DEVICES, message) == calls(meant)


@pytest.mark.parametrize(
    ("message", "device", "room"),
    [
        ("hmm a bit brighter", "light", "bedroom"),
        ("turn it off then", "light", "bedroom"),
        ("turn them all off", "television", None),
        ("the television then", "television", None),
    ],
)
def test_what_names_nothing_is_about_the_newest_thing(
    message: str, device: str, room: str | None
) -> None:
    lit = ToolCall("a", "set_device", {"device": "light", "room": "bedroom", "state": "on"})
    before = [Message(Role.AGENT, tool_calls=(replace(lit, arguments={"device": "fan"}), lit))]
    made = ToolCall("c", "set_device", {"device": "television", "state": "off"})
    (found,) = about_the_named([made], DEVICES, message, before)
    wanted = {"device": device, "room": room, "state": "off"}
    assert found.arguments == {n: value for n, value in wanted.items() if value}


@pytest.mark.parametrize(
    ("message", "meant"),
    [("clear the shopping list", "shopping"), ("clear the holiday list", "holiday"),
     ("clear it", "holiday")],
)  # fmt: skip
def test_the_list_is_the_one_that_is_named(message: str, meant: str) -> None:
    call = ToolCall("c", "clear_list", {"list": "holiday"})
    assert on_the_named(call, message) == replace(call, arguments={"list": meant})


@pytest.mark.parametrize(("item", "meant"), [("tape", "hardware"), ("ribbon", "christmas")])
def test_of_several_lists_the_one_behind_the_item_is_meant(item: str, meant: str) -> None:
    message = "put tape on the hardware list and ribbon on the christmas list"
    call = ToolCall("c", "add_to_list", {"item": item, "list": "hardware"})
    assert on_the_named(call, message).arguments == {"item": item, "list": meant}


@pytest.mark.parametrize(
    ("message", "drink", "meant"),
    [
        ("take the plain one off", "latte", "plain one"),
        ("take the latte off", "iced latte", "latte"),
        ("remove the iced latte", "iced latte", "iced latte"),
        ("lose the whipped cream", "latte", "whipped cream"),
        ("remove it", "latte", "latte"),
    ],
)
def test_what_is_removed_is_what_the_message_calls_it(message: str, drink: str, meant: str) -> None:
    spec = replace(TOOLS["remove_drink"], undoes=True, readings={"drink": KNOWN})
    assert as_called(ToolCall("c", "remove_drink", {"drink": drink}), spec, message) == ToolCall(
        "c", "remove_drink", {"drink": meant}
    )


@pytest.mark.parametrize(
    ("message", "given", "meant"),
    [
        ("another one like the first but small", {"size": "small", "roast": "decaf"},
         {"size": "small", "sweetener": "vanilla"}),
        ("and the same for me", {}, {"size": "large", "roast": "decaf"}),
        ("a latte for me", {}, {}),
    ],
)  # fmt: skip
def test_another_one_is_like_the_one_that_is_named(
    message: str, given: dict[str, str], meant: dict[str, str]
) -> None:
    first = ToolCall("a", "order_drink", {"drink": "latte", "sweetener": "vanilla"})
    second = ToolCall("b", "order_drink", {"drink": "latte", "size": "large"})
    changed = ToolCall("d", "change_drink", {"drink": "latte", "roast": "decaf"})
    said = [Message(Role.AGENT, tool_calls=(first, second)),
            Message(Role.AGENT, tool_calls=(changed,))]  # fmt: skip
    count = Reading(lambda said: said, lambda _: "", counts=True)
    spec = replace(TOOLS["order_drink"], readings={"shots": count})
    call = ToolCall("c", "order_drink", {"drink": "latte", **given})
    assert like_before(call, spec, message, said).arguments == {"drink": "latte", **meant}


def test_a_thing_is_not_made_again_for_a_detail() -> None:
    call = ToolCall("c", "order_drink", {"drink": "latte", "size": "large"})
    said = "can I have that as a large", "can I have that latte large", "a large one with that"
    made = [changed_instead(call, DRINKS, one).name for one in said]
    assert made == ["change_drink", "order_drink", "order_drink"]
