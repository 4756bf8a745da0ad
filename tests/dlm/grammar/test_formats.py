import pytest

from dlm.grammar.formats import FormatError, JsonSchema, Lark, Regex


def test_formats_are_values() -> None:
    assert JsonSchema({"type": "string"}) == JsonSchema({"type": "string"})
    assert Regex("a") != Regex("b")
    assert Lark('start: "a"') == Lark('start: "a"')


def test_an_impossible_format_is_bad_input_of_the_caller() -> None:
    with pytest.raises(ValueError, match="uniqueItems"):
        raise FormatError("uniqueItems")
