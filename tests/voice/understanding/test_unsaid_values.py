"""Required values that nobody said are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from voice.types import Message, Reading, Role, ToolCall, ToolSpec
from voice.understanding.unsaid_values import unsaid


def spec(name: str = "cancel_hire", /, **properties: str) -> ToolSpec:
    schema = {key: {"type": kind} for key, kind in properties.items()}
    parameters = {"type": "object", "properties": schema, "required": [*properties]}
    return ToolSpec(name, "Do it.", parameters)


def question(tool: ToolSpec, arguments: dict[str, Any], *dialogue: Message | str) -> str:
    said = [Message(Role.USER, one) if isinstance(one, str) else one for one in dialogue]
    return unsaid(ToolCall("1", tool.name, arguments), tool, said)


@pytest.mark.parametrize(
    ("message", "name", "value", "asked"),
    [
        ("cancel the booking for Miller", "number", 1, "What is the number?"),
        ("cancel booking seven", "number", 7, ""),
        ("cancel a booking", "number", 1, "What is the number?"),
        ("the second one", "number", 2, ""),
        ("how much is a tandem", "days", 2, "How many days?"),
        ("twenty five days", "days", 25, ""),
        ("a tandem for a couple of days", "days", 2, ""),
        ("a pizza please", "quantity", 1, ""),
        ("half a pound", "weight", 0.5, ""),
        ("turn it up to the maximum", "volume", 100, ""),
        ("minus five degrees", "degrees", -5, ""),
        ("add these up", "total_sum", 12, ""),
    ],
)
def test_a_number_has_to_be_said(message: str, name: str, value: float, asked: str) -> None:
    assert question(spec(**{name: "number"}), {name: value}, message) == asked


def test_a_number_of_an_earlier_wish_is_no_number_of_this_one() -> None:
    book = ToolCall("0", "book_bike", {"when": "tomorrow"})
    before = ["a tandem tomorrow at nine", Message(Role.AGENT, "", tool_calls=(book,))]
    told = Message(Role.TOOL, "Booked. The number is 4.")
    tool = spec(number="integer")
    assert question(tool, {"number": 9}, *before, told, "cancel it") == "What is the number?"
    assert question(tool, {"number": 4}, *before, told, "cancel it") == ""
    assert question(tool, {"number": 9}, "it is about nine", "cancel my booking") == ""


def test_a_number_may_be_meant_once_more() -> None:
    price = ToolCall("0", "hire_price", {"days": 3})
    before = ["a tandem for three days", Message(Role.AGENT, "", tool_calls=(price,))]
    assert question(spec(days="integer"), {"days": 3}, *before, "and a city bike") == ""


def test_a_text_is_neither_the_deed_nor_another_value() -> None:
    tool = spec("book_bike", bike="string", when="string", name="string")
    said = {"bike": "tandem", "when": "tomorrow"}
    for name in ("book", "Tandem"):
        asked = question(tool, {**said, "name": name}, "book a tandem tomorrow")
        assert asked == "What is the name?"
    assert question(tool, {**said, "name": "Anna"}, "book a tandem for Anna tomorrow") == ""
    assert question(tool, {**said, "when": "tandem", "name": "Anna"}, "book a tandem") == "When?"
    move = spec("move_item", item="string", to="string")
    assert question(move, {"item": "milk", "to": "milk"}, "move the milk") == "To what?"


def test_a_text_of_an_earlier_wish_is_no_other_value_of_this_one() -> None:
    price = ToolCall("0", "hire_price", {"bike": "tandem", "name": "Anna"})
    before = ["how much is a tandem", Message(Role.AGENT, "", tool_calls=(price,))]
    tool = spec("book_bike", name="string")
    for name, asked in (("tandem", "What is the name?"), ("Anna", ""), ("Bo", "")):
        assert question(tool, {"name": name}, *before, "book it") == asked
    assert question(tool, {"name": "tandem"}, *before, "book it for Tandem") == ""


def test_what_is_read_chosen_or_optional_is_no_matter_of_it() -> None:
    optional = ToolSpec("cancel", "Do it.", {"properties": {"number": {"type": "integer"}}})
    chosen = {"properties": {"size": {"enum": [1, 2], "type": "integer"}}, "required": ["size"]}
    reads = {"number": Reading(lambda said: said, lambda said: "")}
    read = ToolSpec("cancel", "Do it.", spec(number="string").parameters, readings=reads)
    looks = ToolSpec("search", "Do it.", spec(query="string").parameters, looks_up=True)
    assert question(optional, {"number": 1}, "cancel it") == ""
    assert question(looks, {"query": "search"}, "search the rules") == ""
    assert question(ToolSpec("cut", "Do it.", chosen), {"size": 1}, "cut it") == ""
    assert question(read, {"number": "cancel"}, "cancel it") == ""
