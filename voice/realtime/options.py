"""What the session object means to the agent: fields of `SessionOptions`, and the way back."""

from __future__ import annotations

from typing import Any

from voice.errors import ProtocolError
from voice.inputs import SessionOptions
from voice.realtime.session_object import (
    MAX_SPEED,
    MIN_SPEED,
    Audio,
    AudioInput,
    AudioOutput,
    FunctionTool,
    G711Format,
    PcmFormat,
    SemanticVad,
    ServerVad,
    SessionObject,
)

_PROFILES = {"low": "patient", "medium": "balanced", "high": "eager"}
_EFFORTS = {"none": "instant", "minimal": "instant", "xhigh": "high"}


def initial_object(base: SessionOptions) -> SessionObject:
    """The session object that says what ``base`` does."""
    detection: ServerVad | SemanticVad | None = None
    if base.turn_detection and base.silence_ms is None:
        detection = SemanticVad(
            type="semantic_vad",
            create_response=base.create_response,
            interrupt_response=base.interrupt_response,
        )
    elif base.turn_detection:
        detection = ServerVad(
            type="server_vad",
            threshold=base.vad_threshold,
            prefix_padding_ms=_shown_prefix_ms(base),
            silence_duration_ms=base.silence_ms or 500,
            idle_timeout_ms=_shown_idle_ms(base),
            create_response=base.create_response,
            interrupt_response=base.interrupt_response,
        )
    return SessionObject(
        instructions=base.instructions,
        output_modalities=["audio" if base.speak else "text"],
        tools=[
            FunctionTool(name=t.name, description=t.description, parameters=t.parameters)
            for t in base.client_tools
        ],
        audio=Audio(
            input=AudioInput(turn_detection=detection),
            output=AudioOutput(speed=_shown_speed(base)),
        ),
    )


def option_changes(session: SessionObject, base: SessionOptions) -> dict[str, Any]:
    """What the session object means, as fields of `SessionOptions`.

    Args:
        session: The session as the client wants it.
        base: The agent's own options, for whatever the client leaves to the agent.
    """
    detection = session.audio.input.turn_detection
    speed = session.audio.output.speed
    changes = reply_changes(session, base) | {
        "turn_detection": detection is not None,
        "silence_ms": None,
        "vad_threshold": base.vad_threshold,
        "profile": base.profile,
        "pre_roll_ms": base.pre_roll_ms,
        "idle_timeout_s": base.idle_timeout_s,
        "idle_ends": base.idle_ends,
        "create_response": detection is not None and detection.create_response,
        "interrupt_response": detection is not None and detection.interrupt_response,
        "holds": session.quicksilver is not None and "hold" in session.quicksilver.events,
        "speed": base.speed if speed == _shown_speed(base) else speed,
    }
    if isinstance(detection, ServerVad):
        changes["silence_ms"] = detection.silence_duration_ms
        changes["vad_threshold"] = detection.threshold
        if detection.prefix_padding_ms != _shown_prefix_ms(base):
            changes["pre_roll_ms"] = detection.prefix_padding_ms
        if detection.idle_timeout_ms != _shown_idle_ms(base):
            changes["idle_timeout_s"] = (detection.idle_timeout_ms or 0) / 1000
            changes["idle_ends"] = False
    elif isinstance(detection, SemanticVad):
        changes["profile"] = _PROFILES.get(detection.eagerness, base.profile)
    if session.transcribes:
        changes |= {"create_response": False, "interrupt_response": False, "idle_timeout_s": 0.0}
    return changes


def reply_changes(session: SessionObject, base: SessionOptions) -> dict[str, Any]:
    """The part of `option_changes` that a single reply can override.

    A client that declares tools wrote instructions for those: the agent's own are offered beside
    them only when it names them.

    Raises:
        ProtocolError: A tool is unknown, or declared twice.
    """
    declared = tuple(tool.spec() for tool in session.tools)
    kept = session.quicksilver.agent_tools if session.quicksilver else None
    agent_tools = tuple(kept) if kept is not None else () if declared else base.agent_tools
    names = [*agent_tools, *(tool.name for tool in declared)]
    for name in agent_tools:
        if name not in base.agent_tools:
            raise ProtocolError(
                f"session.quicksilver.agent_tools: got {name!r}; expected some of "
                f"{sorted(base.agent_tools)}",
                param="session.quicksilver.agent_tools",
            )
    if len(set(names)) < len(names):
        raise ProtocolError(
            f"session.tools: got {names}; expected each name once", param="session.tools"
        )
    choice = (
        session.tool_choice if isinstance(session.tool_choice, str) else session.tool_choice.name
    )
    if not isinstance(session.tool_choice, str) and choice not in names:
        raise ProtocolError(
            f"session.tool_choice: got {choice!r}; expected one of {names}",
            param="session.tool_choice",
        )
    limit, parallel = session.max_output_tokens, session.parallel_tool_calls
    effort = session.reasoning.effort if session.reasoning else None
    return {
        "instructions": session.instructions,
        "client_tools": declared,
        "agent_tools": agent_tools,
        "tool_choice": choice,
        "parallel_calls": base.parallel_calls if parallel is None else parallel,
        "speak": session.output_modalities == ["audio"],
        "output_rate_hz": rate_hz(session.audio.output.format),
        "max_reply_tokens": base.max_reply_tokens if limit == "inf" else limit,
        "effort": _EFFORTS.get(effort, effort) if effort else base.effort,
    }


def rate_hz(audio_format: PcmFormat | G711Format) -> int:
    """Samples per second of a wire format."""
    return audio_format.rate if isinstance(audio_format, PcmFormat) else 8000


def _shown_prefix_ms(base: SessionOptions) -> int:
    """The agent's own pre-roll; the protocol's default where it has none."""
    return 300 if base.pre_roll_ms is None else base.pre_roll_ms


def _shown_idle_ms(base: SessionOptions) -> int | None:
    """The agent's own idle timeout."""
    return round(base.idle_timeout_s * 1000) or None


def _shown_speed(base: SessionOptions) -> float:
    """The agent's own speed as far as the protocol can say it."""
    return min(max(base.speed, MIN_SPEED), MAX_SPEED)
