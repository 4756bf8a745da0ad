from dataclasses import fields, replace
from typing import Any

import pytest

from tests.support.fakes import OPTIONS as BASE
from voice.errors import ProtocolError
from voice.inputs import SessionOptions
from voice.realtime.session_object import (
    SessionObject,
    initial_object,
    merged,
    option_changes,
    reply_changes,
)
from voice.realtime.wire import G711Format, PcmFormat, rate_hz
from voice.types import ToolSpec

WEATHER = {"type": "function", "name": "weather", "description": "Tell.", "parameters": {}}


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


def test_every_option_but_none_unknown_is_set() -> None:
    known = {field.name for field in fields(SessionOptions)}
    assert set(option_changes(SessionObject(), BASE)) == known


def test_turn_detection() -> None:
    server_vad = {
        "type": "server_vad",
        "threshold": 0.7,
        "silence_duration_ms": 650,
        "idle_timeout_ms": 6000,
        "prefix_padding_ms": 120,
        "create_response": False,
    }
    options = changed({"audio": {"input": {"turn_detection": server_vad}}})
    assert (options.vad_threshold, options.silence_ms, options.idle_timeout_s) == (0.7, 650, 6.0)
    assert (options.turn_detection, options.create_response) == (True, False)
    assert (options.pre_roll_ms, options.idle_ends) == (120, False)
    semantic = changed({"audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}})
    assert semantic.silence_ms is None
    assert not changed({"audio": {"input": {"turn_detection": None}}}).turn_detection


@pytest.mark.parametrize(
    ("eagerness", "profile"),
    [("low", "patient"), ("medium", "balanced"), ("high", "eager"), ("auto", "eager")],
)
def test_eagerness_is_a_profile_and_auto_the_servers_own(eagerness: str, profile: str) -> None:
    semantic = {"type": "semantic_vad", "eagerness": eagerness}
    base = replace(BASE, profile="eager")
    options = changed({"audio": {"input": {"turn_detection": semantic}}}, base)
    assert options.profile == profile


def test_one_call_at_a_time() -> None:
    assert not changed({"parallel_tool_calls": False}).parallel_calls
    assert changed({"parallel_tool_calls": None}).parallel_calls


def test_output() -> None:
    options = changed(
        {
            "output_modalities": ["text"],
            "audio": {"output": {"format": {"type": "audio/pcma"}, "speed": 1.5}},
        }
    )
    assert (options.speak, options.output_rate_hz, options.speed) == (False, 8000, 1.5)


@pytest.mark.parametrize(
    ("effort", "expected"),
    [("none", "instant"), ("minimal", "instant"), ("low", "low"), ("xhigh", "high")],
)
def test_effort(effort: str, expected: str) -> None:
    assert changed({"reasoning": {"effort": effort}}).effort == expected


def test_reply_length() -> None:
    assert changed({"max_output_tokens": 40}).max_reply_tokens == 40
    assert changed({"max_output_tokens": "inf"}).max_reply_tokens == BASE.max_reply_tokens


def test_declared_tools_stand_alone_unless_the_agents_are_named() -> None:
    alone = changed({"tools": [WEATHER]})
    assert alone.client_tools == (ToolSpec("weather", "Tell.", {}),)
    assert alone.agent_tools == ()
    both = changed({"tools": [WEATHER], "quicksilver": {"agent_tools": ["get_time"]}})
    assert both.agent_tools == ("get_time",)
    assert changed({"quicksilver": {"agent_tools": []}}).agent_tools == ()


def test_tool_choice() -> None:
    named = {"type": "function", "name": "weather"}
    assert changed({"tools": [WEATHER], "tool_choice": named}).tool_choice == "weather"
    assert changed({"tool_choice": "required"}).tool_choice == "required"


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


def test_a_reply_can_override_a_part() -> None:
    overridable = reply_changes(SessionObject(), BASE)
    assert "turn_detection" not in overridable
    assert overridable["max_reply_tokens"] == BASE.max_reply_tokens


def test_rates() -> None:
    assert rate_hz(PcmFormat(type="audio/pcm")) == 24_000
    assert rate_hz(G711Format(type="audio/pcmu")) == 8_000


def test_a_transcription_session_never_speaks() -> None:
    base = replace(BASE, idle_timeout_s=20.0)
    options = changed({"type": "transcription"}, base)
    assert (options.create_response, options.interrupt_response) == (False, False)
    assert options.idle_timeout_s == 0
    assert options.turn_detection


def test_a_client_that_asks_for_hold_can_hold() -> None:
    assert changed({"quicksilver": {"events": ["hold"]}}, BASE).holds
    assert not changed({"quicksilver": {"events": ["state"]}}, BASE).holds
