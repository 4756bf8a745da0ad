from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.script import CLIENT_TOOL, TIME, TIMER, TOOLS, Script
from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Generate, RunTool, SpeakEnd
from voice.dialogue.history import History
from voice.dialogue.requests import Requests, distinct, requests
from voice.types import Message, Reading, Role, ToolCall, ToolResult, ToolSpec

BOTH = "set a timer for ten minutes and tell me the time"


@pytest.mark.parametrize(
    "parts",
    [
        ("turn off the kitchen lights", "set a timer for eight minutes"),
        ("Move my alarm to two", "cancel the timer", "read my list."),
        ("remind me to water the plants and feed the cat", "set an alarm for seven"),
        ("remember that my bike is in the shed", "turn off the kitchen light"),
    ],
)
def test_a_message_is_cut_where_another_request_begins(parts: tuple[str, ...]) -> None:
    for joint in (" and ", ", and also ", " then ", " and then "):
        assert requests(joint.join(parts)) == parts


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("a mocha, err, what sizes do you have?", ("a mocha", "what sizes do you have?")),
        ("one tea please. how much is it?", ("one tea please", "how much is it?")),
    ],
)  # fmt: skip
def test_an_order_is_cut_before_a_question(message: str, parts: tuple[str, ...]) -> None:
    assert requests(message) == parts


@pytest.mark.parametrize(
    "message",
    [
        "can you tell me, when are you open",
        "remember that I like tea and have a dog",
        "remember that my son is six and can swim",
    ],
)
def test_what_goes_on_is_not_cut(message: str) -> None:
    assert requests(message) == (message,)


def test_a_question_that_goes_on_is_one_request() -> None:
    message = "does clearing the list also clear the others?"
    assert requests(message) == (message,)
    assert requests("what is the time and also set a timer for one minute")[1:]


def order(drink: str, **more: str) -> ToolCall:
    return ToolCall("c", "order_drink", {"drink": drink, **more})


@pytest.mark.parametrize(
    ("message", "calls", "kept"),
    [
        ("whatever, one americano, black, and hurry", [order("americano"), order("americano")],
         [0]),
        ("Red eye, large, with milk", [order("red eye"), order("red eye", milk="milk")], [1]),
        ("just an espresso please", [order("an espresso"), order("espresso")], [0]),
        ("a latte and another with milk", [order("latte"), order("latte", milk="milk")], [0, 1]),
        ("a latte and one with milk", [order("latte"), order("latte", milk="milk")], [0, 1]),
        ("a latte, a nice one", [order("latte", quantity="a"), order("latte")], [0]),
        ("a latte and one for Jo", [order("latte", quantity="a"), order("latte")], [0, 1]),
        ("a latte, a latte", [order("latte"), order("latte")], [0, 1]),
        ("two lattes", [order("lattes"), order("lattes")], [0, 1]),
        ("a latte and a tea", [order("latte"), order("tea")], [0, 1]),
        ("small latte, large", [order("latte", size="small"), order("latte", size="large")], [0,
         1]),
        ("more of the same", [order("latte"), order("latte")], [0, 1]),
        ("a latte", [order("latte"), ToolCall("c", "add_to_list", {"item": "latte"})], [0, 1]),
    ],
)  # fmt: skip
def test_words_that_are_said_once_are_of_one_call(
    message: str, calls: list[ToolCall], kept: list[int]
) -> None:
    assert distinct(message, calls, TOOLS) == tuple(calls[at] for at in kept)


def test_what_needs_no_word_is_done_once() -> None:
    tools = {
        "confirm_order": ToolSpec("confirm_order", "Place it.", {}),
        "get_time": ToolSpec("get_time", "Tell it.", {}, read_only=True),
    }
    placed, alone = (ToolCall("c", "confirm_order", given) for given in ({"name": "Ida"}, {}))
    for calls in ([placed, alone], [alone, placed], [placed, placed]):
        assert distinct("confirm, please, Ida", calls, tools) == (placed,)
    # Of what only tells one may be of here, the other of there.
    here, there = (ToolCall("c", "get_time", given) for given in ({}, {"place": "Oslo"}))
    assert distinct("the time, and in Oslo", [here, there], tools) == (here, there)


def test_what_is_named_as_not_meant_is_no_call_beside_what_is() -> None:
    twenty, more = (ToolCall("c", "change_timer", {"duration": one}) for one in ("20", "25"))
    assert distinct("make it 20 minutes not 25", [twenty, more], TOOLS) == (twenty,)
    assert distinct("not the 25, the 20", [more, twenty], TOOLS) == (twenty,)
    # Alone it may be what another rule asks about.
    assert distinct("not 25", [more], TOOLS) == (more,)


def test_the_model_reads_what_was_typed_as_it_is_said() -> None:
    dialogue = History()
    dialogue.add("mine", Message(Role.USER, "alarm 6:15 tmrw plz"))
    asked = Requests.of(dialogue, whole=False)
    assert asked and asked.current.text == "alarm 6:15 tomorrow please"


@pytest.mark.parametrize("joint", [" ", "\n", ","])
def test_a_long_text_is_one_request_which_nobody_looks_for_things_in(joint: str) -> None:
    read: list[str] = []
    reading = Reading(read.append, lambda _: "")
    required = {"required": ["duration"]}
    tools = {
        "order_drink": ToolSpec("order_drink", "Order.", {}, readings={"drink": reading}),
        "set_timer": ToolSpec("set_timer", "Set.", required, readings={"duration": reading}),
    }
    dialogue, text = History(), "two" + f"{joint}sweet" * 100 + " teas one green"
    dialogue.add("mine", Message(Role.USER, text))
    whole = Requests.of(dialogue, whole=False, tools=tools)
    assert whole is not None
    assert (whole.first.text, whole.left, read) == (text, (), [])


@pytest.mark.parametrize(
    "message",
    [
        "add bread and milk and cheese to the list",
        "remind me to lock the door and turn off the lights",
        "take stamps off my list and put them on the other one",
        "what happens if i turn off the boiler and open the valve",
        "do me a favor and set a timer",
        "hello there, what is the time",
        "and then tell me the time",
        "a latte and a cappuccino please",
        "the tea and my wife wants it hot",
    ],
)
def test_what_may_be_one_request_is_not_cut(message: str) -> None:
    assert requests(message) == (message,)


def said(script: Script) -> list[str]:
    messages = script.last(Generate).prompt.messages
    return [one.content for one in messages if one.role is Role.USER]


def test_each_request_is_told_before_the_next_is_asked_for() -> None:
    script = Script()
    script.user(BOTH)
    assert said(script) == ["set a timer for ten minutes"]
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    assert script.spoken() == "Timer set for 10 minutes."
    assert not script.of(SpeakEnd)
    roles = [one.role.value for one in script.last(Generate).prompt.messages]
    assert roles == ["system", "user", "agent", "tool", "agent", "user"]
    assert said(script) == ["set a timer for ten minutes", "tell me the time"]
    script.model("", TIME)
    script.tool(TIME, "It is noon.")
    assert script.spoken() == "Timer set for 10 minutes. It is noon."
    assert script.of(SpeakEnd)
    assert [run.call for run in script.of(RunTool)] == [TIMER, TIME]


def test_the_dialogue_keeps_the_message_as_it_was_said() -> None:
    script = Script()
    script.user(BOTH)
    for _ in range(2):
        script.model("I cannot do that.")
    assert script.of(SpeakEnd)
    script.sent()
    script.played()
    script.user("why", turn_id=2)
    assert said(script) == [BOTH, "why"]


def test_a_request_without_calls_does_not_run_into_the_next() -> None:
    script = Script()
    script.user("tell me a story, then tell me a joke, then tell me the time")
    script.model("I know none.")
    script.model("Nor do I.")
    assert said(script) == ["tell me a story", "tell me the time"]


def add(item: str) -> ToolCall:
    return ToolCall(f"c_{item}", "add_to_list", {"item": item})


def test_what_no_call_carries_is_asked_for_again() -> None:
    script = Script()
    script.user("add eggs and bread to the list")
    script.model("", add("eggs"))
    script.tool(add("eggs"), "Added eggs.")
    assert script.spoken() == "Added eggs."
    assert said(script) == ["add eggs and bread to the list", "bread"]
    script.model("", add("bread"))
    script.tool(add("bread"), "Added bread.")
    assert script.spoken() == "Added eggs. Added bread."


@pytest.mark.parametrize(
    "call", [TIME, add("eggs"), TIMER, None], ids=["other", "same", "foreign", "none"]
)
def test_what_is_not_carried_then_either_is_named(call: ToolCall | None) -> None:
    script = Script()
    script.user("add eggs in a hurry")
    script.model("", add("eggs"))
    script.tool(add("eggs"), "Added eggs.")
    script.model("" if call else "Okay, go ahead.", *([call] if call else []))
    assert script.spoken() == "Added eggs. I did not get this: in a hurry."
    assert len(script.of(RunTool)) == 1
    assert script.of(SpeakEnd)


@pytest.mark.parametrize(
    ("message", "tool", "told"),
    [
        ("have I an alarm", "list_alarms", None),
        ("have I a timer", "get_time", None),
        ("have I a kettle", "list_alarms", "There is no kettle."),
    ],
)
def test_only_what_is_said_of_a_thing_itself_is_held_against_it(
    message: str, tool: str, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def which_device(said: str) -> str:
        return f"There is no {said}." if said in ("alarm", "kettle") else "Which device?"

    for name, value, question in (
        ("set_device", "device", which_device),
        ("set_timer", "duration", lambda _: "How long should the timer run?"),
    ):
        reading = Reading(lambda _: None, question)
        spec = ToolSpec(name, "A tool.", {"required": [value]}, readings={value: reading})
        monkeypatch.setitem(TOOLS, name, spec)
    monkeypatch.setitem(TOOLS, "list_alarms", ToolSpec("list_alarms", "A tool.", {}))
    script = Script()
    script.user(message)
    script.model("", ToolCall("c", tool, {}))
    assert [run.call.name for run in script.of(RunTool)] == ([] if told else [tool])
    assert not told or script.spoken() == told


def order(drink: str, **details: str) -> ToolCall:
    return ToolCall(f"c_{drink}", "order_drink", {"drink": drink, **details})


@pytest.fixture
def what_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has ordered something is asked for more."""
    asking = replace(TOOLS["order_drink"], asks_next="Anything else?")
    monkeypatch.setitem(TOOLS, "order_drink", asking)


@pytest.mark.usefixtures("what_else")
@pytest.mark.parametrize(
    ("options", "wine", "told"),
    [
        ({}, "Error: There is no wine.", "Added: latte. There is no wine."),
        ({"limits": Limits(rephrases=True)}, "Added: wine.", "Both. Is that all?"),
        ({"client_tools": (CLIENT_TOOL,)}, "Wine, too.", "Added: latte. Wine, too. Is that all?"),
    ],
    ids=["an error", "a model that rephrases", "a question of the model's"],
)
def test_behind_these_a_tool_does_not_ask_for_more(
    options: dict[str, Any], wine: str, told: str
) -> None:
    script = Script(**options)
    script.user("a latte and a wine")
    script.model("", order("latte"), order("wine"))
    script.tool(order("latte"), "Added: latte.")
    script.tool(order("wine"), wine)
    if options:
        script.model("Both. Is that all?")
    assert script.spoken() == told


def test_what_is_said_once_of_two_drinks_is_of_both() -> None:
    script = Script()
    script.user("a latte and a mocha both large")
    script.model("", order("latte", size="large"), order("mocha", size="large"))
    assert len(script.of(RunTool)) == 2


@pytest.mark.parametrize(
    "script",
    [Script(client_tools=(CLIENT_TOOL,)), Script(limits=Limits(rephrases=True))],
    ids=["a client runs tools", "the model speaks for itself"],
)
def test_others_get_the_message_whole(script: Script) -> None:
    script.user(BOTH)
    assert said(script) == [BOTH]


def test_a_question_that_a_tool_answers_leaves_the_request_behind_it() -> None:
    script = Script(answers="get_time")
    script.user("what is the time? set a timer for ten minutes")
    [asked] = [run.call for run in script.of(RunTool)]
    assert (asked.name, asked.arguments) == ("get_time", {})
    script.tool(asked, "It is noon.")
    script.model("", TIMER)
    assert [run.call.name for run in script.of(RunTool)] == ["get_time", "set_timer"]


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool for questions knows no answer to any."""

    def refuse(call: ToolCall, _: str) -> ToolResult:
        return ToolResult(call.call_id, call.name, "Error: Sorry, I do not know that.", True)

    monkeypatch.setitem(TOOLS, "get_time", replace(TOOLS["get_time"], refusal=refuse))


@pytest.mark.usefixtures("unknown")
def test_a_question_that_no_tool_can_answer_may_be_a_request() -> None:
    script = Script(answers="get_time")
    script.user("what I want is a timer for ten minutes")
    script.model("", TIMER)
    assert [run.call for run in script.of(RunTool)] == [TIMER]


@pytest.mark.usefixtures("unknown")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        # What the model says of it is made up, unless a client has tools for it.
        ({}, "Sorry, I do not know that."),
        ({"client_tools": (CLIENT_TOOL,)}, "It costs five dollars."),
    ],
    ids=["alone", "a client's tools"],
)
def test_what_the_model_says_to_a_question_is_not_spoken(
    options: dict[str, Any], told: str
) -> None:
    script = Script(answers="get_time", **options)
    script.user("what does the clock cost")
    script.model("It costs five dollars.")
    assert script.spoken() == told
    assert not script.of(RunTool)


ASKED = {
    "get_time": ("when are you open", "what day is it"),
    "add_to_list": ("note (?P<item>.+)$",),
}


@pytest.mark.parametrize(
    ("message", "other"),
    [
        ("when are you open and set a timer for ten minutes", "set a timer for ten minutes"),
        ("when are you open? And my dog needs ear drops.", "my dog needs ear drops."),
        ("when are you open, what day is it and I want two teas", "I want two teas"),
    ],
)
def test_what_is_wanted_behind_words_of_a_pattern_is_a_request(message: str, other: str) -> None:
    script = Script(calls=ASKED)
    script.user(message)
    script.tool(script.last(RunTool).call, "From nine to five.")
    assert said(script)[-1] == other
    script.model("I cannot do that.")
    assert script.spoken() == "From nine to five. I cannot do that."


def test_what_is_wanted_before_words_of_a_pattern_is_a_request() -> None:
    script = Script(calls=ASKED)
    script.user("my dog needs ear drops, when are you open and I want two teas")
    assert said(script) == ["my dog needs ear drops"]
    script.model("I cannot do that.")
    script.tool(script.last(RunTool).call, "From nine to five.")
    assert said(script)[-1] == "I want two teas"
    assert script.spoken() == "I cannot do that. From nine to five."


def test_a_tool_that_gets_the_message_gets_only_its_own_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = {"properties": {"message": {"type": "string"}}}
    monkeypatch.setitem(TOOLS, "get_time", replace(TOOLS["get_time"], parameters=schema))
    script = Script(calls=ASKED)
    script.user("when are you open and set a timer for ten minutes")
    assert script.last(RunTool).call.arguments == {"message": "when are you open"}


@pytest.mark.parametrize(
    "message",
    [
        "when are you open on Friday and Saturday",
        "when are you open, and what day is it, thanks a lot",
        "when are you open, because I need ear drops",
        "when are you open? I need to know for Saturday",
        "I want to know, when are you open",
        "when are you open? Can you tell me?",
        "note that I want tea and my dog needs ear drops",
    ],
)
def test_nothing_is_cut_off_that_a_pattern_answers_or_takes(message: str) -> None:
    script = Script(calls=ASKED)
    script.user(message)
    (call,) = (run.call for run in script.of(RunTool))
    script.tool(call, "From nine to five.")
    assert script.spoken() == "From nine to five."
    assert script.of(SpeakEnd) and not script.of(Generate)


def test_every_question_of_a_message_is_looked_up() -> None:
    script = Script(calls=ASKED)
    script.user("when are you open and how much is the deposit")
    script.tool(script.last(RunTool).call, "From nine to five.")
    script.model("I do not know.")
    assert script.last(RunTool).call.name == "search_documents"
    assert script.spoken() == "From nine to five."


def test_words_in_place_of_the_models_leave_the_next_request() -> None:
    script = Script(calls=ASKED)
    script.user("my train was late today and when are you open")
    script.model("I can't help with trains.")
    script.tool(script.last(RunTool).call, "From nine to five.")
    assert script.spoken() == "I see. Is there anything you want me to do? From nine to five."
    assert script.of(SpeakEnd)


@pytest.mark.parametrize(
    ("before", "message", "told"),
    [
        (None, "yes", "What can I do for you?"),
        (TIME, "cancel Thor", "Sorry, I did not get that."),
        (TIMER, "great", "Good, that's done."),
        (TIME, "is my timer set?", "Good, that's done."),
    ],
)
def test_a_deed_that_no_call_did_is_not_claimed(
    before: ToolCall | None, message: str, told: str
) -> None:
    script = Script()
    if before:
        script.user("one thing")
        script.model("", before)
        script.tool(before, "It is so.")
        script.sent()
        script.played()
    heard = len(script.spoken())
    script.user(message, turn_id=2)
    script.model("Good, that's done.")
    assert script.spoken()[heard:] == told
    assert script.of(SpeakEnd)
