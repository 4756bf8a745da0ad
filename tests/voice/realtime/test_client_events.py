from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import Field

from tests.support.fakes import OPTIONS as BASE
from voice.errors import ProtocolError
from voice.realtime import client_events as client
from voice.realtime.client_events import ResponseRequest, read_response_request
from voice.realtime.items import ItemLog
from voice.realtime.session_object import initial_object, merged
from voice.realtime.wire import (
    MOST_VALUES,
    G711Format,
    PcmFormat,
    WireModel,
    audio_chunks,
    decode_audio,
    encode_audio,
    parse_json,
    read_json,
    validated,
)
from voice.types import ToolSpec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"a": NaN}',
        '{"a": [1, {"b": 1e999}]}',
        '{"a": "\\ud800"}',
        "[" * 100_000,
        '{"a": ' + "9" * 9999,
        pytest.param(f'{{"a": [{"0," * MOST_VALUES}0]}}', id="too many values"),
    ],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        parse_json(text)
    assert raised.value.code == "invalid_json"


@pytest.mark.parametrize(
    ("data", "code", "param"),
    [
        ({}, "missing_required_parameter", "type"),
        ({"type": 3}, "missing_required_parameter", "type"),
        ({"type": "response.dance"}, "unknown_event", "type"),
        ({"type": "session.update"}, "missing_required_parameter", "session"),
        ({"type": "input_audio_buffer.append", "audio": 3}, "invalid_value", "audio"),
        (
            {"type": "conversation.item.truncate", "item_id": "a", "audio_end_ms": 10**400},
            "invalid_value",
            "audio_end_ms",
        ),
        (
            {"type": "quicksilver.played", "item_id": "a", "audio_end_ms": 10**400},
            "invalid_value",
            "audio_end_ms",
        ),
    ],
)
def test_a_wrong_event_is_refused_by_name(data: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        client.parse_event(data)
    assert (raised.value.code, raised.value.param) == (code, param)


class Inner(WireModel):
    level: float = Field(ge=0)


class Outer(WireModel):
    inner: Inner
    names: list[str] = Field(default=[])


def test_what_is_right_is_read_and_unknown_fields_are_left_aside() -> None:
    read = validated(Outer, {"inner": {"level": 1, "newer": True}, "names": ["a"]})
    assert read == Outer(inner=Inner(level=1.0), names=["a"])
    with pytest.raises(ProtocolError) as raised:
        validated(Outer, {"inner": {"level": "x" * 10_000}})
    assert len(str(raised.value)) < 200


def test_numbers_are_read_when_they_can_be_written_again() -> None:
    largest = f'[{{"a": 1.5e308}}, {"9" * 400}]'
    assert read_json(largest) == [{"a": 1.5e308}, int("9" * 400)]
    for text in ('{"a": [1e999]}', f"[{'9' * 400}.5]"):
        with pytest.raises(ValueError, match="a number that is too large"):
            read_json(text)


PCM = PcmFormat(type="audio/pcm")
RAMP = np.arange(-8000, 8000, 37, dtype=np.int16)


@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/pcma"])
def test_pcm_is_exact_and_telephone_coding_is_close(kind: str) -> None:
    assert base64.b64decode(encode_audio(np.array([1, -2], np.int16), PCM)) == b"\x01\x00\xfe\xff"
    np.testing.assert_array_equal(decode_audio(encode_audio(RAMP, PCM), PCM), RAMP)
    form = G711Format.model_validate({"type": kind})
    assert len(base64.b64decode(encode_audio(RAMP, form))) == len(RAMP)
    assert np.abs(decode_audio(encode_audio(RAMP, form), form) - RAMP.astype(int)).max() <= 256


@pytest.mark.parametrize("audio", ["!", "AAA", "AAAA"])
def test_what_is_not_audio_is_refused(audio: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        decode_audio(audio, PCM)
    assert raised.value.param == "audio"


@pytest.mark.parametrize("first", [True, False])
def test_chunks_are_bounded_and_lose_nothing(first: bool) -> None:
    samples = np.arange(24_000, dtype=np.int16)
    pieces = list(audio_chunks(samples, 24_000, first))
    np.testing.assert_array_equal(np.concatenate(pieces), samples)
    assert len(pieces[0]) == (960 if first else 4800)
    assert max(len(piece) for piece in pieces) == 4800
    assert list(audio_chunks(samples[:0], 8000, first)) == []


WEATHER = {"type": "function", "name": "weather", "description": "Tell.", "parameters": {}}


def wanted(response: dict[str, Any]) -> ResponseRequest:
    return read_response_request(response, initial_object(BASE), BASE, ItemLog())


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
        "client_tools": (ToolSpec("weather", "Tell.", {}),),
        "agent_tools": (),
        "tool_choice": "required",
        "speak": False,
        "max_reply_tokens": 7,
        "parallel_calls": False,
        "effort": "high",
    }


@pytest.mark.parametrize("tools", [[], [WEATHER]])
def test_the_tools_of_a_response_are_all_that_it_may_call(tools: list[dict[str, Any]]) -> None:
    base = replace(BASE, calls={"get_time": ("^time$",)}, answers="get_time")
    session = merged(initial_object(base), {"quicksilver": {"agent_tools": ["get_time"]}})
    made = read_response_request({"tools": tools}, session, base, ItemLog())
    assert (made.overrides["agent_tools"], made.overrides["answers"]) == ((), "")
    assert made.overrides["calls"] == {}
    unnamed = read_response_request({"tools": None}, session, base, ItemLog())
    assert not unnamed.overrides
