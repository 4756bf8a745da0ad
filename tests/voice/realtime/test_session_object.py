from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from tests.support.fakes import OPTIONS as BASE
from voice.errors import ProtocolError
from voice.inputs import SessionOptions
from voice.realtime.protocol import LocalNames, granted
from voice.realtime.session_object import (
    SessionObject,
    echo,
    initial_object,
    merged,
    option_changes,
)
from voice.types import ToolSpec

BIG = 10**400
TOOL = {"type": "function", "name": "one", "parameters": {"properties": {"x": {"type": "string"}}}}
SECOND = "session.tools.1.parameters"
VAD = {"create_response": True, "interrupt_response": True}


def turn_detection(session: SessionObject) -> Any:
    return session.model_dump()["audio"]["input"]["turn_detection"]


def change_detection(session: SessionObject, value: Any) -> SessionObject:
    return merged(session, {"audio": {"input": {"turn_detection": value}}})


def test_the_echo_is_the_whole_session() -> None:
    assert echo(SessionObject(instructions="Hi."), "sess_1", "quicksilver", "espeak") == {
        "type": "realtime",
        "object": "realtime.session",
        "id": "sess_1",
        "model": "quicksilver",
        "output_modalities": ["audio"],
        "instructions": "Hi.",
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "tracing": None,
        "truncation": "auto",
        "audio": {
            "input": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "noise_reduction": None,
                "transcription": None,
                "turn_detection": {"type": "semantic_vad", "eagerness": "auto", **VAD},
            },
            "output": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "voice": "espeak",
                "speed": 1.0,
            },
        },
    }


@pytest.mark.parametrize("tracing", ["auto", None, {"workflow_name": "x"}])
def test_the_clients_second_update_is_never_refused(tracing: Any) -> None:
    before = change_detection(SessionObject(), {"type": "server_vad"})
    after = merged(before, {"type": "realtime", "model": "gpt-realtime", "tracing": tracing})
    assert after.tracing == tracing
    assert after.audio == before.audio


def test_optional_fields_are_echoed_once_set() -> None:
    session = merged(
        SessionObject(),
        {
            "reasoning": {"effort": "low"},
            "parallel_tool_calls": False,
            "include": ["item.input_audio_transcription.logprobs"],
            "prompt": {"id": "pmpt_1"},
            "quicksilver": {"events": ["state"]},
        },
    )
    shown = echo(session, "s", "m", "v")
    assert shown["reasoning"] == {"effort": "low"}
    assert shown["parallel_tool_calls"] is False
    assert shown["prompt"] == {"id": "pmpt_1"}
    assert shown["quicksilver"] == {
        "events": ["state"],
        "agent_tools": None,
        "greet": True,
        "agent": "",
    }


def test_a_partial_change_keeps_the_rest() -> None:
    session = change_detection(SessionObject(), {"type": "server_vad", "silence_duration_ms": 900})
    session = change_detection(session, {"interrupt_response": False})
    assert turn_detection(session)["silence_duration_ms"] == 900
    assert turn_detection(session)["interrupt_response"] is False


def test_another_type_begins_anew() -> None:
    session = change_detection(SessionObject(), {"type": "server_vad", "interrupt_response": False})
    session = change_detection(session, {"type": "semantic_vad", "eagerness": None})
    assert turn_detection(session) == {"type": "semantic_vad", "eagerness": "auto", **VAD}


def test_null_switches_turn_detection_off_and_leaves_what_cannot_be_null() -> None:
    session = change_detection(merged(SessionObject(), {"instructions": "Hi."}), None)
    session = merged(session, {"instructions": None, "audio": {"output": None}})
    assert turn_detection(session) is None
    assert session.instructions == "Hi."


def test_tools_are_replaced_as_a_whole() -> None:
    one = {"type": "function", "name": "one", "description": None, "parameters": None}
    session = merged(SessionObject(), {"tools": [one]})
    assert session.tools[0].spec().parameters == {"type": "object", "properties": {}}
    assert merged(session, {"tools": []}).tools == []


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"type": "live"}, "session.type"),
        ({"output_modalities": ["audio", "text"]}, "session.output_modalities"),
        ({"max_output_tokens": 0}, "session.max_output_tokens"),
        ({"tools": [{"type": "mcp", "server_label": "x"}]}, "session.tools.0.server_url"),
        ({"tools": [{"type": "function"}]}, "session.tools.0.name"),
        *(
            ({"tools": [TOOL, {"name": "f", "parameters": parameters}]}, f"{SECOND}.{where}")
            for parameters, where in (
                ({"type": "array"}, "type"),
                ({"properties": []}, "properties"),
                ({"properties": {"x": 5}}, "properties.x"),
                ({"properties": {"x": {"type": "foo"}}}, "properties.x.type"),
                ({"properties": {"x": {"$ref": "#/nope"}}}, "properties.x.$ref"),
            )
        ),
        ({"audio": {"output": {"speed": 1.6}}}, "session.audio.output.speed"),
        (
            {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}}}},
            "session.audio.input.format.rate",
        ),
        (
            {"audio": {"input": {"turn_detection": {"type": "server_vad", "threshold": 2}}}},
            "session.audio.input.turn_detection.threshold",
        ),
        (
            {
                "audio": {
                    "input": {"turn_detection": {"type": "server_vad", "idle_timeout_ms": BIG}}
                }
            },
            "session.audio.input.turn_detection.idle_timeout_ms",
        ),
        ({"quicksilver": {"events": ["everything"]}}, "session.quicksilver.events.0"),
    ],
)
def test_a_wrong_value_is_refused_by_name(changes: dict[str, Any], param: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        merged(SessionObject(), changes)
    assert raised.value.param == param


def test_names_of_the_beta_version_are_pointed_to_todays() -> None:
    with pytest.raises(ProtocolError, match=r"use session\.audio\.input\.format") as raised:
        merged(SessionObject(), {"input_audio_format": "pcm16"})
    assert raised.value.code == "unknown_parameter"


def test_a_transcription_session_shows_its_input_alone() -> None:
    session = merged(SessionObject(), {"type": "transcription", "include": ["x"]})
    shown = echo(session, "sess_1", "quicksilver", "espeak")
    assert shown["object"] == "realtime.transcription_session"
    assert set(shown) == {"type", "object", "id", "audio", "include"}
    assert set(shown["audio"]) == {"input"}


WEATHER = {"type": "function", "name": "weather", "description": "Tell.", "parameters": {}}


def detection(**fields: Any) -> dict[str, Any]:
    return {"audio": {"input": {"turn_detection": fields}}}


def changed(changes: dict[str, Any], base: SessionOptions = BASE) -> SessionOptions:
    session = merged(initial_object(base), changes)
    return replace(base, **option_changes(session, base))


@pytest.mark.parametrize(
    "base",
    [
        BASE,
        replace(BASE, silence_ms=700, vad_threshold=0.6, idle_timeout_s=20.0),
        replace(BASE, speak=False, interrupt_response=False, create_response=False),
        replace(BASE, speed=1.25, instructions="Be brief."),
        replace(BASE, speed=2.0),
        replace(BASE, silence_ms=700, pre_roll_ms=200, profile="patient", idle_ends=False),
    ],
)
def test_a_client_that_changes_nothing_changes_nothing(base: SessionOptions) -> None:
    assert changed({}, base) == base


def test_no_message_calls_a_tool_that_was_left_out() -> None:
    calls = {"get_time": ("^time$",), "undo_last": ("^undo$",)}
    base = replace(BASE, calls=calls, answers="answer")
    for changes, left in (
        ({}, (calls, "answer")),
        ({"quicksilver": {"agent_tools": ["set_timer", "get_time"]}}, (calls, "answer")),
        ({"quicksilver": {"agent_tools": ["get_time"]}}, ({"get_time": ("^time$",)}, "")),
    ):
        options, granted_ones = changed(changes, base), granted(base, changes)
        assert (options.calls, options.answers) == left
        assert (granted_ones.calls, granted_ones.answers) == left


DECLARED = (ToolSpec("weather", "Tell.", {}),)


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        (
            detection(
                type="server_vad",
                threshold=0.7,
                silence_duration_ms=650,
                idle_timeout_ms=6000,
                prefix_padding_ms=120,
                create_response=False,
            ),
            {
                "vad_threshold": 0.7,
                "silence_ms": 650,
                "idle_timeout_s": 6.0,
                "idle_ends": False,
                "pre_roll_ms": 120,
                "create_response": False,
            },
        ),
        (detection(type="semantic_vad", eagerness="low"), {"profile": "patient"}),
        (detection(type="semantic_vad", eagerness="medium"), {"profile": "balanced"}),
        (detection(type="semantic_vad", eagerness="high"), {"profile": "eager"}),
        (detection(type="semantic_vad", eagerness="auto"), {}),
        (
            {"audio": {"input": {"turn_detection": None}}},
            {"turn_detection": False, "create_response": False, "interrupt_response": False},
        ),
        ({"parallel_tool_calls": False}, {"parallel_calls": False}),
        ({"parallel_tool_calls": None}, {}),
        ({"output_modalities": ["text"]}, {"speak": False}),
        (
            {"audio": {"output": {"format": {"type": "audio/pcma"}, "speed": 1.5}}},
            {"output_rate_hz": 8000, "speed": 1.5},
        ),
        *(
            ({"reasoning": {"effort": effort}}, {"effort": expected})
            for effort, expected in (("minimal", "instant"), ("low", "low"), ("xhigh", "high"))
        ),
        # Declared tools stand alone unless the agent's own are named.
        ({"tools": [WEATHER]}, {"client_tools": DECLARED, "agent_tools": ()}),
        (
            {"tools": [WEATHER], "quicksilver": {"agent_tools": ["get_time"]}},
            {"client_tools": DECLARED, "agent_tools": ("get_time",)},
        ),
        ({"quicksilver": {"agent_tools": []}}, {"agent_tools": ()}),
        # None at all are all of a client with instructions of its own.
        ({"tools": []}, {}),
        ({"instructions": "Sing."}, {"instructions": "Sing."}),
        (
            {"tools": [], "instructions": "Sing."},
            {"instructions": "Sing.", "agent_tools": ()},
        ),
        (
            {"tools": [], "instructions": "Sing.", "quicksilver": {"agent_tools": ["get_time"]}},
            {"instructions": "Sing.", "agent_tools": ("get_time",)},
        ),
        ({"quicksilver": {"events": ["hold"]}}, {"holds": True}),
        (
            {"type": "transcription"},
            {
                "agent_tools": (),
                "create_response": False,
                "interrupt_response": False,
                "idle_timeout_s": 0.0,
            },
        ),
    ],
)
def test_changes_become_options(changes: dict[str, Any], options: dict[str, Any]) -> None:
    base = replace(BASE, idle_timeout_s=20.0)
    assert changed(changes, base) == replace(base, **options)


def test_every_option_but_the_agents_own_is_set() -> None:
    known = {field.name for field in fields(SessionOptions)}
    assert set(option_changes(SessionObject(), BASE)) == known - {
        "loudness",
        "moments",
        "pace",
        "remembered",
    }


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"tool_choice": {"type": "function", "name": "weather"}}, "session.tool_choice"),
        ({"tools": [WEATHER, WEATHER]}, "session.tools"),
        ({"quicksilver": {"agent_tools": ["launch"]}}, "session.quicksilver.agent_tools"),
    ],
)
def test_tools_that_do_not_fit_are_refused(changes: dict[str, Any], param: str) -> None:
    with pytest.raises(ProtocolError) as raised:
        changed(changes)
    assert raised.value.param == param


def test_a_voice_of_the_server_is_chosen_by_name_and_any_other_is_its_own() -> None:
    names = LocalNames("m", "hibari:heart", ("hibari:heart", "espeak:en-us"))
    assert [names.chosen(name) for name in ("en-us", "espeak:en-us", "heart", "alloy", "")] == [
        "espeak:en-us", "espeak:en-us", "hibari:heart", "hibari:heart", "hibari:heart",
    ]  # fmt: skip
    chosen = merged(initial_object(BASE), {"audio": {"output": {"voice": "en-us"}}})
    assert option_changes(chosen, BASE)["voice"] == "en-us"
