from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.language.references import count_levels, reachable, resolve
from dlm.language.schema import AS_SAID, admits_null, is_words, options, plain, read_value, written

COLOUR = {"type": "string", "enum": ["red", "blue"]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_a_written_value_is_read_back(value: Any) -> None:
    assert read_value(written(value), {"anyOf": [{}, {}]}) == value


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", "integer", 3),
        ("3.5", "number", 3.5),
        ("true", "boolean", True),
        ('{"a": "b"}', "object", {"a": "b"}),
        ("null", "null", None),
        ("3", "string", "3"),
    ],
)
def test_values_are_read_by_type(text: str, kind: str, value: Any) -> None:
    assert read_value(text, {"type": kind}) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("three", "integer"), ("3.5", "integer"), ("true", "integer"), ("NaN", "number"),
        ("{}", "array"), ("[1", "array"),
    ],
)  # fmt: skip
def test_values_of_another_type_are_refused(text: str, kind: str) -> None:
    with pytest.raises(ValueError, match=f"expected {kind}"):
        read_value(text, {"type": kind})


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("red", COLOUR, "red"),
        ("2", {"enum": [1, 2]}, 2),
        ("true", {"enum": [1, True]}, True),
        ("null", {"enum": ["a", None]}, None),
        ("padded", {"enum": [" padded "]}, " padded "),
        ("only", {"const": "only"}, "only"),
    ],
)
def test_an_option_is_read_by_how_it_is_written(
    text: str, schema: dict[str, Any], value: Any
) -> None:
    read = read_value(text, schema)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, True),
        ({"type": "string"}, True),
        ({"type": "integer"}, False),
        ({"type": ["string", "integer"]}, False),
        ({"type": "string", "description": "A town.", "x-as-said": True}, True),
        ({"type": "string", "maxLength": 3}, False),
        ({"properties": {}}, False),
        ({"type": "string", "example": "Paris", "nullable": True}, True),
        ({"type": "string", "minimum": 3}, True),
        ({"minimum": 3}, False),
        ({"type": "string", "allOf": [{"maxLength": 3}]}, False),
    ],
)
def test_words_are_told_from_json(schema: dict[str, Any], expected: bool) -> None:
    assert is_words(schema) is expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"type": ["null", "string"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"$ref": "#/$defs/Text"},
        {"anyOf": [{"$ref": "#/$defs/Text"}, {"type": "null"}]},
    ],
)
def test_text_or_null_is_text(schema: dict[str, Any]) -> None:
    assert plain(schema, {"Text": {"type": "string"}}) == {"type": "string"}


def test_what_may_refer_to_definitions_keeps_them() -> None:
    definitions = {"Colour": COLOUR, "Other": {"type": "integer"}}
    assert plain({"$ref": "#/$defs/Colour"}, definitions) == COLOUR
    many = {"type": "array", "items": {"$ref": "#/$defs/Colour"}}
    assert plain(many, definitions) == {**many, "$defs": {"Colour": COLOUR}}
    assert plain(many, {}) == many
    assert plain({**many, "type": ["array", "null"]}, definitions) == plain(many, definitions)
    assert plain({"type": "integer"}, definitions) == {"type": "integer"}


@pytest.mark.parametrize(
    "said", [{"$ref": "#/$defs/Colour"}, {"anyOf": [COLOUR, {"type": "null"}]}]
)
def test_what_is_said_beside_a_reference_or_null_holds(said: dict[str, Any]) -> None:
    for more in ({"minLength": 4}, {"enum": ["red"]}):
        assert plain({**said, **more}, {"Colour": COLOUR}).items() >= {**said, **more}.items()


def test_references_may_follow_one_another_for_long() -> None:
    chain = {f"D{i}": {"$ref": f"#/$defs/D{i + 1}"} for i in range(5000)}
    assert plain({"$ref": "#/$defs/D0"}, {**chain, "D5000": COLOUR}) == COLOUR


def test_a_choice_that_is_no_object_is_left_to_the_grammar() -> None:
    inside = {"anyOf": [{"anyOf": [True]}]}
    assert plain(inside, {}) == {"anyOf": [True]}
    assert not admits_null(inside)
    assert plain({"$ref": "#/$defs/Any"}, {"Any": True})["$ref"] == "#/$defs/Any"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, True),
        ({"type": "string"}, False),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, False),
        ({}, False),
    ],
)
def test_what_may_be_null(schema: dict[str, Any], expected: bool) -> None:
    assert admits_null(schema) is expected


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        ({"type": "string", "enum": [1, "a", True, None]}, ["a"]),
        ({"type": ["integer", "null"], "enum": [1, None, True, 2.0, 2.5, "a"]}, [1, None, 2.0]),
        ({"anyOf": [{"type": "integer", "enum": [1, 5], "minimum": 3}]}, [5]),
        ({"enum": [1, 5, "a"], "exclusiveMaximum": 5}, [1, "a"]),
        ({"enum": ["a", "ab", 3], "minLength": 2}, ["ab", 3]),
        ({"$ref": "#/$defs/E", "enum": ["a", "z", True]}, ["a"]),
        ({"$ref": "#/$defs/E", "enum": ["z"]}, ["z"]),
        ({"type": "integer", "enum": ["a"]}, ["a"]),
    ],
)
def test_values_that_keywords_beside_them_exclude_are_left_out(
    schema: dict[str, Any], left: list[Any]
) -> None:
    assert options(plain(schema, {"E": {"enum": ["a", "b", 1]}})) == left


def test_a_mark_outside_holds_inside() -> None:
    definitions = {"Text": {"type": "string"}}
    said = {"type": "string", AS_SAID: True}
    assert plain({"$ref": "#/$defs/Text", AS_SAID: True}, definitions) == said
    nullable = {"anyOf": [{"$ref": "#/$defs/Text"}, {"type": "null"}], AS_SAID: True}
    assert plain(nullable, definitions) == said


def test_definitions_are_not_followed_in_circles() -> None:
    definitions = {"A": {"$ref": "#/$defs/B"}, "B": {"anyOf": [{"$ref": "#/$defs/A"}]}}
    assert "$ref" in plain({"$ref": "#/$defs/A"}, definitions)


def test_what_may_only_be_null_is_null() -> None:
    assert plain({"type": ["null", "null"]}, {}) == {"type": "null"}


WORDS = {"type": "string"}


def test_definitions_are_reached_by_way_of_others() -> None:
    definitions = {
        "a/b": {"items": {"$ref": "#/$defs/C/properties/d"}},
        "C": {"properties": {"d": {"$ref": "#/$defs/a~1b"}}},
        "E": {"$ref": "#/$defs/C"},
    }
    found = reachable({"anyOf": [{"$ref": "#/$defs/a~1b"}]}, definitions)
    assert found == {"a/b": definitions["a/b"], "C": definitions["C"]}
    assert reachable(WORDS, definitions) == reachable({"$ref": "#/$defs/Z"}, definitions) == {}


def test_a_pointer_leads_through_objects_and_lists() -> None:
    root = {"a b": [{"c": WORDS}]}
    assert resolve("#/a%20b/0/c", root) is WORDS
    assert resolve("#", root) is root
    for nowhere in ("#/a", "#/a%20b/1", "#/a%20b/x", "#anchor", "https://example.com/s", ""):
        with pytest.raises(LookupError):
            resolve(nowhere, root)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (WORDS, 1),
        ({"items": {"items": WORDS}}, 3),
        ({"anyOf": [WORDS, {"items": WORDS}]}, 4),
        # What nobody refers to is as deep as it is.
        ({"$defs": {"A": {"items": WORDS}}}, 4),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"items": WORDS}}}, 4 + 2),
        ({"$ref": "#", "items": WORDS}, 2),
        ({"items": {"$ref": "#b"}, "$defs": {"B": {"$anchor": "b", "items": WORDS}}}, 4 + 2),
    ],
)
def test_levels_of_all_that_is_referred_to_are_added_up(
    schema: dict[str, Any], expected: int
) -> None:
    assert count_levels(schema) == expected


def test_a_string_that_is_restricted_stands_as_json() -> None:
    day = {"type": "string", "format": "date"}
    assert written("2024-03-12", day) == '"2024-03-12"'
    assert read_value(written("2024-03-12", day), day) == "2024-03-12"
    assert written("Anna", {"type": "string"}) == written("Anna") == "Anna"
    assert written("a", {"type": "string", "enum": ["a"], "minLength": 1}) == "a"
