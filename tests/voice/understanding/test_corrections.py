from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.script import TOOLS as SCRIPTED
from tests.support.script import Script
from voice.dialogue.commands import Generate, RunTool
from voice.types import Confirmation, Message, Reading, Role, ToolCall, ToolSpec
from voice.understanding.corrections import (
    corrected,
    corrects_one_of_several,
    ended,
    followed,
    on_the_same,
    pointed_out,
    taken_back,
    told_last,
    unwanted,
    with_the_rest,
)


def spec(name: str, *parameters: str, read_only: bool = False) -> ToolSpec:
    required = [one for one in parameters if not one.endswith("?")]
    properties = {one.rstrip("?"): {"type": "string"} for one in parameters}
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name, "A tool.", schema, read_only=read_only)


TOOLS = {
    one.name: one
    for one in (
        spec("set_timer", "duration", "name?"),
        spec("change_timer", "duration", "name?"),
        spec("set_alarm", "when"),
        spec("change_alarm", "to", "when?"),
        spec("set_reminder", "text", "when?"),
        spec("change_reminder", "text", "when"),
        spec("cancel_reminder", "text"),
        spec("add_to_list", "item", "list?"),
        spec("remove_from_list", "item", "list?"),
        spec("order_drink", "drink", "size?", "sweetener?", "roast?", "shots?"),
        spec("change_drink", "drink", "size?", "sweetener?", "roast?", "shots?"),
        spec("remove_drink", "drink"),
        spec("set_device", "device", "state", "room?"),
        spec("move_item", "item", "to"),
        spec("get_time", "place", read_only=True),
        spec("list_alarms", read_only=True),
    )
}


def calls(said: str, tool: str, /, **arguments: str) -> list[tuple[str, dict[str, str]]]:
    dialogue = (
        Message(Role.USER, "please"),
        Message(Role.AGENT, tool_calls=(ToolCall("c", tool, arguments),)),
        Message(Role.TOOL, "Done.", call_id="c", name=tool),
        Message(Role.AGENT, "Done."),
        Message(Role.USER, said),
    )
    return [(call.name, call.arguments) for call in corrected(said, dialogue[:-1], TOOLS)]


def test_a_number_takes_the_place_of_the_only_one() -> None:
    made = calls("no, fifteen", "set_timer", duration="ten minutes", name="pasta")
    assert made == [("change_timer", {"duration": "fifteen minutes", "name": "pasta"})]
    made = calls("sorry make that half an hour", "set_timer", duration="an hour and a half")
    assert made == [("change_timer", {"duration": "half an hour"})]
    made = calls("wait an hour and a half", "set_timer", duration="ten minutes")
    assert made == [("change_timer", {"duration": "an hour and a half"})]
    made = calls("That's wrong, I wanted half five", "set_alarm", when="six thirty")
    assert made == [("change_alarm", {"to": "half five", "when": "six thirty"})]


def test_what_is_told_is_no_value() -> None:
    wrong = "no not white spirit it's water based, lose it"
    assert not calls(wrong, "add_to_list", item="white spirit")
    assert not calls("not satsumas, clementines, the easy ones", "add_to_list", item="satsumas")
    assert not calls("eggs want five, not four", "set_timer", duration="four", name="eggs")


def test_what_was_said_takes_the_place_of_what_is_denied() -> None:
    reminder = {"text": "call Ana", "when": "tomorrow at three"}
    assert calls("oh it's four not three", "set_reminder", **reminder) == [
        ("change_reminder", {"text": "call Ana", "when": "tomorrow at four"})
    ]
    assert calls("not ana sorry lena", "set_reminder", **reminder) == [
        ("cancel_reminder", {"text": "call Ana"}),
        ("set_reminder", {"text": "call lena", "when": "tomorrow at three"}),
    ]
    drink = {"drink": "latte", "roast": "dark roast", "size": "small"}
    assert calls("not small sorry medium please", "order_drink", **drink) == [
        ("change_drink", {"drink": "latte", "size": "medium"})
    ]
    assert calls("did you say small, I said medium", "order_drink", **drink) == [
        ("change_drink", {"drink": "latte", "size": "medium"})
    ]
    assert calls("medium roast not dark", "order_drink", **drink) == [
        ("change_drink", {"drink": "latte", "roast": "medium roast"})
    ]
    off = [("change_drink", {"drink": "latte", "roast": "no decaf"})]
    assert calls("no the latte wasn't decaf", "order_drink", drink="latte", roast="decaf") == off
    assert calls("keep it, just not decaf", "order_drink", drink="latte", roast="decaf") == off
    assert calls("the latte wasn't iced", "order_drink", drink="iced latte", size="small") == [
        ("remove_drink", {"drink": "iced latte"}),
        ("order_drink", {"drink": "latte", "size": "small"}),
    ]
    assert not calls("the mocha wasn't decaf", "order_drink", drink="latte", roast="decaf")
    assert calls("a mocha, not a latte", "order_drink", **drink) == [
        ("remove_drink", {"drink": "latte"}),
        ("order_drink", {**drink, "drink": "mocha"}),
    ]


def one_of(*values: str) -> Reading:
    return Reading(lambda said: said if said in values else None, lambda _: "")


BIKES = {"bike": one_of("road bike", "city bike"), "day": one_of("friday", "sunday")}
SIZES = {"type": "string", "enum": ["small", "large"]}


@pytest.mark.parametrize(
    ("said", "tool", "arguments", "made"),
    [
        ("no, bread", "add_to_list", {"item": "milk", "list": "shopping"}, ["bread"]),
        ("No, oat milk please.", "add_to_list", {"item": "milk"}, ["oat milk"]),
        ("sorry, I meant bread", "add_to_list", {"item": "milk"}, ["bread"]),
        ("no, call Ben", "set_reminder", {"text": "call Ana", "when": "five"}, ["call Ben"]),
        ("no, the road bike", "book_bike", {"bike": "city bike", "day": "friday"}, ["road bike"]),
        ("no, sunday", "book_bike", {"bike": "city bike", "day": "friday"}, ["sunday"]),
        ("no, large", "order_pizza", {"size": "small", "count": 1}, ["large"]),
        ("no, two", "order_pizza", {"size": "small", "count": 1}, [2]),
        ("two, not one", "order_pizza", {"size": "small", "count": 1}, [2]),
        ("no, thirty euros", "set_budget", {"amount": 20}, [30]),
        ("no, to Ben", "send_message", {"text": "hello", "to": "Ana"}, ["Ben"]),
        ("rice, not pasta", "set_timer", {"duration": "ten", "name": "pasta"}, ["rice"]),
        ("no, bread, please", "add_to_list", {"item": "milk"}, ["bread"]),
        ("no bread", "add_to_list", {"item": "milk"}, []),
        ("no, I said bears, gummy bears", "add_to_list", {"item": "pears"}, []),
        ("no, too expensive", "add_to_list", {"item": "milk"}, []),
        ("no, that's wrong", "add_to_list", {"item": "milk"}, []),
        ("no, tomorrow", "add_to_list", {"item": "milk"}, []),
        ("actually, bread", "add_to_list", {"item": "milk"}, []),
        ("no, bread", "remove_from_list", {"item": "milk"}, []),
    ],
)
def test_what_is_said_behind_a_no_takes_the_place_of_the_only_value_like_it(
    said: str, tool: str, arguments: dict[str, object], made: list[object]
) -> None:
    typed = {"size": SIZES, "count": {"type": "integer"}, "amount": {"type": "integer"}}
    tools = {one.name: one for one in (
        spec("book_bike", "bike", "day"), spec("cancel_bike", "bike"), spec("set_budget", "amount"),
        spec("order_pizza", "size", "count"), spec("cancel_pizza", "size"),
        spec("send_message", "text", "to"), spec("cancel_timer", "name?"),
    )}  # fmt: skip
    for one in tools.values():
        one.properties.update({name: typed[name] for name in one.properties if name in typed})
    tools["book_bike"] = replace(tools["book_bike"], readings=BIKES)
    call = ToolCall("c", tool, arguments)
    before = (
        Message(Role.USER, "set twenty euros, hello to Ana"),
        Message(Role.AGENT, tool_calls=(call,)),
        Message(Role.TOOL, "Done.", call_id="c", name=tool),
        Message(Role.AGENT, "Done."),
    )
    found = corrected(said, before, {**TOOLS, **tools})
    assert (
        [v for v in found[-1].arguments.values() if v not in arguments.values()] == made
        if (found)
        else not made
    )
    if found:
        # What was made is taken back, unless it is replaced or cannot be.
        assert len(found) == 1 + (tool not in ("set_budget", "send_message"))
        asked = Message(Role.AGENT, "Done. Shall I add wine?")
        assert corrected(said, (*before[:-1], asked), {**TOOLS, **tools}) in ((), found)


def test_what_is_set_once_more_needs_no_undoing() -> None:
    for first, second in (("hall", "living room"), ("living room", "hall")):
        made = calls(
            f"not the {first} the {second}", "set_device", device="lamp", state="on", room=first
        )
        assert made == [("set_device", {"device": "lamp", "state": "on", "room": second})]


@pytest.mark.parametrize(
    ("said", "name", "arguments"),
    [
        ("fifteen", "set_timer", {"duration": "ten minutes"}),
        ("no thank you", "set_timer", {"duration": "ten minutes"}),
        ("no, cancel the timer", "set_timer", {"duration": "ten minutes"}),
        ("make that three", "order_drink", {"drink": "latte", "shots": "two shots"}),
        ("turn on the fan not the light", "set_device", {"device": "light", "state": "on"}),
        ("five not ten", "set_timer", {"duration": "ten minutes", "name": "ten"}),
        ("no noon", "set_alarm", {"when": "in six hours"}),
        ("no four", "set_timer", {"duration": "ten minutes and two seconds"}),
        ("eggs not milk", "remove_from_list", {"item": "milk"}),
        ("soap not salt", "add_to_list", {"item": "milk"}),
        ("work not home", "move_item", {"item": "milk", "to": "home"}),
        ("rome not oslo", "get_time", {"place": "oslo"}),
        ("no i do not", "add_to_list", {"item": "i do"}),
    ],
)  # fmt: skip
def test_the_rest_is_for_the_model(said: str, name: str, arguments: dict[str, str]) -> None:
    assert calls(said, name, **arguments) == []


def test_a_correction_is_made_without_the_model() -> None:
    script = Script()
    first = ToolCall("c1", "add_to_list", {"item": "limes"})
    script.user("add limes")
    script.model("", first)
    script.tool(first, "Added limes.")
    script.model("Added.")
    script.sent()
    script.played()
    asked = len(script.of(Generate))
    script.user("lemons not limes", turn_id=2)
    assert len(script.of(Generate)) == asked
    undone, made = [run.call for run in script.of(RunTool)][1:]
    assert (undone.name, undone.arguments) == ("remove_from_list", {"item": "limes"})
    assert (made.name, made.arguments) == ("add_to_list", {"item": "lemons"})
    assert len({first.call_id, undone.call_id, made.call_id}) == 3


def corrected_bike(monkeypatch: pytest.MonkeyPatch, asked: Confirmation | None) -> Script:
    """A dialogue in which a bike was booked and another one asked for instead."""
    bikes = Reading(lambda said: said if said in ("city bike", "road bike") else None, lambda _: "")
    book = replace(spec("book_bike", "bike"), readings={"bike": bikes})
    monkeypatch.setitem(SCRIPTED, "book_bike", book)
    cancel = replace(spec("cancel_bike", "bike"), undoes=True, confirmation=asked)
    monkeypatch.setitem(SCRIPTED, "cancel_bike", cancel)
    script, first = Script(agent_tools=(*SCRIPTED,)), ToolCall("b", "book_bike", CITY)
    script.user("book the city bike")
    script.model("", first, confidence=1.0)
    script.tool(first, "The city bike is booked.")
    script.sent()
    script.played()
    script.user("no, the road bike", turn_id=2)
    return script


CITY, ROAD = {"bike": "city bike"}, {"bike": "road bike"}


@pytest.mark.parametrize("fails", [True, False])
def test_what_was_taken_back_for_what_cannot_be_had_is_made_again(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = corrected_bike(monkeypatch, None)
    gone, new = (run.call for run in script.of(RunTool)[1:])
    script.tool(gone, "The city bike is cancelled.")
    script.tool(new, "Error: The road bike is taken." if fails else "The road bike is booked.")
    made = [(run.call.name, run.call.arguments) for run in script.of(RunTool)]
    again = [("book_bike", CITY)] * fails
    assert made[1:] == [("cancel_bike", CITY), ("book_bike", ROAD), *again]
    if fails:
        script.tool(script.last(RunTool).call, "The city bike is booked.")
        assert script.spoken().endswith("The road bike is taken. The city bike is booked.")


def test_a_tool_that_asks_first_does_so_within_a_correction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Confirmation(lambda given: f"Cancel the {given['bike']}?", lambda _: False)
    script = corrected_bike(monkeypatch, asked)
    assert script.spoken().endswith("Cancel the city bike?")
    assert len(script.of(RunTool)) == 1
    script.sent()
    script.played()
    script.user("yes", turn_id=3)
    assert [run.call.name for run in script.of(RunTool)[1:]] == ["cancel_bike", "book_bike"]


@pytest.mark.parametrize(
    ("said", "open_"),
    [
        ("no, limes", True),
        ("sorry, I meant the limes", True),
        ("no, not the limes", False),
        ("no, cancel the limes", False),
        ("limes", False),
    ],
)
def test_of_several_things_none_is_ended_for_what_is_said_instead(said: str, open_: bool) -> None:
    def before(*items: str) -> tuple[Message, ...]:
        made = tuple(ToolCall(item, "add_to_list", {"item": item}) for item in items)
        done = (Message(Role.TOOL, "Added.", call_id=item, name="add_to_list") for item in items)
        asked = Message(Role.USER, "add them"), Message(Role.AGENT, tool_calls=made)
        return (*asked, *done, Message(Role.AGENT, "Added."))

    assert corrects_one_of_several(said, before("limes", "tea"), TOOLS) is open_
    assert not corrects_one_of_several(said, before("limes"), TOOLS)


def test_a_call_that_would_end_one_of_several_asks_what_is_meant() -> None:
    script, items = Script(), ("limes", "tea")
    made = [ToolCall(item, "add_to_list", {"item": item}) for item in items]
    script.user("add limes and tea")
    script.model("", *made, confidence=1.0)
    for call in made:
        script.tool(call, f"Added {call.call_id}.")
    script.sent()
    script.played()
    script.user("no, the limes", turn_id=2)
    script.model("", ToolCall("r", "remove_from_list", {"item": "limes"}), confidence=1.0)
    assert script.spoken().endswith("What would you like to change?")
    assert [run.call for run in script.of(RunTool)] == made


WEATHER = spec("get_weather", "place?", "day?", read_only=True)
DEVICE = spec("get_device", "device", "room?", read_only=True)
READING = {**TOOLS, "get_weather": WEATHER, "get_device": DEVICE}


def behind(call: ToolCall, message: str) -> ToolCall | None:
    before = Message(Role.USER, "what is it"), Message(Role.AGENT, tool_calls=(call,))
    return followed((*before, Message(Role.USER, message)), READING)


@pytest.mark.parametrize(
    ("message", "goes_on"),
    [
        ("and in Paris?", True),
        ("what about Tuesday", True),
        ("okay, and how about Rome then", True),
        ("and till my birthday on the third of May?", True),
        ("and eggs", False),
        ("and what time is it?", False),
        ("and what's it doing in Gdansk?", False),
        ("what about my reminders?", False),
        ("thanks", False),
    ],
)
def test_a_question_goes_on_with_the_one_before(message: str, goes_on: bool) -> None:
    asked = ToolCall("c1", "get_weather", {"place": "Oslo"})
    assert behind(asked, message) == (asked if goes_on else None)
    assert behind(ToolCall("c1", "set_alarm", {"when": "seven"}), message) is None


def test_what_a_question_leaves_unsaid_stays() -> None:
    asked = ToolCall("c1", "get_weather", {"place": "Oslo", "day": "tomorrow"})
    again = with_the_rest(ToolCall("c2", "get_weather", {"place": "Paris"}), asked, WEATHER)
    assert again.arguments == {"place": "Paris", "day": "tomorrow"}
    asked = ToolCall("c1", "get_device", {"device": "light", "room": "hall"})
    again = with_the_rest(ToolCall("c2", "get_device", {"device": "blinds"}), asked, DEVICE)
    assert again.arguments == {"device": "blinds"}


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("how many days until then", "how many days until the 4th of May"),
        ("and the day after?", "and the day after the 4th of May?"),
        ("the day after my birthday", "the day after my birthday"),
        ("then add milk", "then add milk"),
    ],
)
def test_a_day_that_is_pointed_back_to_is_named(message: str, meant: str) -> None:
    asked = ToolCall("c", "get_time", {"place": "Rome", "day": "the 4th of May"})
    dialogue = [Message(Role.USER, "and in Rome"), Message(Role.AGENT, tool_calls=(asked,))]
    assert pointed_out(message, dialogue) == meant
    assert pointed_out(message, dialogue[:1]) == message


def test_it_is_what_was_made_last() -> None:
    timer = ToolCall("c", "set_timer", {"duration": "ten minutes"})
    looked = ToolCall("d", "list_timers", {})
    dialogue = [Message(Role.AGENT, tool_calls=(timer,)), Message(Role.AGENT, tool_calls=(looked,))]
    assert pointed_out("no, cancel it please", dialogue) == "no, cancel it please"
    assert pointed_out("cancel it.", dialogue) == "cancel the timer."
    assert pointed_out("cancel it", dialogue[1:]) == "cancel it"


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("and add twenty to that", "and add twenty to 40.8"),
        ("round it up", "round 40.8 up"),
        ("What's half of that?", "What's half of 40.8?"),
        ("that divided by three", "40.8 divided by three"),
        ("divide that 12 by three", "divide that 12 by three"),
        ("add that to the list", "add 40.8 to the list"),
        ("is that right", "is that right"),
    ],
)
def test_a_sum_goes_on_with_what_the_one_before_came_to(message: str, meant: str) -> None:
    told = Message(Role.TOOL, "17 percent of 240 is 40.8.", call_id="c", name="work_out")
    since = Message(Role.TOOL, "It is 10 PM.", call_id="d", name="get_time")
    assert pointed_out(message, [told]) == meant
    assert pointed_out(message, [told, since]) == message
    booked = Message(Role.TOOL, "Booked. The number is 40.8.", call_id="e", name="book_bike")
    assert pointed_out(message, [told, booked]) == message


def test_a_correction_reaches_over_turns_in_which_nothing_was_done() -> None:
    def moved_by(said: str, *between: Message) -> list[tuple[str, dict[str, str]]]:
        alarm = ToolCall("c", "set_alarm", {"when": "6:15 tomorrow"})
        before = (
            Message(Role.USER, "wake me at 6:15 tomorrow"),
            Message(Role.AGENT, tool_calls=(alarm,)),
            Message(Role.TOOL, "Alarm set.", call_id="c"),
            *between,
        )
        return [(call.name, call.arguments) for call in corrected(said, before, TOOLS)]

    remark = Message(Role.USER, "it's Saturday tomorrow, isn't it"), Message(Role.AGENT, "I see.")
    moved = [("change_alarm", {"to": "8 tomorrow", "when": "6:15 tomorrow"})]
    assert moved_by("ok so make it 8 instead", *remark) == moved
    assert moved_by("just put it at 8", *remark) == moved
    failed = ToolCall("f", "get_time", {"place": "warmer"})
    told = Message(Role.AGENT, tool_calls=(failed,))
    assert moved_by("make it 8", told, Message(Role.TOOL, "Error: none.", call_id="f")) == moved
    # What was told since is what is spoken of, if it is another thing.
    known = Message(Role.TOOL, "It is noon.", call_id="f")
    assert moved_by("make it 8", *remark, told, known) == []
    alarms = Message(Role.AGENT, tool_calls=(replace(failed, name="list_alarms"),))
    assert moved_by("make it 8", *remark, alarms, known) == moved


def test_one_more_at_another_time_is_of_the_kind_that_was_made_last() -> None:
    def pointed(said: str, name: str = "set_alarm") -> str:
        return pointed_out(said, [Message(Role.AGENT, tool_calls=(ToolCall("c", name, {}),))])

    assert pointed("and one for sunday too 9am") == "set an alarm for sunday 9am"
    assert pointed("and one for sunday at 9", "change_reminder") == "set a reminder for sunday at 9"
    for other in ("and one for the sauce", "and what about sunday", "the one for sunday"):
        assert pointed(other) == other
    latte = "and one for six"
    assert pointed(latte, "order_drink") == latte


def test_the_list_of_the_turn_before_is_meant_where_none_is_named() -> None:
    def listed(call: ToolCall, before: ToolCall) -> object:
        dialogue = (
            Message(Role.USER, "what is on it"),
            Message(Role.AGENT, tool_calls=(before,)),
            Message(Role.USER, "add also a torch"),
        )
        return on_the_same(call, TOOLS[call.name], dialogue).arguments.get("list")

    torch = ToolCall("c", "add_to_list", {"item": "a torch"})
    camping = {"item": "tent", "list": "camping"}
    assert listed(torch, ToolCall("b", "remove_from_list", camping)) == "camping"
    assert listed(torch, ToolCall("b", "remove_from_list", {"item": "tent"})) is None
    assert listed(torch, ToolCall("b", "set_timer", {"list": "camping"})) is None
    named = ToolCall("c", "add_to_list", {"item": "a torch", "list": "shopping"})
    assert listed(named, ToolCall("b", "add_to_list", camping)) == "shopping"


def _turn(said: str, *made: ToolCall) -> list[Message]:
    results = [Message(Role.TOOL, "Done.", call_id=one.call_id, name=one.name) for one in made]
    return [Message(Role.USER, said), Message(Role.AGENT, tool_calls=made), *results]


MADE = ToolCall("m", "order_drink", {"drink": "oat latte", "size": "large"})
UNDOING = {**TOOLS, "remove_drink": replace(TOOLS["remove_drink"], undoes=True)}


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("no wait, leave it", True), ("oh, keep the latte please", True), ("keep it on", True),
        ("no, don't remove it", True),
        ("leave me a message", False), ("keep it and add a tea", False),
    ],
)  # fmt: skip
def test_what_has_just_been_ended_and_is_to_stay_is_known(said: str, asks: bool) -> None:
    end = ToolCall("e", "remove_drink", {"drink": "oat latte"})
    before = [*_turn("a large oat latte", MADE), *_turn("drop the latte", end)]
    assert ended(said, before, UNDOING) == ((end, MADE) if asks else ())
    # Of another thing nothing is known but that it is gone.
    other = replace(end, arguments={"drink": "tea"})
    before = [*_turn("a large oat latte", MADE), *_turn("drop the tea", other)]
    assert ended(said, before, UNDOING) == ((other,) if asks else ())
    # Later it is no answer to the end.
    later = [*before, *_turn("what time is it", ToolCall("t", "get_time", {"place": "here"}))]
    assert ended(said, later, UNDOING) == ()


BOOKED = ToolCall("b", "order_drink", {"drink": "oat latte"})
TIMED = ToolCall("t", "set_timer", {"duration": "ten minutes"})


@pytest.mark.parametrize(
    ("said", "undone"),
    [
        ("do not order it", 1), ("no, I do not want that", 1), ("no don't order that please", 1),
        ("I don't want the oat latte any more", 1), ("please don't", 1), ("scratch that", 1),
        ("I didn't ask for it", 1), ("take that back", 1), ("cancel it", 1),
        ("I don't want an espresso", None), ("don't cancel it", None), ("don't forget it", None),
        ("don't order it again", None), ("do not order it with milk", None), ("no", None),
        ("I don't want anything", None), ("never mind", None), ("I don't want one", None),
    ],
)  # fmt: skip
def test_what_was_just_done_and_is_refused_is_taken_back(said: str, undone: int | None) -> None:
    calls = unwanted(said, _turn("an oat latte", BOOKED), UNDOING)
    assert (None if calls is None else len(calls)) == undone
    for call in calls or ():
        assert (call.name, call.arguments) == ("remove_drink", BOOKED.arguments)


def test_what_no_tool_takes_back_is_known_to_be_refused() -> None:
    assert unwanted("no, don't", _turn("ten minutes", TIMED), UNDOING) == ()
    # Nor may it lack a value.
    named = {**UNDOING, "remove_drink": spec("remove_drink", "drink", "table")}
    assert unwanted("no, don't", _turn("an oat latte", BOOKED), named) == ()
    failed = replace(_turn("ten minutes", TIMED)[-1], content="Error: No.")
    assert unwanted("no, don't", [*_turn("ten minutes", TIMED)[:-1], failed], UNDOING) is None


def test_a_refusal_later_on_names_what_it_refuses() -> None:
    later = [*_turn("an oat latte", BOOKED), *_turn("hello there")[:1]]
    assert unwanted("I don't want that", later, UNDOING) is None
    assert len(unwanted("don't order that", later, UNDOING) or ()) == 1
    both = _turn("an oat latte and a timer", BOOKED, TIMED)
    assert [one.name for one in unwanted("no latte", both, UNDOING) or ()] == []
    assert [one.name for one in unwanted("I don't want the latte", both, UNDOING) or ()] == [
        "remove_drink"
    ]


def test_what_is_to_be_cancelled_is_not_what_has_been() -> None:
    end = ToolCall("e", "remove_drink", {"drink": "oat latte"})
    assert unwanted("cancel it", _turn("drop the latte", end), UNDOING) is None


def test_the_last_deed_is_the_newest_turn_that_changed_something() -> None:
    read = ToolCall("r", "get_time", {"place": "here"})
    before = [*_turn("a timer", TIMED), *_turn("two things", MADE, BOOKED), *_turn("now", read)]
    assert told_last(before, UNDOING) == "Done. Done."
    assert told_last(_turn("now", read), UNDOING) == ""


@pytest.mark.parametrize(("drink", "gone"), [("latte", True), ("lattes", True), ("tea", False)])
def test_what_was_made_and_is_denied_now_is_taken_back(drink: str, gone: bool) -> None:
    denied = ToolCall("d", "order_drink", {"drink": drink})
    (undo,) = taken_back([denied], _turn("an oat latte", MADE), TOOLS) or (None,)
    assert (undo is not None) == gone
    if undo:
        assert (undo.name, undo.arguments) == ("remove_drink", {"drink": "oat latte"})
