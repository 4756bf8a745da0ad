from __future__ import annotations

import json

import pytest
import torch

from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.formats import FormatError, JsonSchema
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.grammar.said import SPAN_PIECES, runs
from dlm.language.chat_template import ChatTemplate
from dlm.language.messages import Answer, Call, Tool
from tests.dlm.loading.families import tokenizers
from tests.dlm.tiny import LIGHT, TIMER, WEATHER

TOOLS = (TIMER, WEATHER, LIGHT)


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    return ChatTemplate(tokenizers.write(tmp_path_factory.mktemp("chat")), 259, [256])


@pytest.fixture(scope="module")
def factory(chat: ChatTemplate) -> GrammarFactory:
    return GrammarFactory(chat, 272)


def takes(matcher: Matcher, ids: list[int]) -> bool:
    """Whether an answer of these ids is one that the grammar has."""
    left = list(ids)
    while left:
        if left[0] == matcher.end:
            return matcher.best(torch.eye(272)[matcher.end]) == matcher.end
        try:
            forced = matcher.advance(left.pop(0))
        except ValueError:
            return False
        if left[: len(forced)] != forced:
            return False
        left = left[len(forced) :]
    return True


def call(name: str, **arguments: object) -> Answer:
    return Answer("", (Call(name, arguments),))


def test_runs_begin_and_end_with_words() -> None:
    assert list(runs(["a", " ", "b", ".", " "])) == ["a", "a b", "b"]
    assert list(runs(["?", " "])) == []
    longest = max(runs(["x"] * 40), key=len)
    assert len(longest) == SPAN_PIECES


@pytest.mark.parametrize(
    "answer",
    [
        Answer("Hello!", ()),
        call("set_timer", duration="ten minutes"),
        call("set_light", level=3, on=True, room="kitchen"),
        Answer("Sure.", (Call("get_weather", {"day": "today"}), Call("get_weather", {}))),
    ],
)
def test_answers_as_they_are_spelled_are_taken(
    chat: ChatTemplate, factory: GrammarFactory, answer: Answer
) -> None:
    assert takes(factory.matcher(AnswerRules(TOOLS)), chat.spell(answer))


@pytest.mark.parametrize(
    ("rules", "answer"),
    [
        (AnswerRules((TIMER,)), call("get_weather")),
        (AnswerRules((TIMER,)), call("set_timer")),
        (AnswerRules((TIMER,)), call("set_timer", duration=10)),
        (AnswerRules((TIMER,)), call("set_timer", duration="x", planet="y")),
        (AnswerRules((WEATHER,)), call("get_weather", day="never")),
        (AnswerRules((LIGHT,)), call("set_light", level="3")),
        (AnswerRules(TOOLS, "required"), Answer("Hello!", ())),
        (AnswerRules(TOOLS, "none"), call("get_weather")),
        (AnswerRules(TOOLS, "set_timer"), call("get_weather")),
        (
            AnswerRules((WEATHER,), parallel=False),
            Answer("", (Call("get_weather", {}), Call("get_weather", {}))),
        ),
        (
            AnswerRules((TIMER,), copy_sources=("ten minutes",)),
            call("set_timer", duration="thirty"),
        ),
    ],
)
def test_what_the_rules_do_not_allow_is_not_taken(
    chat: ChatTemplate, factory: GrammarFactory, rules: AnswerRules, answer: Answer
) -> None:
    assert not takes(factory.matcher(rules), chat.spell(answer))


def test_a_formatted_text_has_no_leading_space(chat: ChatTemplate, factory: GrammarFactory) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    rules = AnswerRules(format=JsonSchema(schema))
    text = json.dumps({"a": 5})
    assert takes(factory.matcher(rules), chat.spell(Answer(text, ())))
    assert not takes(factory.matcher(rules), chat.spell(Answer(f" {text}", ())))


def test_what_a_tool_defines_may_be_referred_to_from_inside_its_parameters(
    chat: ChatTemplate, factory: GrammarFactory
) -> None:
    item = {"type": "object", "properties": {"n": {"$ref": "#/$defs/Count"}}, "required": ["n"]}
    definitions = {"Item": item, "Count": {"type": "integer"}}
    items = {"type": "array", "items": {"$ref": "#/$defs/Item"}}
    parameters = {"properties": {"items": items}, "required": ["items"], "$defs": definitions}
    rules = AnswerRules((Tool("buy", "Buys.", parameters),))
    assert takes(factory.matcher(rules), chat.spell(call("buy", items=[{"n": 3}])))
    assert not takes(factory.matcher(rules), chat.spell(call("buy", items=[{"n": "x"}])))


def test_a_tools_pattern_of_too_many_parts_is_no_fault_of_the_format(
    factory: GrammarFactory,
) -> None:
    pattern = {"type": "string", "pattern": "^(a{1000}){1000}$"}
    bad = Tool("bad", "", {"properties": {"a": pattern}})
    with pytest.raises(FormatError, match=r"^bad: too many expressions") as raised:
        factory.matcher(AnswerRules((TIMER, bad)))
    assert raised.value.tool == "bad"
