from typing import Any

import pytest

from dlm.datagen.labelled import request


def asked(text: str, intent: str, **slots: Any) -> tuple[str, dict[str, str]] | None:
    found = request({"text": text, "intent": intent, "slots": slots})
    return None if found is None else (found[0], {p.slot: p.text for p in found[1] if p.slot})


@pytest.mark.parametrize(
    ("text", "intent", "slots", "tool", "arguments"),
    [
        ("set a six minute timer", "timer", {}, "set_timer", {"duration": "six minute"}),
        (
            "alarm five pm tuesday",
            "alarm_set",
            {"time": "five pm"},
            "set_alarm",
            {"when": "five pm tuesday"},
        ),
        (
            "Weather for Coaldale Arkansas",
            "GetWeather",
            {"city": "Coaldale", "state": "Arkansas"},
            "get_weather",
            {"place": "Coaldale Arkansas"},
        ),
        (
            "turn off the bedroom lamp",
            "iot_hue_lightoff",
            {"house_place": "bedroom", "device_type": "lamp"},
            "set_device",
            {"state": "off", "room": "bedroom", "device": "lamp"},
        ),
        (
            "remind me to call mom tomorrow at nine",
            "reminder_update",
            {},
            "set_reminder",
            {"text": "call mom", "when": "tomorrow at nine"},
        ),
        (
            "put butter on my shopping list",
            "shopping_list_update",
            {},
            "add_to_list",
            {"item": "butter", "list": "shopping"},
        ),
        (
            "what is ten divided by five",
            "qa_maths",
            {},
            "calculate",
            {"expression": "ten divided by five"},
        ),
        ("what time is it in lisbon", "time", {}, "get_time", {"place": "lisbon"}),
        ("what date is it", "date", {}, "get_date", {}),
    ],
)
def test_rows_become_requests(
    text: str, intent: str, slots: dict[str, Any], tool: str, arguments: dict[str, str]
) -> None:
    assert asked(text, intent, **slots) == (tool, arguments)


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("set an alarm every day at nine", "alarm", {}),
        ("cancel my six am alarm", "alarm", {}),
        ("will it rain near me", "GetWeather", {"spatial_relation": "near"}),
        ("add it to the list", "lists_createoradd", {}),
        ("play some music", "PlayMusic", {}),
        ("what will the time be in an hour", "time", {}),
        ("remind me of the meeting on one divided by twenty two", "calendar_set", {}),
    ],
)
def test_rows_that_say_more_than_a_tool_takes_are_refused(
    text: str, intent: str, slots: dict[str, Any]
) -> None:
    assert asked(text, intent, **slots) is None
