from typing import Any

import pytest

from dlm.server.errors import ApiError
from dlm.server.tool_schemas import check_form, check_parameters

WORDS = {"type": "string"}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object", "properties": {"a": WORDS}, "required": ["a"]},
        {"properties": {"a": {"anyOf": [WORDS, {"type": "null"}]}, "b": {"enum": [None]}}},
        {"properties": {"a": {"type": ["string", "null"]}}, "$defs": {"B": {}}, "x-mine": 3},
        {"properties": {"a": {"$ref": "#/$defs/B"}}, "$defs": {"B": {"items": True}}},
        {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "https://example.com/s"}}},
        {"properties": {"a": {"anyOf": [WORDS]}, "b": {"$ref": "#/properties/a/anyOf/0"}}},
        {
            "properties": {
                "a": {"properties": {"b": WORDS}, "required": ["c"]},
                "d": {"items": [WORDS]},
            }
        },
    ],
)
def test_what_is_taken(parameters: dict[str, Any]) -> None:
    check_parameters(parameters, "p")


@pytest.mark.parametrize(
    ("parameters", "param"),
    [
        ({"type": "string"}, "p.type"),
        ({"allOf": []}, "p.allOf"),
        ({"properties": []}, "p.properties"),
        ({"properties": {"a": True}}, "p.properties.a"),
        ({"$defs": {"a": []}}, "p.$defs.a"),
        ({"properties": {"a": {"type": 3}}}, "p.properties.a.type"),
        ({"properties": {"a": {"type": [3]}}}, "p.properties.a.type"),
        ({"properties": {"a": {"enum": []}}}, "p.properties.a.enum"),
        ({"properties": {"a": {"enum": "x"}}}, "p.properties.a.enum"),
        ({"properties": {"a": {"anyOf": 3}}}, "p.properties.a.anyOf"),
        ({"properties": {"a": {"anyOf": [{}, 3]}}}, "p.properties.a.anyOf[1]"),
        ({"properties": {"a": {"anyOf": [{}, True]}}}, "p.properties.a.anyOf[1]"),
        ({"properties": {"a": {"anyOf": [{"anyOf": [True]}]}}}, "p.properties.a.anyOf[0].anyOf[0]"),
        ({"$defs": {"a": {"anyOf": [{"anyOf": [{}, 3]}]}}}, "p.$defs.a.anyOf[0].anyOf[1]"),
        ({"properties": {"a": {"type": "foo"}}}, "p.properties.a.type"),
        ({"properties": {"a": {"items": {"type": "foo"}}}}, "p.properties.a.items.type"),
        ({"properties": {"a": {"items": [WORDS, 3]}}}, "p.properties.a.items[1]"),
        ({"properties": {"a": {"items": 3}}}, "p.properties.a.items"),
        ({"properties": {"a": {"not": []}}}, "p.properties.a.not"),
        ({"properties": {"a": {"properties": []}}}, "p.properties.a.properties"),
        ({"properties": {"a": {"required": 5}}}, "p.properties.a.required"),
        ({"properties": {"a": {"oneOf": [{}, 3]}}}, "p.properties.a.oneOf[1]"),
        ({"properties": {"a": {"$ref": "#/nope"}}}, "p.properties.a.$ref"),
        ({"properties": {"a": {"$ref": 5}}}, "p.properties.a.$ref"),
        (
            {"properties": {"a": {"anyOf": [WORDS], "$ref": "#/properties/a/anyOf/1"}}},
            "p.properties.a.$ref",
        ),
        ({"required": ["a"]}, "p.required"),
        ({"properties": {"a": {}}, "required": [["a"]]}, "p.required"),
    ],
)
def test_what_is_not(parameters: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as raised:
        check_parameters(parameters, "p")
    assert raised.value.param == param


def test_schemas_are_inside_each_other_within_reason() -> None:
    schema: dict[str, Any] = WORDS
    for _ in range(500):
        schema = {"type": "array", "items": schema}
    with pytest.raises(ApiError, match="inside each other"):
        check_parameters({"properties": {"a": schema}}, "p")


def test_what_another_model_may_take_is_well_formed() -> None:
    check_form({"properties": {}, "minProperties": 1}, "p")
    with pytest.raises(ApiError, match="not supported"):
        check_parameters({"properties": {}, "minProperties": 1}, "p")


def chained(length: int) -> dict[str, Any]:
    chain = {f"D{i}": {"$ref": f"#/$defs/D{i + 1}"} for i in range(length)}
    properties = {"a": {"$ref": "#/$defs/D0"}}
    return {"properties": properties, "$defs": {**chain, f"D{length}": WORDS}}


def test_references_lead_on_within_reason() -> None:
    check_parameters(chained(300), "p")
    with pytest.raises(ApiError, match="at most 1000") as raised:
        check_parameters(chained(1200), "p")
    assert raised.value.param == "p"
