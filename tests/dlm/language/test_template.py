from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.language.messages import Answer, AnswerError, Call, Tool, Turn
from dlm.language.template import LONGEST_KEPT, Template, turn_of
from dlm.language.tokenizer import Mark
from tests.dlm.tiny import LIGHT, TIMER, WEATHER, WORDS, call_ids, template, tokenizer, tool

TOOLS = (TIMER, WEATHER, LIGHT)


def text(words: str) -> list[int]:
    return tokenizer().encode(f" {words}")


def spelled(ids: list[int]) -> str:
    """Ids with marks by name, to read a stream at a glance."""
    out = ""
    run: list[int] = []
    for token in [*ids, -1]:
        if token >= len(Mark):
            run.append(token)
            continue
        out += tokenizer().decode(run)
        run = []
        out += f"<{Mark(token).name}>" if token >= 0 else ""
    return out


def test_a_dialogue_reads_as_the_module_says() -> None:
    turns = (
        Turn("system", "Be brief."),
        Turn("user", "light please"),
        Turn("assistant", "Sure.", (Call("set_light", {"level": 3, "on": True, "room": "den"}),)),
        Turn("tool", "Done."),
        Turn("assistant", "It is on."),
    )
    encoded = template().dialogue(turns, (WEATHER, LIGHT))
    assert spelled(encoded.ids) == (
        "<SYSTEM> Be brief.<END>"
        "<TOOL> get weather<TYPE> Does get_weather.<KEY> place<OPTIONAL>"
        "<KEY> day<OPTIONAL><OPTION> today<OPTION> tomorrow<END>"
        "<TOOL> set light<TYPE> Does set_light.<KEY> level<KEY> on<OPTIONAL><KEY> room<OPTIONAL>"
        "<END><USER> light please<END>"
        "<AGENT> Sure.<CALL> set light<KEY> level<VALUE> 3<KEY> on<VALUE> true<KEY> room<VALUE> den"
        "<END><RESULT> Done.<END><AGENT> It is on.<END>"
    )


def test_a_thought_stands_before_its_answer_and_is_read_back() -> None:
    call = Call("set_timer", {"duration": "ten minutes"})
    turns = (Turn("user", "hi"), Turn("assistant", "hello", (call,), "the user says hi."))
    encoded = template().dialogue(turns, (TIMER,))
    (answer,) = encoded.answers
    assert spelled(encoded.ids[slice(*answer)]) == (
        " the user says hi.<ANSWER> hello<CALL> set timer<KEY> duration<VALUE> ten minutes<END>"
    )
    assert encoded.ids[answer[0] - 1] == Mark.THINK
    read = template().answer(encoded.ids[slice(*answer)], (TIMER,))
    assert read == Answer("hello", (call,), "the user says hi.")
    with pytest.raises(AnswerError, match="marks \\['ANSWER'\\]"):
        template().answer([*text("a"), Mark.ANSWER, *text("b"), Mark.ANSWER], (TIMER,))


def test_texts_of_any_length_are_spelled_and_short_ones_remembered() -> None:
    fresh = Template(tokenizer())
    for words in ("ten", "ten " * (LONGEST_KEPT // 4 + 1)):
        assert fresh.text(words) == fresh.text(words) == tokenizer().encode(f" {words.strip()}")
    long = Tool("set_timer", "ten " * LONGEST_KEPT, TIMER.parameters)
    assert fresh.tool(long, "set timer") == fresh.tool(long, "set timer")
    assert fresh.tool(long, "set timer") is not fresh.tool(long, "set timer")


def test_a_prompt_ends_where_the_answer_begins() -> None:
    turns = (Turn("system", "Be brief."), Turn("user", "hi"))
    prompt = template().prompt(turns, TOOLS)
    answered = template().dialogue((*turns, Turn("assistant", "hello")), TOOLS)
    assert prompt == answered.ids[: answered.answers[0][0]]
    assert spelled(template().prompt(turns[1:], ())) == "<USER> hi<END><AGENT>"


def test_several_leading_system_messages_are_one_and_a_later_one_stands_where_it_is() -> None:
    hi = Turn("user", "hi")
    parts = Turn("system", "Be brief."), Turn("system", "Be kind.")
    joined = Turn("system", "Be brief. Be kind.")
    assert template().dialogue((*parts, hi)).ids == template().dialogue((joined, hi)).ids
    later = template().dialogue((parts[0], hi, parts[1])).ids
    assert later.count(Mark.SYSTEM) == 2


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(ValueError, match="role: got 'bard'"):
        template().prompt((Turn("bard", "hi"),))


def test_a_word_has_the_same_ids_in_prompt_value_and_reply() -> None:
    word = text("minutes")
    turns = (
        Turn("user", "minutes"),
        Turn("assistant", "minutes", (Call("set_timer", {"duration": "minutes"}),)),
        Turn("tool", " minutes "),
    )
    ids = template().dialogue(turns, (Tool("minutes", "", {}),)).ids
    found = [i for i in range(len(ids)) if ids[i : i + len(word)] == word]
    assert len(found) == 5
    assert [ids[i - 1] for i in found] == [
        Mark.TOOL, Mark.USER, Mark.AGENT, Mark.VALUE, Mark.RESULT,
    ]  # fmt: skip


def test_a_declaration_is_encoded_once_and_again_when_it_changes() -> None:
    fresh = Template(tokenizer())
    same = Tool(TIMER.name, TIMER.description, TIMER.parameters)
    assert fresh.tool(TIMER, "set timer") is fresh.tool(same, "set timer")
    assert spelled(fresh.tool(TIMER, "set_timer")).startswith("<TOOL> set_timer<TYPE>")
    changed = Tool("set_timer", "Starts one.", TIMER.parameters)
    assert spelled(fresh.tool(changed, "set timer")).startswith(
        "<TOOL> set timer<TYPE> Starts one."
    )


@given(
    st.text(st.characters(exclude_categories=["Cs"])).map(str.strip), st.integers(), st.booleans()
)
def test_calls_survive_the_round_trip(words: str, level: int, on: bool) -> None:
    calls = (
        Call("set_timer", {"duration": words}),
        Call("set_light", {"level": level, "on": on, "room": words}),
    )
    ids = [*template().text(words), *(i for call in calls for i in call_ids(call))]
    answer = template().answer([*ids, Mark.END, *text("what follows the end")], TOOLS)
    assert answer.calls == calls
    assert answer.content == words


def test_a_name_of_signs_may_have_space_around_it() -> None:
    odd = tool("do", ["- "], **{"- ": WORDS})
    call = Call("do", {"- ": "ten"})
    assert template().answer(template().spell(Answer("", (call,)), [odd]), [odd]).calls == (call,)


CALL, KEY, VALUE = [Mark.CALL], [Mark.KEY], [Mark.VALUE]
TIMER_CALL = [*CALL, *text("set timer"), *KEY, *text("duration"), *VALUE, *text("ten")]


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        ([*text("hi"), Mark.USER, *text("x")], r"got marks \['USER'\] inside a text"),
        ([*text("hi"), *VALUE], r"got marks \['VALUE'\] inside a text"),
        ([*CALL, *text("set time")], "tool: got 'set time', expected one of"),
        (CALL, "tool: got ''"),
        ([*CALL, Mark.TYPE, *text("set timer")], r"got marks \['TYPE'\]"),
        ([*CALL, *text("set timer")], r"set timer: missing \['duration'\]"),
        ([*TIMER_CALL, *KEY, *text("label")], r"set timer.label: got 0 values, expected 1"),
        ([*TIMER_CALL, *VALUE, *text("x")], r"set timer.duration: got 2 values, expected 1"),
        ([*TIMER_CALL, *KEY, *text("loud"), *VALUE, *text("x")], "unknown or repeated .*'loud'"),
        ([*TIMER_CALL, *KEY, *text("duration"), *VALUE, *text("x")], "repeated .*'duration'"),
        ([*TIMER_CALL, Mark.OPTION], r"got marks \['OPTION'\]"),
        (
            [*CALL, *text("set light"), *KEY, *text("level"), *VALUE, *text("high")],
            "set light.level: got 'high', expected integer",
        ),
        (
            [*CALL, *text("get weather"), *KEY, *text("day"), *VALUE, *text("monday")],
            "get weather.day: got 'monday', expected one of",
        ),
    ],
)
def test_an_answer_of_another_form_is_an_error(ids: list[int], told: str) -> None:
    with pytest.raises(AnswerError, match=told):
        template().answer(ids, TOOLS)


@pytest.mark.parametrize(
    ("message", "turn"),
    [
        ({"role": "user", "content": "hi"}, Turn("user", "hi")),
        ({"role": "assistant", "content": None}, Turn("assistant")),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]},
            Turn("user", "a"),
        ),
        (
            {"role": "assistant", "tool_calls": [{"name": "x", "arguments": {"n": 1}}]},
            Turn("assistant", "", (Call("x", {"n": 1}),)),
        ),
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "1", "function": {"name": "x", "arguments": json.dumps({"n": 1})}},
                    {"id": "2", "function": {"name": "y", "arguments": ""}},
                ],
            },
            Turn("assistant", "", (Call("x", {"n": 1}), Call("y", {}))),
        ),
        ({"role": "tool", "tool_call_id": "1", "content": "ok"}, Turn("tool", "ok")),
    ],
)
def test_messages_of_both_formats_are_read(message: dict[str, Any], turn: Turn) -> None:
    assert turn_of(message) == turn


@pytest.mark.parametrize("arguments", ["{", "[1]", "3"])
def test_arguments_that_are_no_object_are_refused(arguments: str) -> None:
    call = {"function": {"name": "x", "arguments": arguments}}
    with pytest.raises(ValueError, match=r"arguments of x: got .*, expected a JSON object"):
        turn_of({"role": "assistant", "tool_calls": [call]})


def test_a_required_value_that_may_be_null_is_null_where_it_is_not_given() -> None:
    nullable = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    book = tool("book", ["room", "floor"], room=WORDS, floor=nullable, label=nullable)
    assert book.required == {"room"}
    assert book.nulled == {"floor"}
    ids = call_ids(Call("book", {"room": "office"}))
    (read,) = template().answer(ids, [book]).calls
    assert read.arguments == {"room": "office", "floor": None}
    ids = call_ids(Call("book", {"room": "office", "floor": 3}))
    (read,) = template().answer(ids, [book]).calls
    assert read.arguments == {"room": "office", "floor": 3}


def test_a_null_that_stands_for_nothing_is_shown_as_nothing() -> None:
    nullable = {"type": ["string", "null"]}
    book = tool("book", ["room", "label"], room=WORDS, label=nullable)
    ids = template().spell(Answer("", (Call("book", {"room": "office", "label": None}),)), [book])
    assert ids == template().spell(Answer("", (Call("book", {"room": "office"}),)), [book])
    # What may not be null is shown as it was given.
    given = template().spell(Answer("", (Call("book", {"room": None}),)), [book])
    assert given != template().spell(Answer("", (Call("book", {}),)), [book])
