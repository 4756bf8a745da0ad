from typing import Any

import pytest

from tests.support.fakes import OPTIONS as BASE
from voice.errors import ProtocolError
from voice.realtime.client_events import ResponseRequest, read_response_request
from voice.realtime.items import ItemLog
from voice.realtime.session_object import initial_object

WEATHER = {"type": "function", "name": "weather", "description": "Tell.", "parameters": {}}


def wanted(response: dict[str, Any]) -> ResponseRequest:
    return read_response_request(response, initial_object(BASE), BASE, ItemLog())


def test_nothing_asked_for_is_the_session_as_it_is() -> None:
    plain = wanted({})
    assert dict(plain.overrides) == {}
    assert (plain.context, plain.out_of_band, plain.metadata) == (None, False, None)
    assert plain.session == initial_object(BASE)


def test_what_is_asked_for_overrides_the_session() -> None:
    made = wanted(
        {
            "instructions": "Sing.",
            "tools": [WEATHER],
            "tool_choice": "required",
            "output_modalities": ["text"],
            "max_output_tokens": 7,
            "parallel_tool_calls": False,
            "reasoning": {"effort": "high"},
        }
    )
    assert dict(made.overrides) == {
        "instructions": "Sing.",
        "client_tools": (made.session.tools[0].spec(),),
        "agent_tools": (),
        "tool_choice": "required",
        "speak": False,
        "max_reply_tokens": 7,
        "parallel_calls": False,
        "effort": "high",
    }


def test_an_empty_context_is_one() -> None:
    assert wanted({"input": []}).context == ()


def test_errors_name_the_field_of_the_response() -> None:
    with pytest.raises(ProtocolError) as raised:
        wanted({"tools": [WEATHER, WEATHER]})
    assert raised.value.param == "response.tools"
    assert str(raised.value).startswith("response.tools")
