"""Calls that are not made at once: for want of a value, or of a "yes"."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voice.types import Confirmation, Reading, ToolCall, ToolSpec
from voice.understanding.confirmation import HeldBack, Question, confirmed_ones, readable_ones

NUMBERS = ("one", "two")
NUMBER = Reading(lambda said: said in NUMBERS, lambda said: "" if said in NUMBERS else "How many?")
SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "string"}, "note": {"type": "string"}},
    "required": ["count"],
}
PAYING = Confirmation(lambda _: "Pay?", ("pay", "yes please", "no").__contains__)
TOOLS = {
    spec.name: spec
    for spec in (
        ToolSpec("bring", "Bring some.", SCHEMA, readings={"count": NUMBER, "note": NUMBER}),
        ToolSpec("take", "Take some back.", SCHEMA, undoes=True),
        ToolSpec("pay", "Pay.", {}, confirmation=PAYING),
        ToolSpec("end", "End it.", {}, ends=True),
    )
}


def made(*names: str, count: str = "two", note: str = "two") -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name, name, {"count": count, "note": note}) for name in names)


def test_a_required_value_that_cannot_be_read_is_asked_for() -> None:
    assert readable_ones(made("bring"), TOOLS) == HeldBack(made("bring"))
    assert readable_ones(made("bring", count="some"), TOOLS) == HeldBack((), "How many?")


def test_optional_values_and_unknown_tools_are_not() -> None:
    for calls in (made("bring", note="some"), made("other", count="some"), made()):
        assert readable_ones(calls, TOOLS) == HeldBack(calls)


def test_of_several_the_readable_are_made_unless_they_take_something_back() -> None:
    unread = ToolCall("c", "bring", {"count": "some"})
    assert readable_ones((*made("bring"), unread), TOOLS) == HeldBack(made("bring"))
    assert readable_ones((*made("take"), unread), TOOLS) == HeldBack((), "How many?")


def test_beside_another_call_a_tool_says_itself_that_there_is_none() -> None:
    refusing = replace(NUMBER, question=lambda said: "" if said in NUMBERS else "There is none.")
    tools = TOOLS | {"bring": replace(TOOLS["bring"], readings={"count": refusing})}
    none = ToolCall("c", "bring", {"count": "some"})
    assert readable_ones((*made("bring"), none), tools) == HeldBack((*made("bring"), none))
    assert readable_ones((none,), tools) == HeldBack((), "There is none.")


@pytest.mark.parametrize(
    ("message", "question"),
    [("well", "Pay?"), ("pay", ""), ("", "Pay?"), ("yes please", "Pay?"), ("no", "")],
)
def test_what_cannot_be_taken_back_is_asked_about_unless_it_is_plain(
    message: str, question: str
) -> None:
    held = confirmed_ones(made("pay"), TOOLS, message)
    assert held == (HeldBack((), question, made("pay")) if question else HeldBack(made("pay")))


def test_the_other_calls_are_made() -> None:
    held = confirmed_ones(made("bring", "end"), TOOLS, "well")
    assert held == HeldBack(made("bring"))
    assert confirmed_ones(made("bring", "pay"), TOOLS, "well") == HeldBack(
        made("bring"), "Pay?", made("pay")
    )


def test_nothing_is_asked_where_there_is_nothing_to_confirm() -> None:
    nothing = ToolSpec("pay", "Pay.", {}, confirmation=Confirmation(lambda _: "", lambda _: False))
    assert confirmed_ones(made("pay"), {"pay": nothing}, "well") == HeldBack(made("pay"))


@pytest.mark.parametrize(
    "names", [("end",), ("pay", "end"), ("end", "bring"), ("bring", "end"), ("elsewhere", "end")]
)
def test_the_end_gives_way_to_what_the_message_asks_for_as_plainly(names: tuple[str, ...]) -> None:
    held = confirmed_ones(made(*names), TOOLS, "pay")
    assert sorted(call.name for call in held.made) == sorted({*names, "pay"} - {"end"})
    assert len({call.call_id for call in held.made}) == len(held.made)


def test_who_takes_leave_with_it_is_not_asked_any_more() -> None:
    calls = made("bring", "pay", "end")
    assert confirmed_ones(calls, TOOLS, "two for Emil, goodbye") == HeldBack(calls)
    assert confirmed_ones(calls, TOOLS, "two for Emil").question == "Pay?"
    pay = ToolSpec("pay", "Pay.", {}, confirmation=Confirmation(lambda _: "Pay?", bool, True))
    held = confirmed_ones(calls, {**TOOLS, "pay": pay}, "two for Emil, goodbye")
    assert (held.question, held.unconfirmed) == ("Pay?", made("pay"))


@pytest.mark.parametrize(("message", "question"), [("goodbye", "Pay?"), ("pay", "")])
def test_the_end_stays_where_nothing_is_asked_for_or_left_to_do(
    message: str, question: str
) -> None:
    pay = ToolSpec("pay", "Pay.", {}, confirmation=Confirmation(lambda _: question, "pay".__eq__))
    held = confirmed_ones(made("end"), {**TOOLS, "pay": pay}, message)
    assert not [call for call in (*held.made, *held.unconfirmed) if call.name == "pay"]


SIZES = Question.which(
    ToolCall("c", "bring", {"note": "one"}), {"count": ("small tea", "large tea")}, lambda _: "new"
)


@pytest.mark.parametrize(
    ("message", "chosen"),
    [
        ("the second one", ["large tea"]),
        ("the small one please", ["small tea"]),
        ("the first", ["small tea"]),
        ("both", ["small tea", "large tea"]),
        ("no", []),
        ("the tea", None),
        ("yes", None),
        ("a coffee", None),
        ("the third one", None),
    ],
)
def test_a_choice_is_made_by_place_or_words(message: str, chosen: list[str] | None) -> None:
    answered = SIZES.answered(message, TOOLS)
    assert (None if answered is None else [one.arguments["count"] for one in answered]) == chosen


def test_whether_that_is_all_is_a_question_of_the_tool_that_it_would_run() -> None:
    done = ToolSpec(
        "pay", "Pay.", {}, confirmation=Confirmation(lambda _: "Pay?", "that's all".__eq__)
    )
    asked = Question.whether_all("Is that all?", {"pay": done}, "c1")
    assert asked is not None
    assert asked.answered("yes, that's it", {"pay": done}) == (ToolCall("c1", "pay", {}),)
    assert asked.answered("no", {"pay": done}) == ()
    assert Question.whether_all("Anything else?", {"pay": done}, "c1") is None
    assert Question.whether_all("Is that all?", TOOLS, "c1") is None


@pytest.mark.parametrize(
    ("message", "passed"),
    [
        ("send it then", True), ("and two more", True),
        ("and how much is that", False), ("and would you have cake with that?", False),
        ("hot chocolate is nice", False), ("hello", False), ("it's for Jo", True),
        ("go on then, name's Jo", True), ("ok fine never mind that", False), ("yes, two", False),
    ],
)  # fmt: skip
def test_a_yes_is_taken_for_granted_by_what_goes_on_but_by_no_question(
    message: str, passed: bool
) -> None:
    bring = replace(TOOLS["bring"], meant=lambda _: "two")
    # Nothing is there to be sent yet, so that it has no question of its own.
    send = Confirmation(lambda _: "", lambda said: said.startswith("send it"))
    tools = {"bring": bring, "send": ToolSpec("send", "Send it.", {}, confirmation=send)}
    asked = Question((ToolCall("b", "bring", {"count": "two"}),))
    assert asked.passed_over(message, tools) is passed


@pytest.mark.parametrize(
    ("message", "arguments", "refused"),
    [
        ("no, not two", {"count": "two"}, True),
        ("no, not two", {"count": "two", "note": "hot"}, True),
        ("no, one", {"count": "one"}, False),
        ("no, one", {"count": 1}, False),
        ("well, two", {"count": "two"}, False),
    ],
)
def test_a_no_rules_out_the_call_without_a_value_from_it(
    message: str, arguments: dict[str, object], refused: bool
) -> None:
    bring, new = ToolCall("b", "bring", {"count": "two"}), ToolCall("c", "bring", {**arguments})
    other = ToolCall("t", "take", {"count": "two"})
    assert Question((bring,)).refused(message, (new, other), TOOLS) == ((new,) if refused else ())
    assert Question((bring, other)).refused(message, (new, other), TOOLS) == ()
