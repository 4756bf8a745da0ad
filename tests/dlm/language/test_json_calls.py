from __future__ import annotations

import pytest

from dlm.language.chat_template import read_call
from dlm.language.messages import AnswerError, Call
from tests.dlm.tiny import LIGHT, TIMER, WEATHER, tool

NOTE = tool("note", ["text"], text={"anyOf": [{"type": "string"}, {"type": "null"}]})
TOOLS = {made.name: made for made in (TIMER, WEATHER, LIGHT, NOTE)}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            '\n{"name": "set_timer", "arguments": {"duration": "ten minutes"}}\n',
            Call("set_timer", {"duration": "ten minutes"}),
        ),
        (
            '{"arguments": {"level": 3, "on": false}, "name": "set_light"}',
            Call("set_light", {"level": 3, "on": False}),
        ),
        (
            '{"name": "get_weather", "arguments": "{\\"day\\": \\"today\\"}"}',
            Call("get_weather", {"day": "today"}),
        ),
        ('{"name": "get_weather", "arguments": {}}', Call("get_weather", {})),
        ('{"name": "note", "arguments": {"text": null}}', Call("note", {"text": None})),
        ('{"name": "note", "arguments": {}}', Call("note", {"text": None})),
    ],
)
def test_calls_are_read(body: str, expected: Call) -> None:
    assert read_call(body, TOOLS) == expected


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("not json", "call: "),
        ("[1]", "call: got list, expected an object"),
        ('{"name": "set_timer"}', r"call: got \['name'\], expected name and arguments"),
        ('{"name": "fly", "arguments": {}}', "tool: got 'fly', expected one of"),
        ('{"name": ["x"], "arguments": {}}', r"tool: got \['x'\]"),
        ('{"name": "set_timer", "arguments": 3}', "set_timer: got arguments 3"),
        ('{"name": "set_timer", "arguments": "no"}', "set_timer: "),
        ('{"name": "set_timer", "arguments": {}}', r"set_timer: missing \['duration'\]"),
        (
            '{"name": "set_timer", "arguments": {"duration": 10}}',
            r"set_timer\.duration: got 10, expected a string",
        ),
        (
            '{"name": "set_timer", "arguments": {"duration": "a", "duration": "b"}}',
            "call: got a key twice",
        ),
        (
            '{"name": "get_weather", "arguments": {"day": "never"}}',
            r"get_weather\.day: got 'never', expected one of",
        ),
        (
            '{"name": "get_weather", "arguments": {"planet": "Mars"}}',
            "get_weather: got unknown parameter 'planet'",
        ),
        (
            '{"name": "set_light", "arguments": {"level": true}}',
            r"set_light\.level: got 'true', expected integer",
        ),
    ],
)
def test_what_is_wrong_is_told(body: str, told: str) -> None:
    with pytest.raises(AnswerError, match=told):
        read_call(body, TOOLS)
