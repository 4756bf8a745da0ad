"""Questions of the agent that are open, and what closes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.script import TIME, TIMER, TOOLS, Script
from voice.config import AgentConfig
from voice.dialogue.call_checks import NOTHING_DONE
from voice.dialogue.commands import Generate, RunTool
from voice.dialogue.flow import Flow
from voice.dialogue.second_thoughts import CANNOT_UNDO
from voice.dialogue.team import Team
from voice.events import ReplyToolCall
from voice.types import Confirmation, Reading, Role, ToolCall, ToolSpec


def in_doubt(**options: object) -> tuple[Script, ToolCall]:
    """A dialogue in which the agent has asked about an order."""
    script = Script(**options)
    asked = ToolCall("asked", "order_drink", {"drink": "latte"})
    script.user("for the office a latte or something")
    script.model("", asked, confidence=0.1)
    assert script.spoken().strip() == "A latte, is that right?"
    script.sent()
    script.played()
    return script, asked


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("and a lemonade for Jo", True),
        ("plus two of those", True),
        ("Actually make the latte large.", True),
        ("with oat milk", True),
        ("no milk in the latte", True),
        ("the latte should be decaf", True),
        ("hers with cinnamon", True),
        ("the mocha please", False),
        ("Make it a tea.", False),
        ("And no sugar.", False),
        ("a lemonade", False),
        ("how much is it", False),
        ("and how much is that", False),
        ("and would you have anything to eat?", False),
        ("really hot please", True),
        ("Fine, name's Karen and hurry up.", True),
        ("yeah, how much is it", True),
        ("one of the lattes with oat milk", True),
        ("ok how much is it", False),
        ("yeah but not that", False),
        ("and my friend wants nothing", False),
    ],
)
def test_who_goes_on_behind_a_question_takes_a_yes_for_granted(message: str, made: bool) -> None:
    script, asked = in_doubt()
    script.user(message, turn_id=2)
    assert [run.call for run in script.of(RunTool)] == [asked] * made
    if made:
        script.tool(asked, "Added: latte.")
        # What the message says itself is asked behind that.
        prompt = script.last(Generate).prompt
        said = [m.content for m in prompt.messages if m.role in (Role.USER, Role.TOOL)]
        assert said[-3:] == ["yes", "Added: latte.", message]


def test_a_question_is_asked_again_behind_what_does_not_answer_it() -> None:
    script, asked = in_doubt()
    script.user("what time is it", turn_id=2)
    script.model("", TIME, confidence=1.0)
    script.tool(TIME, "It is noon.")
    assert script.spoken().endswith("It is noon. A latte, is that right?")
    script.sent()
    script.played()
    script.user("yes", turn_id=3)
    assert script.last(RunTool).call == asked


@pytest.mark.parametrize(
    ("message", "call", "open_"),
    [
        ("set a timer for ten minutes", TIMER, True),
        ("a tea", ToolCall("t", "order_drink", {"drink": "tea"}), True),
        ("a large latte", ToolCall("t", "order_drink", {"drink": "lattes"}), False),
        ("make it a tea", ToolCall("t", "order_drink", {"drink": "tea"}), False),
        ("no, a tea", ToolCall("t", "order_drink", {"drink": "tea"}), False),
    ],
)
def test_only_what_is_asked_for_in_its_place_closes_a_question(
    message: str, call: ToolCall, open_: bool
) -> None:
    script, _ = in_doubt()
    script.user(message, turn_id=2)
    script.model("", call, confidence=1.0)
    script.tool(call, "It is done.")
    again = " A latte, is that right?" if open_ else ""
    assert script.spoken().endswith(f"It is done.{again}")


def test_what_is_in_doubt_next_is_asked_about_together_with_what_is_open() -> None:
    script, _ = in_doubt()
    script.user("for the second floor a tea or so", turn_id=2)
    script.model("", ToolCall("t", "order_drink", {"drink": "tea"}), confidence=0.1)
    assert script.spoken().endswith("A tea and a latte, is that right?")


def test_a_question_that_is_never_answered_is_left_out_with_words() -> None:
    script, _ = in_doubt()
    for turn_id, ends in ((2, True), (3, True), (4, False)):
        script.user("my dog is called Rex", turn_id)
        script.model("Good for you. Anything else?")
        assert script.spoken().endswith("A latte, is that right?") is ends
        script.sent()
        script.played()
    assert script.spoken().endswith("Good for you. I left this out: a latte.")
    assert script.conversation.proposed == ()


def doubtful_change(monkeypatch: pytest.MonkeyPatch) -> Script:
    """A dialogue in which the agent has asked about a change of an order that can be placed."""
    texts = {name: {"type": "string"} for name in ("drink", "milk", "syrup")}
    milk = Reading(lambda said: said if said in ("oat milk", "soy milk") else None, lambda _: "")
    change = replace(
        TOOLS["change_drink"],
        parameters={"type": "object", "properties": texts, "required": ["drink"]},
        meant=lambda said: f"the {' with '.join(said.values())}",
        readings={"milk": milk},
    )
    places = Confirmation(lambda _: "Shall I place it?", "that's all".__eq__)
    confirm = ToolSpec("confirm_order", "Place it.", {}, confirmation=places)
    monkeypatch.setitem(TOOLS, "change_drink", change)
    monkeypatch.setitem(TOOLS, "confirm_order", confirm)
    script = Script(agent_tools=(*TOOLS,))
    script.user("well the tea you know")
    given = {"drink": "tea", "milk": "oat milk", "syrup": "honey"}
    script.model("", ToolCall("c", "change_drink", given), confidence=0.1)
    script.sent()
    script.played()
    return script


@pytest.mark.parametrize(
    ("message", "made", "told"),
    [
        ("that's all", ["confirm_order"], "I left this out: the tea with oat milk with honey."),
        ("put it under Jo", [], "The tea with oat milk with honey, is that right?"),
        ("soy milk", [], "The tea with soy milk with honey, is that right?"),
        ("go on then", ["change_drink"], ""),
    ],
)
def test_a_doubtful_change_is_never_taken_for_granted_nor_lost(
    message: str, made: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = doubtful_change(monkeypatch)
    asked, before = len(script.of(Generate)), script.spoken()
    script.user(message, 2)
    if len(script.of(Generate)) > asked:
        script.model("", ToolCall("p", "confirm_order", {}), confidence=1.0)
    assert [run.call.name for run in script.of(RunTool)] == made
    assert script.spoken().removeprefix(before).strip() == told


@pytest.mark.parametrize(("drink", "open_"), [("tea", True), ("latte", False), ("Latte", False)])
def test_what_takes_back_another_thing_leaves_a_question_open(
    drink: str, open_: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    undoing = replace(TOOLS["remove_from_list"], name="remove_drink", undoes=True)
    monkeypatch.setitem(TOOLS, "remove_drink", undoing)
    script, _ = in_doubt()
    taken = ToolCall("t", "remove_drink", {"item": drink})
    script.user("scratch the first one", turn_id=2)
    script.model("", taken, confidence=1.0)
    script.tool(taken, "Removed: tea.")
    asked = "Removed: tea. A latte, is that right?" if open_ else "Removed: tea."
    assert script.spoken().endswith(asked)


def test_a_message_that_a_pattern_takes_says_yes_to_what_is_open_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send = replace(
        TOOLS["set_timer"],
        name="send_order",
        confirmation=Confirmation(lambda _: "", lambda said: said == "send it"),
    )
    monkeypatch.setitem(TOOLS, "send_order", send)
    script, asked = in_doubt(calls={"send_order": ("^send it$",)})
    script.user("send it", turn_id=2)
    assert script.last(RunTool).call == asked
    script.tool(asked, "Added: latte.")
    assert script.last(RunTool).call.name == "send_order"


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ([{"drink": "large one", "size": "large"}, {"drink": "tea", "size": "small"}], [1]),
        ([{"drink": "tea"}, {"drink": "latte", "size": "small"}], [1]),
        ([{"drink": "tea", "size": "large"}, {"drink": "latte", "size": "small"}], [0, 1]),
    ],
)
def test_a_change_to_nothing_new_is_none(given: list[dict[str, str]], made: list[int]) -> None:
    script = Script()
    script.user("the tea and the large one large, the latte small")
    calls = [ToolCall(f"c{n}", "change_drink", one) for n, one in enumerate(given)]
    script.model("", *calls, confidence=1.0)
    assert [run.call for run in script.of(RunTool)] == [calls[n] for n in made]


def test_who_takes_leave_is_asked_once_more_first() -> None:
    script, _ = in_doubt()
    end = ToolCall("e", "end_conversation", {})
    for turn_id, ends in ((2, False), (3, True)):
        script.user("okay great, bye", turn_id=turn_id)
        if script.conversation.active_reply and script.of(Generate):
            script.model("", end, confidence=1.0)
        assert any(run.call.name == end.name for run in script.of(RunTool)) is ends
        script.sent()
        script.played()


def test_a_number_that_a_clients_tool_needs_and_nobody_said_is_asked_for() -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "number"}}}
    pay = ToolSpec("send_money", "A tool.", {**schema, "required": ["amount"]})
    for said, choice, asked in (
        ("send some money", "auto", True),
        ("send 20 pounds", "auto", False),
        ("send some money", "required", False),
    ):
        script = Script(client_tools=(pay,), tool_choice=choice)
        script.user(said)
        script.model("", ToolCall("c", pay.name, {"amount": 20}), confidence=1.0)
        assert (script.spoken().strip() == "What is the amount?") is asked
        assert bool(script.events(ReplyToolCall)) is not asked


def desk() -> Flow:
    """An agent without steps that hands over to another."""
    boss = AgentConfig(name="boss", instructions="Decide.", greeting="Boss.")
    front = AgentConfig(name="desk", instructions="Be brief.", tools=tuple(TOOLS))
    return Flow(Team((front.model_copy(update={"hand_over": ("boss",)}), boss)))


@pytest.mark.parametrize("flow", [lambda: None, desk], ids=["alone", "hands over"])
def test_a_question_that_the_model_knows_no_tool_for_is_looked_up(
    flow: Callable[[], Flow | None],
) -> None:
    script = Script(flow=flow())
    script.user("how much is the deposit")
    script.model("I don't know that.")
    call = script.last(RunTool).call
    assert (call.name, call.arguments) == (
        "search_documents", {"query": "how much is the deposit"}
    )  # fmt: skip
    script.tool(call, "From rules: fifty.")
    assert script.spoken().strip() == "From rules: fifty."


def test_what_the_model_calls_something_for_or_nothing_is_found_to_is_not_looked_up() -> None:
    script = Script()
    script.user("how long is the deposit open")
    script.model("", TIME, confidence=1.0)
    assert [run.call for run in script.of(RunTool)] == [TIME]
    script = Script()
    script.user("how much is a helmet")
    script.model("I don't know that.")
    assert script.spoken().strip() == "I don't know that."


def test_a_thing_that_is_gone_does_not_stay_and_is_made_again_on_a_yes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TOOLS, "cancel_timer", ToolSpec("cancel_timer", "A tool.", {}, undoes=True))
    script, gone = Script(agent_tools=(*TOOLS,)), ToolCall("g", "cancel_timer", {})
    for turn_id, (said, made) in enumerate((("a timer", TIMER), ("cancel the timer", gone)), 1):
        script.user(said, turn_id)
        script.model("", made, confidence=1.0)
        script.tool(made, "Done.")
        script.sent()
        script.played()
    asked = len(script.of(Generate))
    script.user("no wait, leave it", 3)
    assert script.spoken().endswith("That is done already. Shall I set it again?")
    assert len(script.of(Generate)) == asked
    script.sent()
    script.played()
    script.user("yes", 4)
    assert script.last(RunTool).call.arguments == TIMER.arguments


def test_what_is_denied_is_taken_back_if_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = replace(TOOLS["change_drink"], name="remove_drink", undoes=True)
    monkeypatch.setitem(TOOLS, "remove_drink", spec)
    script = Script(agent_tools=(*TOOLS,))
    made = ToolCall("m", "order_drink", {"drink": "oat latte"})
    script.user("an oat latte")
    script.model("", made, confidence=1.0)
    script.tool(made, "Added.")
    script.sent()
    script.played()
    script.user("and no latte after all", 2)
    script.model("", replace(made, call_id="n", arguments={"drink": "latte"}), confidence=1.0)
    assert script.last(RunTool).call.name == "remove_drink"


def _after_an_order(**options: object) -> Script:
    script = Script(agent_tools=(*TOOLS,), **options)
    made = ToolCall("m", "order_drink", {"drink": "latte"})
    script.user("a latte")
    script.model("", made, confidence=1.0)
    script.tool(made, "Added: latte.")
    script.sent()
    script.played()
    return script


def test_a_refusal_right_behind_a_deed_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLS, "open_door", ToolSpec("open_door", "A tool.", {}))
    script = _after_an_order()
    script.user("no, don't order it", 2)
    assert script.spoken().endswith(CANNOT_UNDO)
    script = _after_an_order(calls={"open_door": ("^undo that$",)})
    script.user("no, don't order it", 2)
    assert script.last(RunTool).call.name == "open_door"
    asked = Confirmation(lambda given: f"Remove the {given['drink']}?", lambda message: False)
    spec = replace(TOOLS["change_drink"], name="remove_drink", undoes=True)
    monkeypatch.setitem(TOOLS, "remove_drink", spec)
    script = _after_an_order()
    script.user("no, don't order it", 2)
    assert script.last(RunTool).call.name == "remove_drink"
    monkeypatch.setitem(TOOLS, "remove_drink", replace(spec, confirmation=asked))
    script = _after_an_order()
    script.user("no, don't order it", 2)
    assert script.spoken().endswith("Remove the latte?")
    assert script.last(RunTool).call.name == "order_drink"


def test_a_question_of_what_was_done_does_nothing_and_gets_the_last_deed() -> None:
    another = ToolCall("n", "order_drink", {"drink": "latte"})
    for script, told in ((Script(), NOTHING_DONE), (_after_an_order(), "Added: latte.")):
        ran, spoken = len(script.of(RunTool)), script.spoken()
        script.user("Did you order a latte or not?", 2)
        script.model("", another, confidence=1.0)
        assert len(script.of(RunTool)) == ran
        assert script.spoken().removeprefix(spoken).strip() == told
    script = _after_an_order()
    spoken = script.spoken()
    script.user("have you ordered it", 2)
    script.model("I can't order tables.")
    assert script.spoken().removeprefix(spoken).strip() == "Added: latte."


def test_a_question_for_a_value_has_a_way_out_the_third_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unreadable = Reading(lambda said: None, lambda said: "Which drink?")
    monkeypatch.setitem(
        TOOLS, "order_drink", replace(TOOLS["order_drink"], readings={"drink": unreadable})
    )
    script, told = Script(), []
    for turn_id in range(1, 4):
        script.user("order a pizza", turn_id)
        call = ToolCall(f"p{turn_id}", "order_drink", {"drink": "pizza"})
        before = script.spoken()
        script.model("", call, confidence=1.0)
        told.append(script.spoken().removeprefix(before).strip())
        script.sent()
        script.played()
    way_out = "Sorry, I did not get that. To leave it, say: never mind. Which drink?"
    assert told == ["Which drink?", "Which drink?", way_out]


def test_what_one_request_has_looked_up_is_not_told_for_another() -> None:
    script, again = Script(), replace(TIME, call_id="again")
    script.user("tell me the time and give me the weather")
    script.model("", TIME, confidence=1.0)
    script.tool(TIME, "It is noon.")
    script.model("", again, confidence=1.0)
    assert script.spoken().endswith("It is noon. I did not get this: give me the weather.")
    assert [one.call for one in script.of(RunTool)] == [TIME]


def ordering(monkeypatch: pytest.MonkeyPatch, **options: object) -> tuple[Script, ToolCall]:
    """A dialogue in which orders have to be confirmed, and an order."""
    drinks = Reading(lambda said: said if said in ("latte", "tea") else None, lambda _: "")
    shall_i = Confirmation(lambda given: f"A {given['drink']}, shall I?", lambda _: False, True)
    spec = replace(
        TOOLS["order_drink"], confirmation=shall_i, readings={"drink": drinks}, meant=None
    )
    monkeypatch.setitem(TOOLS, "order_drink", spec)
    return Script(**options), ToolCall("o", "order_drink", {"drink": "latte"})


def asked_to_confirm(monkeypatch: pytest.MonkeyPatch) -> tuple[Script, ToolCall]:
    """A dialogue in which the agent has just asked whether to order."""
    script, order = ordering(monkeypatch)
    script.user("order a latte")
    script.model("", order, confidence=1.0)
    script.sent()
    script.played()
    return script, order


@pytest.mark.parametrize("calls", [{}, {"get_time": ("what time",)}], ids=["model", "pattern"])
def test_the_question_before_a_call_stands_last_and_a_yes_makes_the_call(
    calls: dict[str, tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, order = ordering(monkeypatch, calls=calls)
    script.user("order me a latte and tell me what time it is")
    script.model("", order, confidence=1.0)
    if not calls:
        script.model("", TIME, confidence=1.0)
    time = script.last(RunTool).call
    script.tool(time, "It is noon.")
    assert script.spoken().strip() == "It is noon. A latte, shall I?"
    script.sent()
    script.played()
    assert script.conversation.proposed == (order,)
    script.user("yes", 2)
    assert script.last(RunTool).call == order


def test_a_call_beside_one_that_is_asked_about_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    script, order = ordering(monkeypatch)
    tea = ToolCall("p", "order_drink", {"drink": "tea"})
    script.user("a timer for ten minutes, a latte and a tea")
    script.model("", order, TIMER, tea, confidence=1.0)
    assert [run.call for run in script.of(RunTool)] == [TIMER]
    script.tool(TIMER, "Timer set.")
    assert script.spoken().strip() == "Timer set. A latte, shall I? A tea, shall I?"
    assert script.conversation.proposed == (order, tea)


def test_a_yes_to_two_questions_makes_both_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    script, order = ordering(monkeypatch)
    another = ToolCall("p", "order_drink", {"drink": "tea"})
    script.user("order a latte and order a tea")
    script.model("", order, confidence=1.0)
    script.model("", another, confidence=1.0)
    assert script.spoken().strip() == "A latte, shall I? A tea, shall I?"
    script.sent()
    script.played()
    script.user("yes", 2)
    assert [run.call for run in script.of(RunTool)] == [order, another]


def test_a_correction_of_what_is_asked_about_is_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script, _ = asked_to_confirm(monkeypatch)
    script.user("no, a tea", 2)
    assert script.spoken().endswith("A tea, shall I?")
    assert len(script.of(Generate)) == 1
    script.sent()
    script.played()
    script.user("yes", 3)
    assert [run.call.arguments for run in script.of(RunTool)] == [{"drink": "tea"}]


def test_a_question_is_open_still_for_who_goes_on_with_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script, _ = asked_to_confirm(monkeypatch)
    script.user("no", 2)
    script.sent()
    script.goes_on(400, "a tea", 3)
    assert script.spoken().endswith("A tea, shall I?")
    script.sent()
    script.played()
    script.user("yes", 4)
    script.goes_on(400, "please", 5)
    assert [run.call.arguments for run in script.of(RunTool)] == [{"drink": "tea"}]


def test_what_was_refused_is_not_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    script, order = asked_to_confirm(monkeypatch)
    script.user("no, not a latte", 2)
    script.model("", replace(order, call_id="again"), confidence=1.0)
    assert script.spoken().endswith("Okay. What would you like to change?")
    assert script.conversation.proposed == ()


ANYTHING_ELSE = "Anything else?"


def gathering(monkeypatch: pytest.MonkeyPatch) -> Script:
    """A dialogue in which a drink was ordered and "Anything else?" asked."""
    gathers = replace(TOOLS["order_drink"], asks_next=ANYTHING_ELSE)
    monkeypatch.setitem(TOOLS, "order_drink", gathers)
    places = Confirmation(lambda _: "", lambda said: said in ("yes", "no"))
    confirm = ToolSpec("confirm_order", "Place it.", {}, confirmation=places)
    monkeypatch.setitem(TOOLS, "confirm_order", confirm)
    return _after_an_order()


def test_a_bare_yes_to_a_closing_question_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    script = gathering(monkeypatch)
    assert script.spoken().endswith(ANYTHING_ELSE)
    asked = len(script.of(Generate))
    script.user("yes", 2)
    assert script.spoken().endswith("What else would you like?")
    assert len(script.of(Generate)) == asked


def test_a_bare_yes_to_no_question_confirms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    script = gathering(monkeypatch)
    place = ToolCall("p", "confirm_order", {})
    for turn_id, said, runs in ((2, "never", False), (3, "yes", False), (4, "no", True)):
        script.user(said, turn_id)
        script.model("Take your time." if said == "never" else "", *[place] * (said != "never"))
        assert (script.last(RunTool).call == place) is runs
        script.sent()
        script.played()
