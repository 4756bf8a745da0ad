from __future__ import annotations

from typing import Any

import pytest

from dlm.language.references import levels, pointed, reached, references

WORDS = {"type": "string"}


def test_references_are_found_wherever_they_stand() -> None:
    schema = {"$ref": "#/a", "items": [{"anyOf": [{"$ref": "#/b"}]}], "properties": {"$ref": WORDS}}
    assert list(references(schema)) == ["#/a", "#/b"]


def test_definitions_are_reached_by_way_of_others() -> None:
    definitions = {
        "a/b": {"items": {"$ref": "#/$defs/C/properties/d"}},
        "C": {"properties": {"d": {"$ref": "#/$defs/a~1b"}}},
        "E": {"$ref": "#/$defs/C"},
    }
    found = reached({"anyOf": [{"$ref": "#/$defs/a~1b"}]}, definitions)
    assert found == {"a/b": definitions["a/b"], "C": definitions["C"]}
    assert reached(WORDS, definitions) == reached({"$ref": "#/$defs/Z"}, definitions) == {}


def test_a_pointer_leads_through_objects_and_lists() -> None:
    root = {"a b": [{"c": WORDS}]}
    assert pointed("#/a%20b/0/c", root) is WORDS
    assert pointed("#", root) is root
    for nowhere in ("#/a", "#/a%20b/1", "#/a%20b/x", "#anchor", "https://example.com/s", ""):
        with pytest.raises(LookupError):
            pointed(nowhere, root)


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
    assert levels(schema) == expected


def test_levels_grow_with_a_chain_of_references() -> None:
    chain = {f"D{i}": {"items": {"$ref": f"#/$defs/D{i + 1}"}} for i in range(100)}
    assert levels({"$ref": "#/$defs/D0", "$defs": {**chain, "D100": WORDS}}) >= 200
