import re

import pytest
from pydantic import Field

from voice.errors import ProtocolError
from voice.realtime.wire import WireModel, new_id, read_json, validated


class Inner(WireModel):
    level: float = Field(ge=0)


class Outer(WireModel):
    inner: Inner
    names: list[str] = Field(default=[])


def test_ids_begin_as_asked_and_differ() -> None:
    assert re.fullmatch(r"item_[0-9a-f]{16}", new_id("item"))
    assert new_id("item") != new_id("item")


def test_what_is_right_is_read_and_unknown_fields_are_left_aside() -> None:
    read = validated(Outer, {"inner": {"level": 1, "newer": True}, "names": ["a"]})
    assert read == Outer(inner=Inner(level=1.0), names=["a"])


def test_numbers_are_read_when_they_can_be_written_again() -> None:
    largest = f'[{{"a": 1.5e308}}, {"9" * 400}]'
    assert read_json(largest) == [{"a": 1.5e308}, int("9" * 400)]
    for text in ('{"a": [1e999]}', f"[{'9' * 400}.5]"):
        with pytest.raises(ValueError, match="a number that is too large"):
            read_json(text)


@pytest.mark.parametrize(
    ("data", "code", "param"),
    [
        ({}, "missing_required_parameter", "here.inner"),
        ({"inner": {"level": "loud"}}, "invalid_value", "here.inner.level"),
        ({"inner": {"level": True}}, "invalid_value", "here.inner.level"),
        ({"inner": {"level": -1}}, "invalid_value", "here.inner.level"),
        ({"inner": {"level": 1}, "names": ["a", 2]}, "invalid_value", "here.names.1"),
        ([], "invalid_value", "here"),
    ],
)
def test_what_is_wrong_is_named(data: object, code: str, param: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        validated(Outer, data, "here")
    assert (raised.value.code, raised.value.param) == (code, param)
    assert str(raised.value).startswith(f"{param}:")


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(ProtocolError) as raised:
        validated(Outer, {"inner": {"level": "x" * 10_000}})
    assert len(str(raised.value)) < 200
