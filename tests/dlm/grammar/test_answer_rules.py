"""Parameters that are marked as said, and those whose values stand as JSON."""

from __future__ import annotations

import pytest

from dlm.grammar.answer_rules import MOST_CHARACTERS, AnswerRules, lark
from dlm.grammar.formats import FormatError, Regex
from dlm.language import messages
from dlm.language.messages import Tool
from dlm.language.template import Template
from tests.dlm.answers import FACTORY, SAID, allows, call
from tests.dlm.tiny import TIMER, WORDS, tokenizer, tool

MARKED = tool(
    "note",
    ["text"],
    text={"type": "string", "x-as-said": True},
    mood={"anyOf": [{"type": "string"}, {"type": "null"}], "x-as-said": True},
    title=WORDS,
)


def test_a_marked_parameter_is_a_span_of_what_was_heard() -> None:
    rules = AnswerRules((MARKED,), user_texts=SAID)
    assert allows(rules, call("note", text="ten minutes"))
    assert allows(rules, call("note", text="ten", mood="please", title="Anything else"))
    assert not allows(rules, call("note", text="thirty minutes"))
    assert not allows(rules, call("note", text="ten", mood="angry"))


def test_what_was_said_binds_marked_parameters_as_well() -> None:
    rules = AnswerRules((MARKED,), copy_sources=("buy milk",), user_texts=SAID)
    assert allows(rules, call("note", text="milk", title="buy"))
    assert not allows(rules, call("note", text="ten"))


def test_a_marked_parameter_needs_words() -> None:
    rules = AnswerRules((MARKED, TIMER), user_texts=("...",))
    assert not allows(rules, call("note", text="ten"))
    assert allows(rules, call("set_timer", duration="ten"))
    with pytest.raises(ValueError, match="got no words"):
        FACTORY.matcher(AnswerRules((MARKED,), "required"))


COUNT = tool("count", ["to"], to={"type": "integer"}, by={"enum": ["ones", "tens"]})


def test_the_grammar_of_tools_that_take_no_words_holds_none() -> None:
    plain = lark(AnswerRules((COUNT, TIMER)))
    assert lark(AnswerRules((COUNT, TIMER), user_texts=SAID)) == plain
    assert lark(AnswerRules((COUNT,), copy_sources=SAID)) == lark(AnswerRules((COUNT,)))
    assert "minutes" in lark(AnswerRules((COUNT, MARKED), user_texts=SAID))
    assert "minutes" in lark(AnswerRules((COUNT, TIMER), copy_sources=SAID))


def test_a_tool_of_many_parameters_is_read_a_few_times_and_not_once_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = []
    monkeypatch.setattr(messages, "admits_null", lambda schema: read.append(schema) or False)
    monkeypatch.setattr(messages, "plain", lambda schema, _: read.append(schema) or schema)
    names = [f"p{number}" for number in range(200)]
    wide = tool("wide", names, **{name: {"type": "boolean"} for name in names})
    lark(AnswerRules((wide,)))
    Template(tokenizer()).tool(wide, "wide")
    assert len(read) < 200 * 40


def test_definitions_that_many_parameters_refer_to_are_not_written_for_all() -> None:
    large = {"enum": list(range(MOST_CHARACTERS // 500))}
    listed = {"type": "array", "items": {"$ref": "#/$defs/Large"}}
    properties = {f"p{number}": listed for number in range(100)}
    wide = Tool("wide", "", {"properties": properties, "$defs": {"Large": large}})
    with pytest.raises(FormatError, match="parameters and definitions: got") as raised:
        lark(AnswerRules((TIMER, wide)))
    assert raised.value.tool == "wide"


ORDER = tool(
    "order",
    ["size", "parts", "code"],
    size={"type": "integer", "minimum": 2, "maximum": 12},
    parts={
        "type": "array",
        "items": {"type": "object", "properties": {"n": WORDS}, "required": ["n"]},
    },
    code={"type": "string", "pattern": "^[A-Z]{2}$"},
    gift={"type": "boolean"},
    weight={"type": "number", "maximum": 3.5},
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"gift": "true", "weight": "-0.25"}, True),
        ({"weight": "3.5"}, True),
        ({"parts": "[]"}, True),
        ({"size": "13"}, False),
        ({"size": "2.5"}, False),
        ({"size": "twelve"}, False),
        ({"parts": '[{"n": 3}]'}, False),
        ({"parts": "[{}]"}, False),
        # Nobody named it, so that a weak model would go on naming more.
        ({"parts": '[{"n": "x", "m": 1}]'}, False),
        ({"code": '"ab"'}, False),
        ({"code": "AB"}, False),
        ({"gift": "yes"}, False),
        ({"weight": "4"}, False),
    ],
)
def test_values_that_are_not_words_are_json(changes: dict[str, str], expected: bool) -> None:
    given_ = {"size": "12", "parts": '[{"n": "x"}]', "code": '"AB"', **changes}
    rules = AnswerRules((ORDER,))
    assert allows(rules, call("order", **given_)) is expected


def test_a_tools_pattern_of_too_many_parts_is_no_fault_of_the_format() -> None:
    pattern = {"type": "string", "pattern": "^(a{1000}){1000}$"}
    rules = AnswerRules((tool("f", ["a"], a=pattern),), "required", format=Regex("a"))
    with pytest.raises(FormatError, match=r"^f\.a: too many expressions") as raised:
        FACTORY.matcher(rules)
    assert (raised.value.tool, raised.value.parameter) == ("f", "a")
