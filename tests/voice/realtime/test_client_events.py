import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.errors import ProtocolError
from voice.realtime import client_events as client
from voice.realtime.wire import parse_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"type": "session.update", "session": {}}, client.SessionUpdate(session={})),
        ({"type": "input_audio_buffer.append", "audio": "AA=="}, client.AudioAppend(audio="AA==")),
        ({"type": "input_audio_buffer.commit"}, client.AudioCommit()),
        ({"type": "input_audio_buffer.clear"}, client.AudioClear()),
        (
            {"type": "conversation.item.create", "item": {}, "previous_item_id": "root"},
            client.ItemCreate(item={}, previous_item_id="root"),
        ),
        ({"type": "conversation.item.retrieve", "item_id": "a"}, client.ItemRetrieve(item_id="a")),
        (
            {
                "type": "conversation.item.truncate",
                "item_id": "a",
                "content_index": 0,
                "audio_end_ms": 7,
            },
            client.ItemTruncate(item_id="a", content_index=0, audio_end_ms=7),
        ),
        ({"type": "conversation.item.delete", "item_id": "a"}, client.ItemDelete(item_id="a")),
        ({"type": "response.create"}, client.ResponseCreate()),
        (
            {"type": "response.cancel", "response_id": "r", "event_id": "e"},
            client.ResponseCancel(response_id="r"),
        ),
        (
            {"type": "quicksilver.played", "item_id": "a", "audio_end_ms": 1.5},
            client.Played(item_id="a", audio_end_ms=1.5),
        ),
    ],
)
def test_events_are_read(data: dict[str, Any], expected: client.ClientEvent) -> None:
    assert client.parse_event(parse_json(json.dumps(data))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"a": NaN}',
        '{"a": [1, {"b": 1e999}]}',
        '{"a": -1e999}',
        '{"a": "\\ud800"}',
        "[" * 100_000,
        '{"a": ' + "9" * 9999,
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
        ({"type": "output_audio_buffer.clear"}, "unsupported_event", "type"),
        ({"type": "session.update"}, "missing_required_parameter", "session"),
        ({"type": "session.update", "session": []}, "invalid_value", "session"),
        ({"type": "input_audio_buffer.append", "audio": 3}, "invalid_value", "audio"),
        (
            {"type": "conversation.item.truncate", "item_id": "a", "audio_end_ms": -1},
            "invalid_value",
            "audio_end_ms",
        ),
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


@pytest.mark.parametrize(
    ("data", "expected"), [({"event_id": "e1"}, "e1"), ({}, None), ({"event_id": 4}, None)]
)
def test_event_ids(data: dict[str, Any], expected: str | None) -> None:
    assert client.event_id_of(data) == expected


@given(st.sampled_from(sorted(client._MODELS)), st.dictionaries(st.text(), JSON))
def test_no_event_raises_anything_else(kind: str, fields: dict[str, Any]) -> None:
    try:
        client.parse_event({**fields, "type": kind})
    except ProtocolError as error:
        assert error.code
