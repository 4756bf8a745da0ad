"""Schemas as the grammar takes them, and values as they are said."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from dlm.grammar.said import MOST_SPANS, SPAN_PIECES, Said, with_said
from dlm.grammar.schemas import bounded, closed
from dlm.language import references
from dlm.language.references import MOST_MOVED, count_levels, with_definitions
from dlm.language.schema import is_words


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, {"maxLength": 4096}),
        ({"type": "string", "format": "phone"}, {"maxLength": 4096}),
        ({"type": "string", "maxLength": 5}, {"maxLength": 5}),
        ({"type": "string", "minLength": 4000}, {}),
        ({"type": "integer"}, {"minimum": -(10**15) + 1, "maximum": 10**15 - 1}),
        ({"type": "number", "minimum": 1}, {"maximum": 10**15 - 1, "multipleOf": 1e-6}),
        ({"type": "number", "multipleOf": 0.5}, {"multipleOf": 0.5}),
        ({"type": ["number", "integer"], "multipleOf": 5.0}, {"type": ["integer"]}),
        ({"type": "integer", "exclusiveMaximum": 2**64}, {"maximum": 10**15 - 1}),
        ({"type": ["array", "null"]}, {"maxItems": 256}),
        ({"minimum": -(10**20), "exclusiveMaximum": 1e20}, {"exclusiveMaximum": None}),
        ({"type": "string", "format": "uuid", "pattern": "^(?!0)"}, {"pattern": None}),
    ],
)
def test_what_is_open_gets_a_bound(schema: dict[str, Any], told: dict[str, Any]) -> None:
    made = bounded(schema)
    assert {name: made.get(name) for name in told} == told
    assert "maxLength" not in made or "maxLength" in told
    assert made.get("format") in (None, "uuid")
    assert made.get("minimum") != -(10**20)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "date"},
        {"type": "string", "pattern": "^a+$"},
        {"enum": [1, "a"], "type": "string"},
        {"type": "integer", "minimum": 10**16},
        {"type": "integer", "exclusiveMinimum": True, "minimum": 10**16},
        {"type": "object", "propertyNames": {"pattern": "^a"}},
    ],
)
def test_what_has_bounds_of_its_own_is_left_alone(schema: dict[str, Any]) -> None:
    assert bounded(schema) == schema


def test_names_may_be_said_to_be_strings() -> None:
    schema = {"type": "object", "propertyNames": {"type": "string"}}
    assert bounded(schema) == {"type": "object"}
    assert closed(bounded(schema))["maxProperties"] == 64


@pytest.mark.parametrize(
    "names",
    [
        {"enum": ["a", "b"]},
        {"type": "string", "enum": ["a", "b", 1]},
        {"$ref": "#/$defs/Names"},
        {"anyOf": [{"type": "string", "const": "a"}, {"enum": ["b"]}, {"not": {}}]},
    ],
)
def test_names_that_are_listed_are_properties(names: dict[str, Any]) -> None:
    some: dict[str, Any] = {"propertyNames": names, "required": ["a"], "additionalProperties": {}}
    schema = {"items": some, "$defs": {"Names": {"enum": ["a", "b"], "title": "Names"}}}
    properties = {"a": {}, "b": {}}
    told = {"properties": properties, "required": ["a"], "additionalProperties": False}
    assert bounded(schema)["items"] == told
    own = {**some, "properties": {"b": {"type": "null"}}, "additionalProperties": False}
    made = bounded({**schema, "items": own})["items"]
    assert made == {**told, "properties": {"b": {"type": "null"}}}


def test_items_may_be_said_not_to_be_unique() -> None:
    assert bounded({"type": "array", "uniqueItems": False}) == {"type": "array", "maxItems": 256}


def test_references_lead_to_definitions() -> None:
    schema = {
        "properties": {
            "a": {"$ref": "#/definitions/A"},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#/gone"},
        },
        "definitions": {"A": {"type": "string"}},
    }
    made = with_definitions(schema)
    assert made["$defs"][made["properties"]["a"]["$ref"].removeprefix("#/$defs/")] == {
        "type": "string"
    }
    assert made["properties"]["c"] == {"$ref": "#/gone"}
    assert with_definitions({"$defs": {"A": {}}, "$ref": "#/$defs/A"})["$defs"] == {"A": {}}
    made = with_definitions({**schema, "$defs": {"moved0": {}, "moved2": {}}})
    assert made["$defs"].keys() == {"moved0", "moved1", "moved2", "moved3"}
    assert made["$defs"]["moved0"] == made["$defs"]["moved2"] == {}


def test_what_is_said() -> None:
    said = Said.of(["Anna is 34.5,", "or 7"])
    assert {"Anna", "34.5", "Anna is 34.5", "or 7"} <= set(said.spans)
    assert said.numbers == (34.5, 7)
    assert Said.of(["two of 7"]).numbers == (2, 7)
    assert Said.of(["half of 7"]).numbers == ()
    assert len(Said.of(["word " * 5000]).spans) == 1
    assert len(Said.of([" ".join(map(str, range(5000)))]).spans) <= MOST_SPANS
    assert Said.of([""]).spans == ()
    assert SPAN_PIECES < MOST_SPANS


def test_strings_and_numbers_of_a_schema_are_said_ones() -> None:
    schema = {
        "type": "object",
        "properties": {
            "free": {"type": "string"},
            "short": {"type": ["string", "null"], "maxLength": 3},
            "never": {"type": "string", "pattern": "x"},
            "count": {"type": "integer"},
            "rows": {"type": "array", "items": {"type": "boolean"}},
        },
    }

    def accepts(node: Any) -> Any:
        if "pattern" in node:
            return lambda value: False
        return lambda value: isinstance(value, int) or len(value) <= node["maxLength"]

    made = with_said(schema, Said.of(["Anna is 34"]), accepts)["properties"]
    assert made["free"] == {"type": "string", "oneOf": [{"$ref": "#/$defs/x-said"}]}
    short = {"type": "string", "oneOf": [{"enum": ["is", "34"]}]}
    assert made["short"] == {"anyOf": [short, {"type": "null"}]}
    assert made["never"] == schema["properties"]["never"]  # type: ignore[index]
    assert made["count"] == {"type": "integer", "oneOf": [{"enum": [34]}]}
    assert made["rows"]["maxItems"] == 3
    assert with_said(schema, Said.of([]), accepts) == schema


def test_remarks_may_be_anything() -> None:
    remark = {"type": "array", "format": ["a"], "minItems": "two"}
    other = {"type": "object", "minProperties": {}}
    schema = {"type": "object", "properties": {}, "x-shown": [remark, other]}
    made = with_said(bounded(schema), Said.of(["one two"]), lambda node: lambda value: True)
    assert [one["type"] for one in made["x-shown"]] == ["array", "object"]
    assert is_words({"type": "string", "format": ["a"]})


def test_a_part_that_is_led_to_in_many_ways_is_not_copied_for_each() -> None:
    letters = [(letter, f"%{ord(letter):x}") for letter in "properties"]
    ways = [f"#/{''.join(one)}/big" for one in itertools.product(*letters)]
    big = {"enum": list(range(1000))}
    led_to = {f"p{number}": {"$ref": way} for number, way in enumerate(ways)}
    schema = {"type": "object", "properties": {"big": big, **led_to}}
    made = with_definitions(schema)
    assert made["properties"]["p0"]["$ref"].startswith("#/$defs/")
    assert len(json.dumps(made)) < len(json.dumps(schema)) + MOST_MOVED


def test_references_that_lead_nowhere_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    monkeypatch.setattr(references, "_anchored", lambda schema: looked.append(schema) or ())
    count_levels({"properties": {f"p{number}": {"$ref": "x"} for number in range(100)}})
    assert len(looked) == 1
