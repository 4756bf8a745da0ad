"""What the second version of a declaration tells of parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlm.engine.engine import SHIPPED
from dlm.language.declaration import ALL_NOTES, LONGEST_NOTE, cut, notes
from dlm.language.messages import Answer, Call, Tool, Turn
from dlm.language.template import LONGEST_DECLARATION, Template, tools_of
from dlm.language.tokenizer import Tokenizer
from tests.dlm.language.test_template import spelled
from tests.dlm.tiny import TOOLS, WORDS, template, tokenizer, tool

LISTS = Path(__file__).parents[3] / "benchmarks" / "dlm" / "teaching"
STREET = {"type": "object", "properties": {"streetName": WORDS, "zip": WORDS}}
OPEN = {"type": "string", "minLength": 3}


def told(schema: dict[str, Any], name: str = "p1", **others: Any) -> str:
    declared = {"type": "object", "properties": {name: schema}, **others}
    return notes(Tool("get_weather", "", declared))[name]


@pytest.mark.parametrize(
    ("schema", "note"),
    [
        (WORDS, ""),
        ({}, ""),
        ({"type": "string", "enum": ["a", "b"]}, ""),
        ({"type": "integer"}, "whole number"),
        ({"type": ["number", "null"]}, "number"),
        ({"type": "boolean"}, "true or false"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "int64"}, ""),
        (OPEN, "text"),
        ({"type": "array", "items": {"type": "number"}}, "list of numbers"),
        ({"type": "array", "items": WORDS}, "list of texts"),
        ({"type": "array", "items": {"enum": [1, "b"]}}, "list of 1 or b"),
        ({"type": "array", "items": {"type": "array", "items": OPEN}}, "list of lists of texts"),
        ({"type": "array"}, "list"),
        ({"type": "array", "items": True}, "list"),
        (STREET, "object of street name, zip"),
        ({"type": "object"}, "object"),
        ({"properties": {"a": WORDS}}, "object of a"),
        ({"anyOf": [{"type": "integer"}, OPEN, {"type": "null"}]}, "whole number or text"),
        ({"type": ["integer", "boolean"]}, "whole number or true or false"),
    ],
)
def test_a_type_is_told_where_a_value_is_not_plain_words(schema: dict[str, Any], note: str) -> None:
    assert told(schema) == note


@pytest.mark.parametrize(
    ("schema", "note"),
    [
        (WORDS | {"description": "The city\n to look in."}, "city to look in"),
        ({"type": "integer", "description": "days to see"}, "whole number: days to see"),
        (WORDS | {"description": "scale (optional)", "default": "K"}, "scale; default K"),
        (WORDS | {"description": "Scale. Default is kelvin", "default": "kelvin"},
         "Scale. Default is kelvin"),
        ({"type": "number", "default": 0.5}, "number; default 0.5"),
        (WORDS | {"default": "here"}, "default here"),
        (WORDS | {"default": ""}, ""),
        ({"type": "boolean", "default": False}, "true or false"),
        (WORDS | {"default": "x" * 60}, ""),
        (WORDS | {"description": None}, ""),
        # What stands nearest to the parameter is told.
        ({"anyOf": [{"type": "integer", "description": "inner"}, {"type": "null"}],
          "description": "outer", "default": None}, "whole number: outer"),
        ({"$ref": "#/$defs/Day"}, "date: one of the week"),
    ],
)  # fmt: skip
def test_what_is_told_of_a_parameter(schema: dict[str, Any], note: str) -> None:
    day = {"type": "string", "format": "date", "description": "one of the week"}
    assert told(schema, **{"$defs": {"Day": day}}) == note


@pytest.mark.parametrize(
    ("name", "description", "kept"),
    [
        ("city", "The name of the city.", False),
        ("cityName", "City to get the weather for", False),
        ("number_of_days", "the number of days", False),
        ("city", "The city in which it rains", True),
        # Of a parameter whose name tells nothing any word does.
        ("p1", "Weather", True),
    ],
)
def test_a_description_that_repeats_the_name_is_left_out(
    name: str, description: str, kept: bool
) -> None:
    assert bool(told({"type": "string", "description": description}, name)) == kept


def test_a_description_that_repeats_the_options_is_left_out() -> None:
    unit = {"type": "string", "enum": ["celsius", "kelvin"]}
    assert told(unit | {"description": "The unit, either celsius or kelvin."}, "unit") == ""
    assert told(unit | {"description": "Scale, either celsius or kelvin."}, "unit") != ""


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("One. Two. Three.", 16, "One. Two. Three."),
        ("One. Two. Three.", 12, "One. Two."),
        ("A place, e.g. a town. More.", 24, "A place, e.g. a town."),
        ("A place, e.g. a town in the hills", 20, "A place, e.g. a…"),
        ("unbroken" * 4, 10, "unbrokenu…"),
    ],
)
def test_a_text_is_cut_at_a_sentence_or_a_word(text: str, most: int, shown: str) -> None:
    assert cut(text, most) == shown
    assert len(shown) <= most


def test_a_tool_of_many_words_has_a_bounded_declaration() -> None:
    long = WORDS | {"description": "words that go on and on " * 40}
    (note,) = notes(tool("f", x=long)).values()
    assert LONGEST_NOTE - 10 < len(note) <= LONGEST_NOTE
    many = tool("f", **{f"p{number}": long for number in range(40)})
    assert ALL_NOTES / 2 < sum(map(len, notes(many).values())) <= ALL_NOTES
    # Beyond that a beginning would say nothing.
    crowd = tool("f", **{f"p{number}": long for number in range(100)})
    assert not any(notes(crowd).values())
    assert len(template(2).tool(crowd, "f")) == len(template().tool(crowd, "f"))


LIGHT = tool(
    "set_light",
    ["level"],
    level={"type": "integer", "description": "Brightness in percent."},
    room=WORDS | {"description": "The room"},
    mode={"type": "string", "enum": ["warm", "cold"], "description": "Color", "default": "warm"},
)


def test_the_second_version_reads_as_the_module_says() -> None:
    assert spelled(list(template(2).tool(LIGHT, "set light"))) == (
        "<TOOL> set light<TYPE> Does set_light."
        "<KEY> level<TYPE> whole number: Brightness in percent<KEY> room<OPTIONAL>"
        "<KEY> mode<OPTIONAL><TYPE> Color; default warm<OPTION> warm<OPTION> cold<END>"
    )


def test_the_first_version_is_blind_to_what_is_told() -> None:
    bare = tool(
        "set_light",
        ["level"],
        level={"type": "integer"},
        room=WORDS,
        mode={"type": "string", "enum": ["warm", "cold"]},
    )
    turns = (Turn("user", "light"),)
    assert Template(tokenizer()).prompt(turns, [LIGHT]) == template(1).prompt(turns, [bare])
    assert spelled(list(template(1).tool(LIGHT, "set light"))) == (
        "<TOOL> set light<TYPE> Does set_light.<KEY> level<KEY> room<OPTIONAL>"
        "<KEY> mode<OPTIONAL><OPTION> warm<OPTION> cold<END>"
    )
    # Plain words of which nothing is told look alike in both, as the agents' own tools do.
    assert template(1).prompt(turns, TOOLS) == template(2).prompt(turns, TOOLS)


def test_answers_are_the_same_in_both_versions_and_read_back() -> None:
    call = Call("set_light", {"level": 3, "room": "den", "mode": "cold"})
    ids = template(2).spell(Answer("ok", (call,)), [LIGHT])
    assert ids == template(1).spell(Answer("ok", (call,)), [LIGHT])
    assert template(2).answer(ids, [LIGHT]) == Answer("ok", (call,))


def test_a_declaration_too_long_to_be_kept_is_the_same() -> None:
    long = tool("f", x=WORDS | {"description": "The city. " + "word " * LONGEST_DECLARATION})
    assert spelled(list(template(2).tool(long, "f"))).endswith("<KEY> x<OPTIONAL><TYPE> city<END>")


def test_the_declarations_of_public_lists_grow_by_less_than_half() -> None:
    """They are what a prompt pays for; those of the shipped agents do not grow."""
    versions = [Template(Tokenizer.load(SHIPPED), version) for version in (1, 2)]
    lists = [json.loads(file.read_text(encoding="utf-8")) for file in LISTS.glob("*.json")]
    tools = tools_of(tool for tools in lists for tool in tools)
    assert len(tools) == 50
    before, after = (sum(len(v.tool(tool, tool.name)) for tool in tools) for v in versions)
    assert 1.3 * before < after < 1.5 * before


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match=r"declarations: got 3, expected one of \(1, 2\)"):
        Template(tokenizer(), 3)
