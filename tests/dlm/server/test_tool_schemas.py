from typing import Any

import pytest

from dlm.server.errors import ApiError
from dlm.server.tool_schemas import check_parameters

WORDS = {"type": "string"}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object", "properties": {"a": WORDS}, "required": ["a"]},
        {"properties": {"a": {"anyOf": [WORDS, {"type": "null"}]}, "b": {"enum": [None]}}},
        {"properties": {"a": {"type": ["string", "null"]}}, "$defs": {"B": {}}, "x-mine": 3},
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
        ({"required": ["a"]}, "p.required"),
        ({"properties": {"a": {}}, "required": [["a"]]}, "p.required"),
    ],
)
def test_what_is_not(parameters: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as raised:
        check_parameters(parameters, "p")
    assert raised.value.param == param
