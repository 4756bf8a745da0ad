from __future__ import annotations

import pytest

from voice.types import Message, Reading, Role, ToolCall, ToolSpec
from voice.understanding.missed_requests import carried, left_out, not_understood

SCHEMA = {"type": "object", "properties": {}}
TOOLS = {
    spec.name: spec
    for spec in (
        ToolSpec("add_to_list", "Put an item on a list.", SCHEMA),
        ToolSpec("set_reminder", "Remember something for the user.", SCHEMA),
        ToolSpec("set_timer", "Start a countdown timer.", SCHEMA),
        ToolSpec("cancel_timer", "Stop a running timer.", SCHEMA),
        ToolSpec("get_time", "Tell the time.", SCHEMA, read_only=True),
        ToolSpec("set_alarm", "Set an alarm clock.", SCHEMA),
        ToolSpec(
            "order_drink",
            "Add a drink.",
            SCHEMA,
            asks_next="Anything else?",
            readings={"milk": Reading(lambda said: said if said == "oat" else None, lambda _: "")},
        ),
    )
}


def said(request: str, *calls: tuple[str, dict[str, str]], result: str = "Done.") -> str:
    made = tuple(ToolCall(f"c{n}", name, values) for n, (name, values) in enumerate(calls))
    results = (Message(Role.TOOL, result, call_id=call.call_id, name=call.name) for call in made)
    dialogue = (Message(Role.USER, request), Message(Role.AGENT, tool_calls=made), *results)
    return not_understood(left_out(dialogue, TOOLS).parts)


ADD = "add_to_list"


@pytest.mark.parametrize(
    ("request_text", "calls", "part"),
    [
        ("add eggs, wine and tofu to the shopping list",
         [(ADD, {"item": "eggs", "list": "shopping"}), (ADD, {"item": "and tofu"})], "wine"),
        ("add bread and milk and cheese", [(ADD, {"item": "bread"}), (ADD, {"item": "cheese"})],
         "milk"),
        ("remind me to pick up Aoife from the clinic in two hours",
         [("set_reminder", {"text": "pick up Aoife", "when": "in two hours"})], "from the clinic"),
        ("add eggs to my list and bread", [(ADD, {"item": "eggs"})], "bread"),
        ("add eggs to my list when I get home", [(ADD, {"item": "eggs"})],
         "to my list when I get home"),
        ("I'd like an alarm for six, a reminder to feed the cat at five",
         [("set_reminder", {"text": "feed the cat", "when": "five"})],
         "I'd like an alarm for six"),
        ("start a tea timer for four minutes and wake me at seven",
         [("set_alarm", {"when": "seven"})], "start a tea timer for four minutes"),
    ],
)  # fmt: skip
def test_what_no_call_carries_is_said(
    request_text: str, calls: list[tuple[str, dict[str, str]]], part: str
) -> None:
    assert said(request_text, *calls) == f"I did not get this: {part}."


@pytest.mark.parametrize(
    ("request_text", "calls"),
    [
        ("add eggs, wine and tofu to my shopping list please",
         [(ADD, {"item": "eggs, wine and tofu", "list": "shopping"})]),
        ("could you set a timer for ten minutes for the pasta if possible",
         [("set_timer", {"duration": "ten minutes", "name": "pasta"})]),
        ("set a timer for ten minutes and wake me at seven",
         [("set_timer", {"duration": "ten minutes"}), ("set_alarm", {"when": "seven"})]),
        ("set a timer for ten minutes and stop the other one",
         [("set_timer", {"duration": "ten minutes"}), ("cancel_timer", {})]),
        ("what is the time in Oslo and in Bergen", [("get_time", {"place": "Oslo"})]),
        ("no, make that twelve", [("set_timer", {"duration": "twelve", "name": "pasta"})]),
        ("thank you", []),
        ("set a timer for ten minutes because my mum is coming",
         [("set_timer", {"duration": "ten minutes"})]),
        ("add eggs, before I forget", [(ADD, {"item": "eggs"})]),
        ("add eggs actually", [(ADD, {"item": "eggs"})]),
        ("add eggs for my daughter, I'm baking", [(ADD, {"item": "eggs"})]),
        ("put eggs on a list called errands", [(ADD, {"item": "eggs", "list": "errands"})]),
        # What is said of a thing, and for whom it is.
        ("eggs are not crossed out, add some", [(ADD, {"item": "eggs"})]),
        ("a chai which I think is spiced", [("order_drink", {"drink": "chai"})]),
        ("a chai for the brat and a tea for Nils",
         [("order_drink", {"drink": "chai"}), ("order_drink", {"drink": "tea"})]),
        ("a chai by the way, my hands are full", [("order_drink", {"drink": "chai"})]),
    ],
)  # fmt: skip
def test_what_is_carried_is_not_spoken_of(
    request_text: str, calls: list[tuple[str, dict[str, str]]]
) -> None:
    assert said(request_text, *calls) == ""


def test_a_number_is_carried_in_words_as_well() -> None:
    call = ToolCall("c", "hire_bike", {"bike": "tandem", "days": 22})
    dialogue = (
        Message(Role.USER, "hire a tandem, for twenty two days"),
        Message(Role.AGENT, tool_calls=(call,)),
        Message(Role.TOOL, "Hired.", call_id="c", name="hire_bike"),
    )
    tools = {"hire_bike": ToolSpec("hire_bike", "Hire.", SCHEMA)}
    assert not left_out(dialogue, tools).parts
    assert carried("twenty two", [call], tools) == 1


def test_what_an_order_leaves_out_is_a_thing_or_a_detail() -> None:
    chai = ("order_drink", {"drink": "chai"})
    assert said("a chai and an éclair", chai) == "I did not get this: éclair."
    assert said("a chai with oat milk", chai) == "I did not get this: with oat milk."
    assert said("a chai, add it to the bill", chai) == "I did not get this: add it to the bill."


def test_behind_an_error_nothing_more_is_said() -> None:
    call = (ADD, {"item": "eggs"})
    assert said("add eggs and wine", call, result="Error: The list is full.") == ""


def test_a_failure_says_nothing_of_another_request() -> None:
    calls = [("set_reminder", {"text": "feed the cat", "when": "at five"})]
    words = "remind me at five to feed the cat, add soap to my list"
    assert said(words, *calls, result="Error: That time has passed.") == (
        "I did not get this: add soap."
    )
    words = "remind me at five to feed the cat with the new tin"
    assert said(words, *calls, result="Error: That time has passed.") == ""


def test_another_request_between_those_that_were_served_is_left_out() -> None:
    calls = [("set_timer", {"duration": "ten minutes"}), ("set_alarm", {"when": "seven"})]
    words = "set a timer for ten minutes, add soap to my list and set an alarm for seven"
    assert said(words, *calls) == "I did not get this: add soap."
    assert said("a timer for ten minutes and set an alarm for seven", *calls) == ""


def test_what_is_told_beside_a_request_is_not_missed() -> None:
    spec = ToolSpec("cancel_timer", "Stop a running timer.", {})
    call = ToolCall("c", "cancel_timer", {"name": "sauce"})
    for said, parts in {
        "cancel the sauce one. ordering pizza lol": (),
        "cancel the sauce one because the cake needs twenty": (),
        "cancel the sauce one and the pizza": ("pizza",),
    }.items():
        dialogue = (
            Message(Role.USER, said),
            Message(Role.AGENT, tool_calls=(call,)),
            Message(Role.TOOL, "Cancelled.", call_id="c"),
        )
        assert left_out(dialogue, {spec.name: spec}).parts == parts


@pytest.mark.parametrize(
    ("request_text", "part"),
    [
        ("hi um can I get a large latte and my wife wants a mocha", "large latte"),
        ("I'd like two teas and then a mocha", "two teas"),
        ("my boss is here and a mocha", ""),
        ("I was in a hurry and, well, a mocha", ""),
        ("a mocha where there's a choice", ""),
    ],
)
def test_an_order_is_left_out_behind_its_opening_but_no_tale(request_text: str, part: str) -> None:
    told = said(request_text, ("order_drink", {"drink": "mocha"}))
    assert told == (f"I did not get this: {part}." if part else "")
