"""What becomes of answers that are hardly answers to what was said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.script import CLIENT_TOOL, TOOLS, Script
from voice.config import ToolsConfig, TurnConfig
from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Generate, RunTool
from voice.dialogue.flow_words import NOT_UNDERSTOOD
from voice.tools import Toolbox
from voice.types import Confirmation, Reading, ToolCall, ToolResult, ToolSpec
from voice.understanding.low_confidence import (
    ANYTHING_TO_DO,
    I_SEE,
    NOT_SURE,
    asked_about,
    claims,
    denies,
    in_doubt,
    leaves_open,
    names_nothing,
    worth_asking,
)

ADD = ToolCall("a", "add_to_list", {"item": "milk"})
TIMER = ToolCall("t", "set_timer", {})
GONE = ToolCall("g", "remove_from_list", {"item": "eggs"})
TIME = ToolCall("c", "get_time", {})
QUESTION = "Do you want me to a tool: milk?"


@pytest.mark.parametrize(
    ("confidence", "request_text", "doubted"),
    [
        (1.0, "add milk", False),
        (0.6, "add milk", True),
        (0.84, "add milk to the list", False),
        # Sure, and yet next to nothing of what was said.
        (0.84, "i nearly bought milk yesterday, purse forgotten", True),
        (None, "nothing of the kind", False),
    ],
)
def test_doubt_is_little_confidence_and_little_of_what_was_said(
    confidence: float | None, request_text: str, doubted: bool
) -> None:
    assert in_doubt(confidence, request_text, [ADD], TOOLS) is doubted


@pytest.mark.parametrize(
    ("description", "question"),
    [
        ("Put an item on a list. The list is optional.", "put milk on a list"),
        ("Remember something for the user.", "remember something for you: milk"),
        ("Adds an item", "use add to list: milk"),
        ("", "use add to list: milk"),
        ("Put " + "very " * 20 + "much on a list", "use add to list: milk"),
    ],
)
def test_a_question_says_what_was_understood(description: str, question: str) -> None:
    spec = ToolSpec("add_to_list", description, {})
    assert asked_about([ADD, ADD], {"add_to_list": spec}) == f"Do you want me to {question}?"


@pytest.mark.parametrize(
    ("orders", "question"),
    [
        ([{"drink": "americano", "size": "large"}], "A large americano, is that right?"),
        (
            [{"drink": "espresso"}, {"drink": "latte", "quantity": "two", "milk": "oat milk"}],
            "An espresso and 2 lattes with oat milk, is that right?",
        ),
        ([{"drink": "nothing of ours"}], "Do you want me to add nothing of ours to the order?"),
    ],
)
def test_a_tool_words_the_question_itself(orders: list[dict[str, str]], question: str) -> None:
    toolbox = Toolbox(ToolsConfig(database=":memory:"), TurnConfig())
    (spec,) = toolbox.specs(["order_drink"])
    calls = [ToolCall(str(at), spec.name, order) for at, order in enumerate(orders)]
    assert asked_about(calls, {spec.name: spec}) == question


@pytest.mark.parametrize(
    ("reply", "message", "is_open"),
    [
        ("I see.", "bin the gravy one", True),
        ("Okay, good to know.", "a flat white, final answer", True),
        ("Okay.", "no, stop", False),
        ("Okay.", "thanks", False),
        ("Okay, I'll leave it.", "bin the gravy one", False),
        ("", "bin the gravy one", False),
    ],
)
def test_an_acknowledgement_leaves_a_request_open(reply: str, message: str, is_open: bool) -> None:
    assert leaves_open(reply, message) is is_open


def test_a_bare_acknowledgement_is_followed_by_a_question() -> None:
    script = Script()
    script.user("bin the gravy one")
    script.model("I see.")
    assert script.spoken() == f"I see. {ANYTHING_TO_DO}"


def test_a_text_that_names_nothing_is_asked_for() -> None:
    script = Script()
    script.user("put it on the list")
    script.model("", replace(ADD, arguments={"item": "put it on the"}), confidence=0.99)
    assert script.spoken() == "Sorry, what shall I put on?"
    assert not script.of(RunTool)
    script = Script()
    script.user("milk, put both on the list")
    script.model("", ADD, replace(ADD, call_id="b", arguments={"item": "both"}), confidence=0.99)
    assert [run.call for run in script.of(RunTool)] == [ADD]
    assert not names_nothing(replace(ADD, arguments={"item": "half and half"}), TOOLS[ADD.name])
    assert not names_nothing(replace(GONE, arguments={"item": "all"}), TOOLS[GONE.name])


def test_a_call_in_doubt_is_made_when_the_user_says_yes() -> None:
    script = Script()
    script.user("milk what milk")
    script.model("", ADD, confidence=0.3)
    assert script.spoken() == QUESTION
    assert not script.of(RunTool)
    script.sent()
    script.played()
    script.user("yes please", turn_id=2, seconds=9)
    assert [run.call for run in script.of(RunTool)] == [ADD]


@pytest.mark.parametrize(("answer", "asks_the_model"), [("no", 1), ("eggs", 2)])
def test_and_else_it_is_not(answer: str, asks_the_model: int) -> None:
    script = Script()
    script.user("milk what milk")
    script.model("", ADD, confidence=0.3)
    script.sent()
    script.played()
    script.user(answer, turn_id=2, seconds=9)
    assert not script.of(RunTool)
    assert len(script.of(Generate)) == asks_the_model


def test_who_only_tells_something_is_neither_asked_about_a_call_nor_declined() -> None:
    for answer in (
        lambda script: script.model("", ADD, confidence=0.3),
        lambda script: script.model("Sorry, I can't do that. Shall I?"),
    ):
        script = Script()
        script.user("it smells of wet dog in here")
        answer(script)
        assert script.spoken() == I_SEE
        assert not script.of(RunTool)


def test_what_is_wanted_is_asked_about_and_declined() -> None:
    script = Script()
    script.user("I want some milk in here")
    script.model("Sorry, I can't do that.")
    assert script.spoken() == "Sorry, I can't do that."


def test_what_only_reads_is_told_with_a_caution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLS, "get_time", replace(TOOLS["get_time"], read_only=True))
    script = Script()
    script.user("at least the sun is out")
    script.model("", TIME, confidence=0.3)
    script.tool(TIME, "It is noon.")
    assert script.spoken() == f"{NOT_SURE} It is noon."


MILK = ToolCall("m", "add_to_list", {"item": "the milk"})


@pytest.mark.parametrize(
    ("calls", "asked"),
    [
        ([ADD, MILK], [ADD]),
        ([ADD, TIME], [ADD]),
        ([ADD, GONE], [ADD, GONE]),
        ([TIME], [TIME]),
        # A thing that is put on itself.
        ([replace(ADD, arguments={"item": "camping", "list": "camping"}), GONE], [GONE]),
        ([replace(ADD, arguments={"item": "camping", "list": "camping"})], []),
        # More than anybody could say yes to.
        ([ADD, GONE, TIMER], []),
    ],
)
def test_only_what_a_person_may_have_meant_is_asked_about(
    calls: list[ToolCall], asked: list[ToolCall]
) -> None:
    tools = {**TOOLS, "get_time": replace(TOOLS["get_time"], read_only=True)}
    assert worth_asking(calls, tools) == tuple(asked)


def test_what_tools_have_words_for_is_asked_about_however_many_there_are() -> None:
    spec = replace(TOOLS["order_drink"], meant=lambda values: f"a {values['drink']}")
    drinks = [ToolCall(one, "order_drink", {"drink": one}) for one in ("latte", "tea", "mocha")]
    calls, tools = [*drinks, drinks[0]], {**TOOLS, "order_drink": spec}
    assert worth_asking(calls, tools) == tuple(calls)
    question = "A latte, a tea, a mocha and a latte, is that right?"
    assert asked_about(calls, tools) == question


def test_where_nothing_sensible_is_left_it_was_not_understood() -> None:
    script = Script()
    script.user("camping what camping")
    twice = {"item": "camping", "list": "camping"}
    script.model("", replace(ADD, arguments=twice), confidence=0.3)
    assert script.spoken() == NOT_UNDERSTOOD
    assert not script.of(RunTool)


def test_a_change_is_not_answered_by_what_only_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLS, "get_time", replace(TOOLS["get_time"], read_only=True))
    script = Script()
    script.user("please make it two degrees warmer")
    script.model("", TIME, confidence=0.3)
    assert script.spoken() == NOT_UNDERSTOOD
    assert not script.of(RunTool)


@pytest.mark.parametrize(
    ("request_text", "doubted"),
    [
        ("remind me to phone Ana at two", False),
        ("a reminder: phone Ana at two", False),
        # Without its name, with other words or beside another call it has to be surer.
        ("phone Ana at two", True),
        ("remind me to phone Ana at two with Bo", True),
    ],
)
def test_a_call_that_is_named_and_carries_every_word_is_sure_sooner(
    request_text: str, doubted: bool
) -> None:
    reminder = ToolCall("r", "set_reminder", {"text": "phone Ana", "when": "at two"})
    tools = {"set_reminder": ToolSpec("set_reminder", "Remember something.", {})}
    assert in_doubt(0.75, request_text, [reminder], tools) is doubted
    assert in_doubt(0.75, request_text, [reminder, replace(reminder, name="set_alarm")], tools)
    assert in_doubt(0.6, request_text, [reminder], tools)


def test_of_several_requests_those_in_doubt_are_asked_about_at_the_end() -> None:
    script = Script()
    script.user("set a timer and put milk down and set a timer")
    script.model("", TIMER, confidence=0.3)
    script.model("", ADD, confidence=1.0)
    script.tool(ADD, "Added milk.")
    script.model("", replace(TIMER, call_id="u"), confidence=0.3)
    assert script.spoken() == "Added milk. Do you want me to a tool?"
    script.sent()
    script.played()
    script.user("yes", turn_id=2, seconds=9)
    assert [run.call.call_id for run in script.of(RunTool)] == ["a", "t"]


@pytest.mark.parametrize(
    "script",
    [
        Script(limits=Limits(max_tool_calls=3, rephrases=True)),
        Script(tool_choice="required"),
        Script(client_tools=(CLIENT_TOOL,)),
    ],
)
def test_who_asks_by_himself_or_must_call_is_not_doubted(script: Script) -> None:
    call = ToolCall("o", "open_door", {}) if script.conversation.options.client_tools else ADD
    script.user("milk what milk")
    script.model("", call, confidence=0.1)
    assert not script.spoken()


def test_no_look_alike_is_offered_and_the_answer_says_to_what() -> None:
    script = Script()
    script.user("right then turn everything off")
    script.model("", GONE, confidence=0.3)
    assert script.spoken() == "Sorry, what shall I turn off?"
    script.sent()
    script.played()
    script.user("no, the lights", turn_id=2, seconds=9)
    assert script.of(Generate)[-1].prompt.messages[-1].content == "turn off the lights"


@pytest.mark.parametrize("answer", ["yes", "that's it", "set a timer"])
def test_what_names_nothing_is_no_answer_to_it(answer: str) -> None:
    script = Script()
    script.user("right then turn everything off")
    script.model("", GONE, confidence=0.3)
    script.sent()
    script.played()
    script.user(answer, turn_id=2, seconds=9)
    assert script.of(Generate)[-1].prompt.messages[-1].content == answer


def test_what_a_question_of_its_own_finds_plain_is_not_doubted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Confirmation(lambda _: "Shall I?", "carry on".__eq__)
    monkeypatch.setitem(TOOLS, "set_timer", replace(TOOLS["set_timer"], confirmation=asked))
    script = Script()
    script.user("carry on")
    script.model("", TIMER, confidence=0.1)
    assert [run.call for run in script.of(RunTool)] == [TIMER]


LATTES = Reading(
    lambda said: said if said == "latte" else None,
    lambda said: "" if said == "latte" else f"There is no {said}.",
)


@pytest.mark.parametrize(
    ("request_text", "drink"),
    [("oh and a croissant", "latte"), ("no, I want a croissant", "latte"), ("latte wine", "latte")],
)
def test_what_a_tool_refuses_is_not_asked_about(
    monkeypatch: pytest.MonkeyPatch, request_text: str, drink: str
) -> None:
    def refusal(call: ToolCall, message: str) -> ToolResult | None:
        text = "Error: There is no wine."
        return ToolResult(call.call_id, call.name, text, True) if "wine" in message else None

    spec = replace(TOOLS["order_drink"], readings={"drink": LATTES}, refusal=refusal)
    monkeypatch.setitem(TOOLS, "order_drink", spec)
    script = Script()
    script.user(request_text)
    script.model("", ToolCall("d", "order_drink", {"drink": drink}), confidence=0.99)
    thing = request_text.split()[-1]
    assert script.spoken() == f"There is no {thing}."
    assert not script.of(RunTool)


@pytest.mark.parametrize(
    ("left_out", "told"),
    [("a croissant", "There is no croissant."), ("whack", "I did not get this: whack.")],
)
def test_what_has_no_article_is_no_thing_that_is_not_to_be_had(
    monkeypatch: pytest.MonkeyPatch, left_out: str, told: str
) -> None:
    spec = replace(TOOLS["order_drink"], readings={"drink": LATTES})
    monkeypatch.setitem(TOOLS, "order_drink", spec)
    latte = ToolCall("c", "order_drink", {"drink": "latte"})
    script = Script()
    script.user(f"a latte and {left_out}")
    script.model("", latte)
    script.tool(latte, "Added: latte.")
    script.model("Okay.")
    assert script.spoken() == f"Added: latte. {told}"


@pytest.mark.parametrize(
    ("reply", "denied"),
    [
        ("I can't see the menu. Shall I ask for a mocha?", True),
        ("I don't have the menu or the prices here, sorry.", True),
        ("Sorry, I don't know the prices.", True),
        ("We have tea, and a menu at the counter.", False),
        ("I can't hear you.", False),
    ],
)
def test_a_reply_that_denies_the_menu_is_told_from_others(reply: str, denied: bool) -> None:
    (shop,) = Toolbox(ToolsConfig(database=":memory:"), TurnConfig()).specs(["answer_question"])
    assert denies(reply, shop.knows) == denied
    assert not denies(reply, ())


@pytest.mark.parametrize(
    ("knows", "told"),
    [(("timetable",), NOT_UNDERSTOOD), (("menu",), "I can't see the timetable."), ((), None)],
)
def test_what_the_tool_for_questions_knows_is_not_denied(
    monkeypatch: pytest.MonkeyPatch, knows: tuple[str, ...], told: str | None
) -> None:
    monkeypatch.setitem(TOOLS, "get_time", replace(TOOLS["get_time"], knows=knows))
    script = Script(answers="get_time")
    script.user("the next train please")
    script.model("I can't see the timetable.")
    assert script.spoken() == (told or "I can't see the timetable.")


@pytest.mark.parametrize(
    ("reply", "claimed"),
    [
        ("Good, that's done.", True),
        ("All right. I've now cancelled it for you.", True),
        ("Thor's appointment is cancelled.", True),
        ("Done.", True),
        ("Is that done? Tell me.", False),
        ("I haven't done that. It's not booked.", False),
        ("We are closed on Sundays.", False),
        ("When should it be done?", False),
    ],
)
def test_a_reply_that_claims_a_deed_is_told_from_others(reply: str, claimed: bool) -> None:
    assert claims(reply) == claimed
