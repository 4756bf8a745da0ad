from typing import Any

import pytest

from voice.errors import ProtocolError
from voice.realtime import items
from voice.realtime.items import ItemLog, message_of, parse_item, wire_item
from voice.types import Message, Role, ToolCall

TYPED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
RECORDED = {"type": "input_audio", "audio": "AAAA"}
CALL = {
    "type": "function_call",
    "call_id": "c1",
    "name": "weather",
    "arguments": '{"place":"Rome"}',
}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "Rain."}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (TYPED, Message(Role.USER, "Hello.")),
        (
            {
                "type": "message",
                "role": "system",
                "content": [
                    {"type": "input_text", "text": "Be"},
                    {"type": "input_text", "text": "brief."},
                ],
            },
            Message(Role.SYSTEM, "Be brief."),
        ),
        (
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_audio", "transcript": "Hi.", "audio": "AAAA"}],
            },
            Message(Role.AGENT, "Hi."),
        ),
        (CALL, Message(Role.AGENT, tool_calls=(ToolCall("c1", "weather", {"place": "Rome"}),))),
        (OUTPUT, Message(Role.TOOL, "Rain.", call_id="c1", name="weather")),
    ],
)
def test_what_items_mean(data: dict[str, Any], expected: Message) -> None:
    assert message_of(parse_item(data), {"c1": "weather"}) == expected


@pytest.mark.parametrize(
    ("data", "code", "param"),
    [
        ({}, "missing_required_parameter", "item"),
        ({"type": "picture"}, "invalid_value", "item"),
        ({**TYPED, "role": "tool"}, "invalid_value", "item.role"),
        ({**TYPED, "content": []}, "invalid_value", "item.content"),
        (
            {**TYPED, "content": [{"type": "input_image", "image_url": "x"}]},
            "invalid_value",
            "item.content.0.type",
        ),
        (
            {**TYPED, "content": [{"type": "input_audio"}]},
            "missing_required_parameter",
            "item.content.transcript",
        ),
        (
            {**TYPED, "role": "system", "content": [{"type": "input_audio", "audio": "AAAA"}]},
            "invalid_value",
            "item",
        ),
        ({**TYPED, "content": [RECORDED, RECORDED]}, "invalid_value", "item"),
        ({**OUTPUT, "call_id": "c9"}, "invalid_tool_call_id", "item.call_id"),
        ({**CALL, "arguments": "[]"}, "invalid_value", "item.arguments"),
        ({**CALL, "arguments": '{"place": 1e999}'}, "invalid_value", "item.arguments"),
        ({**TYPED, "id": ""}, "invalid_value", "item.id"),
    ],
)
def test_a_wrong_item_is_refused_by_name(data: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        message_of(parse_item(data), {"c1": "weather"})
    assert (raised.value.code, raised.value.param) == (code, param)


def test_the_users_audio_is_to_be_recognised() -> None:
    typed = {"type": "input_text", "text": "Translate:"}
    item = parse_item({**TYPED, "content": [typed, RECORDED]})
    assert isinstance(item, items.MessageItem)
    assert item.audio == "AAAA"
    assert message_of(item, {}) == Message(Role.USER, "Translate:")
    log = ItemLog()
    log.put(wire_item(item, "i1"))
    assert log.require("i1")["content"][1] == {"type": "input_audio", "transcript": None}
    assert log.transcribed("i1", "Good day.") == 1
    assert log.require("i1")["content"][1]["transcript"] == "Good day."
    assert log.require("i1")["content"][0]["text"] == "Translate:"
    assert log.transcribed("nobody", "Good day.") == 0


def test_items_are_echoed_without_audio() -> None:
    said = {"type": "input_audio", "transcript": "Hi.", "audio": "AAAA"}
    heard = parse_item({**TYPED, "content": [said]})
    assert wire_item(heard, "i1") == {
        "id": "i1",
        "object": "realtime.item",
        "type": "message",
        "status": "completed",
        "role": "user",
        "content": [{"type": "input_audio", "transcript": "Hi."}],
    }
    assert wire_item(parse_item(OUTPUT), "i2") == {
        "id": "i2",
        "object": "realtime.item",
        "type": "function_call_output",
        "status": "completed",
        "call_id": "c1",
        "output": "Rain.",
    }
    assert wire_item(parse_item(CALL), "i3")["arguments"] == '{"place":"Rome"}'


def item(item_id: str) -> items.Item:
    return wire_item(parse_item(TYPED), item_id)


def test_the_log_keeps_the_order() -> None:
    log = ItemLog()
    assert log.put(item("a")) is None
    assert log.put(item("c")) == "a"
    assert log.put(item("b"), "a") == "a"
    assert log.put(item("first"), "root") is None
    assert log.put(item("a")) == "first"
    log.remove("c")
    assert "c" not in log
    assert log.put(item("d")) == "b"
    with pytest.raises(ProtocolError) as raised:
        log.require("c")
    assert raised.value.code == "item_not_found"


def test_the_log_is_bounded() -> None:
    log = ItemLog()
    for number in range(items.MAX_ITEMS):
        log.put(item(str(number)))
    assert log.excess is None
    log.put(item("one more"))
    assert log.excess == "0"
    log.remove("0")
    assert log.excess is None
    assert log.put(item("front"), "root") is None
    assert log.excess == "front"


def test_what_is_transcribed_counts() -> None:
    log = ItemLog()
    for item_id in ("i1", "i2"):
        log.put(items.spoken_user_item(item_id))
        log.transcribed(item_id, "x" * (items.MAX_CHARS // 2))
    assert log.excess == "i1"
    log.remove("i1")
    assert log.excess is None
