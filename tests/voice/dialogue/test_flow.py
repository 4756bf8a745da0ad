"""Where a conversation stands: by values that tools bring, back at a correction, once each."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from voice.config import AgentConfig, load_team
from voice.config.flow import BranchConfig, KeptConfig, NeedConfig, StepConfig
from voice.dialogue.flow import Flow
from voice.dialogue.step_messages import StepMessages
from voice.dialogue.team import Team, hand_over_tool
from voice.inputs import SessionOptions
from voice.types import Position, Reading, ToolCall, ToolResult
from voice.understanding.giving_up import gives_up
from voice.understanding.slot_values import Wanted, answer_to, said_values, taken_back

NUMBERS = {"one", "two", "three", "one two"}
NUMBER = Reading(lambda said: said if said in NUMBERS else None, lambda _: "")
NAME = Reading(lambda said: None if "?" in said else said, lambda _: "", free=True)
ids = count()


def need(tool: str, argument: str = "") -> NeedConfig:
    return NeedConfig(tool=tool, argument=argument, ask=(f"{tool}?", f"{tool}, please?"))


SIZE = StepConfig(tools=("size",), needs={"size": need("size", "of")}, goes_to="color")
COLOR = StepConfig(tools=("color",), needs={"color": need("color", "of")}, goes_to="order")
ORDER = StepConfig(tools=("order",), needs={"done": need("order")}, goes_to="more", says="Now.")
MORE = StepConfig(
    tools=("more",),
    needs={"more": need("more", "of")},
    branches=(BranchConfig(value="more", equals="yes", goes_to="size"),),
    goes_to="end",
)
STEPS = {"size": SIZE, "color": COLOR, "order": ORDER, "more": MORE, "end": StepConfig()}


def shop(**changes: StepConfig) -> Team:
    desk = AgentConfig(name="desk", instructions="Sell.", steps={**STEPS, **changes})
    desk = desk.model_copy(update={"hand_over": ("boss",)})
    boss = AgentConfig(
        name="boss", instructions="Decide.", greeting="Boss.", voice="deep", tools=("fire",)
    )
    return Team((desk, boss))


def called(team: Team, position: Position, tool: str, said: str = "", **given: str) -> Position:
    call = ToolCall(f"call_{next(ids)}", tool, {**given})
    return team.learned(position, call, ToolResult(call.call_id, tool, f"{tool} done."), said)


def after(team: Team, *calls: tuple[str, str]) -> Position:
    position = team.enter("desk")
    for tool, value in calls:
        position = called(team, position, tool, **({"of": value} if value else {}))
    return position


ORDERED = (("size", "small"), ("color", "red"), ("order", ""))


def test_a_step_goes_on_once_its_values_are_known() -> None:
    team = shop()
    assert after(team).step == "size"
    assert after(team, *ORDERED[:1]).step == "color"
    assert after(team, *ORDERED[:2]).step == "order"
    assert after(team, *ORDERED).known == {"size": "small", "color": "red", "done": "order done."}


def test_what_is_said_early_is_not_asked_again() -> None:
    team = shop()
    early = after(team, ("color", "red"))
    assert (early.step, team.missing(early)) == ("size", ["size"])
    assert called(team, early, "size", of="small").step == "order"


def test_a_deed_of_a_later_step_is_not_done_early() -> None:
    assert after(shop(), ("order", "")).known == {}


def test_an_error_brings_nothing() -> None:
    team, call = shop(), ToolCall("call_x", "size", {"of": "small"})
    begun = team.enter("desk")
    assert team.learned(begun, call, ToolResult("call_x", "size", "Error: no", True)) == begun


def test_the_same_result_twice_changes_nothing() -> None:
    team = shop()
    once = after(team, *ORDERED)
    assert called(team, once, "color", of="red") == once


def test_a_correction_goes_back_and_what_was_done_since_is_to_be_done_again() -> None:
    team = shop()
    position = called(team, after(team, *ORDERED), "size", of="large")
    assert position.step == "order"
    assert position.known == {"size": "large", "color": "red"}


def test_what_is_taken_back_is_asked_anew() -> None:
    team = shop()
    position = team.forgotten(after(team, *ORDERED[:2]), "color")
    assert (position.step, team.missing(position)) == ("color", ["color"])
    assert team.question(position)[1] == "color?"


def test_a_loop_asks_anew_and_a_branch_leaves_it() -> None:
    team = shop()
    again = after(team, *ORDERED, ("more", "YES"))
    assert (again.step, again.known, again.path) == ("size", {}, ())
    assert after(team, *ORDERED, ("more", "no")).step == "end"


def test_a_value_that_a_tool_takes_back_is_missing() -> None:
    team, call = shop(), ToolCall("call_y", "color", {"of": "pink"})
    result = ToolResult("call_y", "color", "No pink.", values={"of": ""})
    position = team.learned(after(team, *ORDERED[:2]), call, result)
    assert (position.step, position.known) == ("color", {"size": "small"})


def test_a_hand_over_takes_along_the_reason_and_what_is_known() -> None:
    team = shop()
    before = after(team, *ORDERED[:1])
    there = called(team, before, hand_over_tool("boss"), "I want the boss, now", reason="the boss")
    assert (there.agent, there.known, there.path) == ("boss", {"size": "small"}, ())
    assert team.note(there).endswith("I want the boss, now (size: small)")
    summary = "A customer complains."
    there = called(team, before, hand_over_tool("boss"), "I want the boss", reason=summary)
    assert there.reason == summary
    assert called(team, there, hand_over_tool("boss")) == there


def test_what_is_told_of_a_hand_over_stays_the_same_while_the_agent_learns_more() -> None:
    desk = shop().named("desk")
    front = AgentConfig(name="front", instructions="Greet.", hand_over=("desk",))
    team = Team((front, desk))
    before = Position("front", known={"size": "small"})
    there = called(team, before, hand_over_tool("desk"), "a mug, please")
    told = "You were handed this conversation: a mug, please (size: small)"
    assert (there.step, team.note(there)) == ("color", told)
    red = called(team, there, "color", of="red")
    assert (red.known, team.note(red)) == ({"size": "small", "color": "red"}, told)
    # What was told may turn out to be wrong.
    assert team.note(called(team, red, "size", of="large")) == told.replace("small", "large")
    assert team.note(team.forgotten(red, "size")) == told.removesuffix(" (size: small)")
    # Who comes back has a dialogue in which nothing was said yet.
    back = team.restored(team.saved(red))
    assert back is not None
    assert team.note(back) == told.replace("small", "small; color: red")


def test_the_tool_that_begins_another_one_begins_the_flow_again() -> None:
    kept = KeptConfig(things=("mug",), another="one_more")
    team = Team((shop().front.model_copy(update={"kept": kept}),))
    again = called(team, after(team, *ORDERED), "one_more")
    assert (again.step, again.known) == ("size", {})
    assert after(team, *ORDERED, ("start_over", "")).known == after(team, *ORDERED).known


def test_options_are_those_of_the_agent_and_its_step_and_what_the_client_set_stays() -> None:
    team = shop(size=StepConfig(**{**SIZE.model_dump(), "instructions": "Ask."}))
    base = SessionOptions(instructions="Sell.", moments=team.front.fixed_words)
    assert team.options_at(base, team.enter("desk"), ("a",)).instructions == "Sell. Ask."
    boss = team.options_at(base, Position("boss"), ("fire",))
    assert (boss.instructions, boss.voice, boss.agent_tools) == ("Decide.", "deep", ("fire",))
    own = SessionOptions(instructions="Be a pirate.", voice="mine")
    kept = team.options_at(own, Position("boss"), ("fire",))
    assert (kept.instructions, kept.voice) == ("Be a pirate.", "mine")


def test_a_question_is_put_in_other_words_the_second_time() -> None:
    flow = Flow(shop())
    assert [flow.next_words() for _ in range(2)] == ["size, please?", "size, please?"]
    flow.go(called(flow.team, flow.position, "size", of="small"))
    assert [flow.next_words() for _ in range(2)] == ["color?", "color, please?"]


def test_a_draft_knows_of_a_hand_over_that_was_cut_off() -> None:
    flow = Flow(shop())
    flow.go(flow.team.enter("boss"))
    copied = flow.copy()
    assert copied.handed_over
    copied.next_words()
    assert (copied.handed_over, flow.handed_over) == (False, True)


def test_a_yes_behind_something_else_answers_no_question_for_a_deed() -> None:
    flow = Flow(shop(), after(shop(), *ORDERED[:2]))
    flow.next_words()
    answer = flow.messages({}).taken("yes")
    assert answer and answer.calls == (("order", {}),)
    flow.aside()
    assert flow.messages({}).taken("yes") is None
    assert flow.next_words() == "order?"


def test_a_date_is_kept_with_its_year_and_said_without() -> None:
    dated = NeedConfig(tool="order", ask=("On {size}?",))
    team = shop(order=StepConfig(tools=("order",), needs={"done": dated}, goes_to="more"))
    position = after(team, ("size", "2026-12-01"), ("color", "red"))
    assert team.question(position)[1] == "On Tuesday, December 1?"


def test_where_it_arrives_is_said_once() -> None:
    flow = Flow(shop(), after(shop(), *ORDERED[:1]))
    flow.go(called(flow.team, flow.position, "color", of="red"))
    assert flow.copy().next_words() == "Now. order?"
    assert flow.next_words() == "Now. order?"
    assert flow.next_words() == "order, please?"
    flow.go(called(flow.team, flow.position, hand_over_tool("boss")))
    assert (flow.handed_over, flow.next_words(), flow.handed_over) == (True, "Boss.", False)


def test_a_position_is_restored_where_the_files_still_have_it() -> None:
    team = shop()
    position = after(team, *ORDERED[:2])
    saved = team.saved(position)
    assert team.restored(saved) == replace(position, handed=("size", "color"))
    changed = Team((AgentConfig(name="desk", instructions="", steps={"size": SIZE}),))
    for unusable in (changed.restored(saved), team.restored("{}"), team.restored("[1")):
        assert unusable is None
    assert team.saved(team.enter("desk")) == ""


@pytest.mark.parametrize(
    ("message", "asked", "expected"),
    [
        ("one", "", {"number": "one"}),
        ("at one two, please", "", {"number": "one two"}),
        ("Ann", "name", {"name": "Ann"}),
        ("Ann", "", {}),
        ("no, three", "", {"number": "three"}),
        ("one?", "name", {"number": "one"}),
        ("great, thank you so much, bye", "name", {}),
        ("thanks a lot, Ann", "name", {"name": "Ann"}),
        ("hello there", "", {}),
    ],
)
def test_values_are_read_from_a_message(message: str, asked: str, expected: dict[str, str]) -> None:
    assert said_values(message, [Wanted("name", NAME), Wanted("number", NUMBER)], asked) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("one moment please", ""), ("I want a new one", ""), ("give me two minutes", ""),
        ("one or two", ""), ("is it one of those", ""), ("the year three was bad", ""),
        ("about three weeks I'd say", ""), ("at two months or so", ""), ("a new one", ""),
        ("an earlier, a different one", ""), ("can I change it to one if I have to", ""),
        ("about three I'd say", "three"), ("two, for a week", "two"),
        ("I would come at one", "one"), ("let's make it two", "two"), ("two is fine", "two"),
    ],
)  # fmt: skip
def test_a_bare_number_inside_a_sentence_is_no_value(message: str, expected: str) -> None:
    assert said_values(message, [Wanted("number", NUMBER)], "number").get("number", "") == expected


@pytest.mark.parametrize("message", ["a double", "a double room please", "double", "the double"])
def test_a_choice_may_have_the_name_of_a_repeated_digit(message: str) -> None:
    room = Reading(lambda said: said if said == "double" else None, lambda _: "")
    assert said_values(message, [Wanted("room", room)], "room") == {"room": "double"}
    digits = Reading(lambda said: said if said == "double two" else None, lambda _: "")
    assert said_values("is it double two somewhere", [Wanted("code", digits)], "code") == {}


@pytest.mark.parametrize("message", ["two", "make it two, please", "one", "yep", "no", "yes, one"])
def test_what_says_another_value_or_yes_is_no_free_value(message: str) -> None:
    known = [Wanted("number", NUMBER, "one"), Wanted("name", NAME)]
    assert "name" not in said_values(message, known, "name")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("and the name is Mia Fuchs", "Mia Fuchs"), ("no, Lea Rott", "Lea Rott"),
        ("it's Marc Train.", "Marc Train"), ("Rob Ott", "Rob Ott"), ("the name is wrong", ""),
        ("Ann Leigh, l e i g h", "Ann Leigh, l e i g h"), ("Ann, l e e, or so", ""),
        ("no, wait", ""), ("No, Two", ""), ("Hello", ""), ("no, Ann Lee", ""), ("not later", ""),
    ],
)  # fmt: skip
def test_a_free_value_is_corrected_by_its_name_or_its_capitals(message: str, name: str) -> None:
    two = Reading(lambda said: said if said in {"Two", "two"} else None, lambda _: "")
    known = [
        Wanted("problem", NAME, "a rash"),
        Wanted("number", two, "one"),
        Wanted("name", NAME, "Ann Lee"),
    ]
    assert said_values(message, known, "booked").get("name", "") == name
    assert "problem" not in said_values(message, known, "booked")
    assert said_values(message, known[:1], "booked") == {}


def test_what_is_known_is_said_anew_only_where_it_is_another() -> None:
    known = [Wanted("number", NUMBER, "one"), Wanted("first_name", NAME, "Ann")]
    assert said_values("yes, one", known, "") == {}
    assert said_values("no, two", known, "") == {"number": "two"}
    assert said_values("the first name is Bob", known, "") == {"first_name": "Bob"}


@pytest.mark.parametrize(
    ("message", "yes"),
    [
        ("yes", True), ("Yes, please do.", True), ("sounds good", True), ("yes, one", True),
        ("perfect, thanks", True), ("well, yes then", True), ("thank you", None),
        ("no", False), ("No, that's wrong.", False), ("don't", False),
        ("ok that'll do", True), ("that will be fine", True), ("go for it", True),
        ("that'll be late", None), ("will that do", None),
        ("is that right", None), ("I have a cough", None), ("two", None), ("", None),
    ],
)  # fmt: skip
def test_yes_and_no(message: str, yes: bool | None) -> None:
    assert answer_to(message, [Wanted("number", NUMBER, "one")]) is yes


def test_a_no_that_names_what_is_known_is_a_no() -> None:
    cancel = Reading(lambda said: said if said == "cancel" else None, lambda _: "")
    known = [Wanted("what", cancel, "cancel")]
    assert answer_to("no don't cancel it", known) is False
    assert answer_to("yes, cancel it", known) is not False


def test_a_value_is_taken_back_by_its_name() -> None:
    assert taken_back("the number", ["number"]) == "number"
    assert taken_back("that day", ["day"]) == "day"
    assert taken_back("Jim Day", ["day"]) == ""
    assert taken_back("day after tomorrow", ["day"]) == ""
    assert taken_back("no, the first name is not right", ["first_name"]) == "first_name"
    assert taken_back("what is the number", ["number"]) == ""
    assert taken_back("sorry, what number did you say", ["number"]) == ""
    assert taken_back("oh wait, which number was that", ["number"]) == ""
    assert taken_back("sorry, not that number", ["number"]) == "number"
    assert taken_back("give me the number of that nice doctor", ["number"]) == ""


@pytest.mark.parametrize(
    "message",
    [
        "Never mind.", "cancel that", "let's start over please", "forget the whole thing",
        "never mind, I'll fix it myself", "I'm afraid I have to cancel",
    ],
)  # fmt: skip
def test_everything_is_taken_back(message: str) -> None:
    assert gives_up(message)
    assert not gives_up(f"{message} on tuesday")


@pytest.mark.parametrize(
    ("message", "asked_for"),
    [
        ("Can I speak to a person?", True), ("I'd like to talk to somebody, please", True),
        ("put me through to the nurse", True), ("a human", True), ("a real person please", True),
        ("I have an appointment with the nurse", False), ("can I speak a bit slower", False),
        ("my name is Nurse", False),
        ("can somebody ring me back", True), ("could the doctor phone me instead", True),
        ("please call my husband back", False), ("would you call us back today", True),
        ("please don't call me back", False), ("can you ring me if something is free", False),
        ("could you call me a doctor", False),
    ],
)  # fmt: skip
def test_who_asks_for_another_agent_gets_it_without_the_model(
    message: str, asked_for: bool
) -> None:
    team = Team(load_team("clinic"))
    assert (
        ("hand_over_to_nurse", {}) in StepMessages(team, team.enter("clinic"), {}).wanted(message)
    ) is asked_for


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("What are your opening hours?", "get_opening_hours"),
        ("when are you open", "get_opening_hours"), ("tell me when you close", "get_opening_hours"),
        ("how late are you open?", "get_opening_hours"),
        ("when do you close on Friday?", "get_opening_hours"),
        ("is the clinic open on Monday", "get_opening_hours"),
        ("what are your hours today?", "get_opening_hours"),
        ("I'd like to cancel my appointment", "cancel_appointment"),
        ("what appointments do I have?", "list_appointments"),
        ("do I have an appointment?", "list_appointments"), ("I have an appointment", ""),
        ("please don't cancel my appointment", ""), ("is my wound open", ""),
        ("I have to close my eyes", ""), ("cancel that", ""),
    ],
)  # fmt: skip
def test_what_an_agent_answers_by_a_tool_without_the_model(message: str, tool: str) -> None:
    team = Team(load_team("clinic"))
    assert next(StepMessages(team, team.enter("clinic"), {}).wanted(message), ("", {})) == (
        tool,
        {},
    )
    done = StepMessages(team, Position("clinic", "done"), {}).wanted(
        "thanks, actually no, cancel that"
    )
    assert next(done) == ("cancel_appointment", {})


def test_emergencies_have_words_at_every_agent_that_ships() -> None:
    for agent in load_team("clinic"):
        assert agent.fixed_words.name_of("my father is not breathing") == "emergency"
