"""The session object: its fields, how changes are merged, and the `SessionOptions` it stands for.

The model is always the server's own; the voice is one of the server's. Fields without an effect are
kept and echoed, because clients set them as a matter of course.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from voice.dictation.editor import is_dictation
from voice.errors import ProtocolError
from voice.inputs import NamedServer, SessionOptions, ToolFilter
from voice.realtime.wire import AudioFormat, PcmFormat, WireModel, rate_hz, validated
from voice.types import ToolSpec

Extension = Literal[
    "transcript",
    "latency",
    "denoising",
    "tools",
    "heard",
    "state",
    "hold",
    "draft",
    "flow",
    "trace",
]
"""Names of the groups of extension events that a client can ask for."""

MIN_SPEED, MAX_SPEED = 0.25, 1.5
MAX_PREFIX_MS = 5000
MAX_IDLE_MS = 86_400_000
"""A day: longer than a conversation lasts, and small enough for a float."""

_NULLABLE = frozenset(
    {"turn_detection", "noise_reduction", "transcription", "tracing", "prompt", "idle_timeout_ms"}
    | {"include", "reasoning", "parallel_tool_calls", "agent_tools"}
)
_BETA_NAMES = {
    "modalities": "output_modalities",
    "voice": "audio.output.voice",
    "input_audio_format": "audio.input.format",
    "output_audio_format": "audio.output.format",
    "input_audio_transcription": "audio.input.transcription",
    "turn_detection": "audio.input.turn_detection",
    "max_response_output_tokens": "max_output_tokens",
}
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_OWN_HEADERS = frozenset(
    {"host", "content-length", "content-type", "accept", "connection", "transfer-encoding"}
)
MAX_SERVERS = 8
_PROFILES = {"low": "patient", "medium": "balanced", "high": "eager"}
_EFFORTS = {"none": "instant", "minimal": "instant", "xhigh": "high"}


class ServerVad(WireModel):
    """A turn ends after a fixed silence."""

    type: Literal["server_vad"]
    threshold: float = Field(default=0.5, ge=0, le=1)
    prefix_padding_ms: int = Field(default=300, ge=0, le=MAX_PREFIX_MS)
    silence_duration_ms: int = Field(default=500, ge=20, le=10_000)
    create_response: bool = True
    interrupt_response: bool = True
    idle_timeout_ms: int | None = Field(default=None, ge=1000, le=MAX_IDLE_MS)


class SemanticVad(WireModel):
    """A turn ends when its transcript reads as complete."""

    type: Literal["semantic_vad"]
    eagerness: Literal["low", "medium", "high", "auto"] = "auto"
    create_response: bool = True
    interrupt_response: bool = True


TurnDetection = Annotated[ServerVad | SemanticVad, Field(discriminator="type")]


class Transcription(WireModel):
    """What the client asks of the recogniser; the recogniser itself is the server's choice."""

    model_config = ConfigDict(extra="allow")

    model: str | None = None
    language: str | None = None


class AudioInput(WireModel):
    """The user's audio."""

    format: Annotated[AudioFormat, Field(discriminator="type")] = PcmFormat(type="audio/pcm")
    noise_reduction: dict[str, Any] | None = None
    transcription: Transcription | None = None
    turn_detection: TurnDetection | None = SemanticVad(type="semantic_vad")


class VoiceId(WireModel):
    """A voice given by its id."""

    id: str


class AudioOutput(WireModel):
    """The agent's audio."""

    format: Annotated[AudioFormat, Field(discriminator="type")] = PcmFormat(type="audio/pcm")
    voice: str | VoiceId = ""
    speed: float = Field(default=1.0, ge=MIN_SPEED, le=MAX_SPEED)

    @property
    def voice_name(self) -> str:
        """The voice's name as the client gave it."""
        return self.voice if isinstance(self.voice, str) else self.voice.id


class Audio(WireModel):
    """The audio of both directions."""

    input: AudioInput = AudioInput()
    output: AudioOutput = AudioOutput()


class FunctionTool(WireModel):
    """A function that the client runs."""

    type: Literal["function"] = "function"
    name: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")
    description: str = ""
    parameters: dict[str, Any] = Field(default={"type": "object", "properties": {}})

    @model_validator(mode="before")
    @classmethod
    def _is_function(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if data.get("type", "function") != "function":
            raise ValueError(f"tools of type {data['type']!r} are not supported")
        return {key: value for key, value in data.items() if value is not None}

    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(self.name, self.description, self.parameters)


class McpFilter(WireModel):
    """Selects some of a server's tools."""

    tool_names: list[str] | None = None
    read_only: bool | None = None

    def filter(self) -> ToolFilter:
        """The filter as the session's type."""
        names = None if self.tool_names is None else tuple(self.tool_names)
        return ToolFilter(names, self.read_only)


class McpApproval(WireModel):
    """Which calls need the client's approval; those that neither filter covers need it too."""

    always: McpFilter | None = None
    never: McpFilter | None = None


class McpTool(WireModel):
    """An MCP server's tools, which this server calls."""

    type: Literal["mcp"]
    server_label: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,31}$")
    server_url: str = Field(min_length=1, max_length=2048)
    server_description: str | None = None
    authorization: str | None = None
    headers: dict[str, str] | None = None
    allowed_tools: list[str] | McpFilter | None = None
    require_approval: McpApproval | Literal["always", "never"] | None = None

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, headers: dict[str, str] | None) -> dict[str, str] | None:
        for name, value in (headers or {}).items():
            if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
                raise ValueError(f"got the header {name[:40]!r}, which cannot be set")
            if not value.isprintable() or not value.isascii():
                raise ValueError(f"got no printable ASCII in the header {name[:40]!r}")
        return headers

    def server(self) -> NamedServer:
        """The MCP server as the session knows it."""
        headers = dict(self.headers or {})
        if self.authorization is not None:
            headers["Authorization"] = f"Bearer {self.authorization}"
        allowed = self.allowed_tools
        if isinstance(allowed, list):
            allowed = McpFilter(tool_names=allowed)
        approval = self.require_approval
        asked = unasked = None
        if isinstance(approval, McpApproval):
            asked = approval.always.filter() if approval.always else None
            unasked = approval.never.filter() if approval.never else None
        elif approval == "never":
            unasked = ToolFilter()
        return NamedServer(
            self.server_label,
            self.server_url,
            tuple(sorted(headers.items())),
            allowed.filter() if allowed else ToolFilter(),
            asked,
            unasked,
        )


def _kind(tool: Any) -> str:
    kind = tool.get("type", "function") if isinstance(tool, dict) else getattr(tool, "type", "")
    return "mcp" if kind == "mcp" else "function"


AnyTool = Annotated[
    Annotated[FunctionTool, Tag("function")] | Annotated[McpTool, Tag("mcp")],
    Discriminator(_kind),
]


class NamedTool(WireModel):
    """A tool choice that names one function."""

    type: Literal["function"]
    name: str


ToolChoice = Literal["auto", "none", "required"] | NamedTool


class Reasoning(WireModel):
    """How much effort to spend on thinking."""

    effort: Literal["none", "minimal", "instant", "low", "medium", "high", "xhigh"] | None = None


class Quicksilver(WireModel):
    """The extensions that only this server has."""

    events: list[Extension] = Field(default=[])
    agent_tools: list[str] | None = None
    greet: bool = True
    agent: str = ""


class SessionObject(WireModel):
    """The session as the client sees it; ``tools`` is None until the client has set it."""

    type: Literal["realtime", "transcription"] = "realtime"
    model: str = ""
    output_modalities: list[Literal["audio", "text"]] = Field(
        default=["audio"], min_length=1, max_length=1
    )
    instructions: str = ""
    tools: list[AnyTool] | None = Field(default=None, max_length=128)
    tool_choice: ToolChoice = "auto"
    max_output_tokens: Annotated[int, Field(ge=1, le=4096)] | Literal["inf"] = "inf"
    tracing: Any = None
    truncation: Any = "auto"
    prompt: Any = None
    include: list[str] | None = None
    reasoning: Reasoning | None = None
    parallel_tool_calls: bool | None = None
    audio: Audio = Audio()
    quicksilver: Quicksilver | None = None

    @property
    def dictates(self) -> bool:
        """Whether transcripts are edited into the text that the speaker meant."""
        transcription = self.audio.input.transcription
        return transcription is not None and is_dictation(transcription.model or "")

    @property
    def transcribes(self) -> bool:
        """Whether the session only transcribes, without replies."""
        return self.type == "transcription"


def merged(current: SessionObject, changes: dict[str, Any], path: str = "session") -> SessionObject:
    """The session after a client's partial change.

    Objects merge field by field, but one whose ``type`` changes is replaced, since the old fields
    belong to the old type. ``null`` resets a nullable field and leaves any other unchanged.

    Args:
        current: The session so far.
        changes: What the client sent.
        path: Where ``changes`` stands in the client's event, for errors.

    Raises:
        ProtocolError: A field has a wrong value or is from the beta version, or a tool's parameters
            are not a JSON schema.
    """
    for name in changes:
        if name in _BETA_NAMES:
            raise ProtocolError(
                f"{path}.{name}: not a field of the GA version; use {path}.{_BETA_NAMES[name]}",
                code="unknown_parameter",
                param=f"{path}.{name}",
            )
    changed = validated(SessionObject, _merge(current.model_dump(), changes), path)
    if "tools" in changes:
        _check_schemas(changed.tools or (), f"{path}.tools")
    return changed


def echo(session: SessionObject, session_id: str, model: str, voice: str) -> dict[str, Any]:
    """The full session object for ``session.created`` and ``session.updated``."""
    tree = session.model_dump()
    tree["tools"] = tree["tools"] or []
    for tool in tree["tools"]:
        if tool["type"] == "mcp":
            # These are secrets, and an echo may be logged.
            del tool["headers"], tool["authorization"]
    if session.transcribes:
        return {
            "type": session.type,
            "object": "realtime.transcription_session",
            "id": session_id,
            "audio": {"input": tree["audio"]["input"]},
            "include": tree["include"],
        }
    for optional in ("prompt", "include", "reasoning", "parallel_tool_calls", "quicksilver"):
        if tree[optional] is None:
            del tree[optional]
    tree["audio"]["output"]["voice"] = voice
    return tree | {"object": "realtime.session", "id": session_id, "model": model}


def agent_named(session: Mapping[str, Any] | None) -> str:
    """The agent named in a session that a client sent; empty if none is."""
    own = (session or {}).get("quicksilver")
    name = own.get("agent") if isinstance(own, dict) else ""
    return name if isinstance(name, str) else ""


def initial_object(base: SessionOptions) -> SessionObject:
    """The session object that shows the agent's own options."""
    detection: ServerVad | SemanticVad | None = None
    responses: dict[str, Any] = {
        "create_response": base.create_response,
        "interrupt_response": base.interrupt_response,
    }
    if base.turn_detection and base.silence_ms is None:
        detection = SemanticVad(type="semantic_vad", **responses)
    elif base.turn_detection:
        detection = ServerVad(
            type="server_vad",
            threshold=base.vad_threshold,
            prefix_padding_ms=_shown_prefix_ms(base),
            silence_duration_ms=base.silence_ms or 500,
            idle_timeout_ms=_shown_idle_ms(base),
            **responses,
        )
    return SessionObject(
        instructions=base.instructions,
        output_modalities=["audio" if base.speak else "text"],
        tools=[
            FunctionTool(name=t.name, description=t.description, parameters=t.parameters)
            for t in base.client_tools
        ]
        or None,
        audio=Audio(
            input=AudioInput(turn_detection=detection),
            output=AudioOutput(speed=_shown_speed(base)),
        ),
    )


def option_changes(session: SessionObject, base: SessionOptions) -> dict[str, Any]:
    """The `SessionOptions` fields that the session object implies.

    Where the client has set nothing, the agent's own options in ``base`` are kept.
    """
    detection = session.audio.input.turn_detection
    events = session.quicksilver.events if session.quicksilver else ()
    speed = session.audio.output.speed
    changes = reply_changes(session, base) | {
        "turn_detection": detection is not None,
        "silence_ms": None,
        "vad_threshold": base.vad_threshold,
        "profile": base.profile,
        "pre_roll_ms": base.pre_roll_ms,
        "language": _language(session) or base.language,
        "idle_timeout_s": base.idle_timeout_s,
        "idle_ends": base.idle_ends,
        "create_response": detection is not None and detection.create_response,
        "interrupt_response": detection is not None and detection.interrupt_response,
        "holds": "hold" in events,
        "shows_drafts": "draft" in events,
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
        # People pause to think while they dictate.
        unset = "patient" if session.dictates else base.profile
        changes["profile"] = _PROFILES.get(detection.eagerness, unset)
    if session.transcribes:
        changes |= {"create_response": False, "interrupt_response": False, "idle_timeout_s": 0.0}
        changes["agent_tools"] = ()
    return changes


def reply_changes(session: SessionObject, base: SessionOptions) -> dict[str, Any]:
    """The part of `option_changes` that a single reply can override.

    A client that declares tools has written its instructions for those, and one with instructions
    of its own may deliberately declare none. In both cases the agent's own tools are offered only
    if the client names them.

    Raises:
        ProtocolError: A tool is unknown or declared twice, or the MCP servers are too many.
    """
    tools = session.tools or ()
    declared = tuple(tool.spec() for tool in tools if isinstance(tool, FunctionTool))
    servers = tuple(tool.server() for tool in tools if isinstance(tool, McpTool))
    if len(servers) > MAX_SERVERS or len({one.label for one in servers}) < len(servers):
        raise ProtocolError(
            f"session.tools: expected at most {MAX_SERVERS} MCP servers, each label once",
            param="session.tools",
        )
    kept = session.quicksilver.agent_tools if session.quicksilver else None
    alone = tools or (session.tools is not None and session.instructions != base.instructions)
    agent_tools = tuple(kept) if kept is not None else () if alone else base.agent_tools
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
        "servers": servers,
        "agent_tools": agent_tools,
        **_called(base, agent_tools),
        "tool_choice": choice,
        "parallel_calls": base.parallel_calls if parallel is None else parallel,
        "speak": session.output_modalities == ["audio"],
        "output_rate_hz": rate_hz(session.audio.output.format),
        "voice": session.audio.output.voice_name or base.voice,
        "max_reply_tokens": base.max_reply_tokens if limit == "inf" else limit,
        "effort": _EFFORTS.get(effort, effort) if effort else base.effort,
    }


def _called(base: SessionOptions, agent_tools: Sequence[str]) -> dict[str, Any]:
    """`calls` and `answers` of the agent, without the tools that the client has left out."""
    if set(agent_tools) >= set(base.agent_tools):
        return {"calls": base.calls, "answers": base.answers}
    calls = {name: base.calls[name] for name in agent_tools if name in base.calls}
    return {"calls": calls, "answers": base.answers if base.answers in agent_tools else ""}


def _language(session: SessionObject) -> str:
    """Code of the language that the client says is spoken; empty if it says nothing."""
    transcription = session.audio.input.transcription
    code = (transcription.language if transcription else None) or ""
    return code.partition("-")[0].lower()


def _shown_prefix_ms(base: SessionOptions) -> int:
    """The agent's own pre-roll, or else the protocol's default."""
    return 300 if base.pre_roll_ms is None else base.pre_roll_ms


def _shown_idle_ms(base: SessionOptions) -> int | None:
    """The agent's own idle timeout; None if it has none."""
    return round(base.idle_timeout_s * 1000) or None


def _shown_speed(base: SessionOptions) -> float:
    """The agent's own speed, clamped to the protocol's bounds."""
    return min(max(base.speed, MIN_SPEED), MAX_SPEED)


def _check_schemas(tools: Sequence[FunctionTool | McpTool], path: str) -> None:
    from dlm.server.errors import ApiError
    from dlm.server.tool_schemas import check_form

    for index, tool in enumerate(tools):
        if isinstance(tool, McpTool):
            continue
        try:
            check_form(tool.parameters, f"{path}.{index}.parameters")
        except ApiError as error:
            raise ProtocolError(str(error), error.code or "invalid_value", error.param) from error


def _merge(old: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    tree = dict(old)
    for key, value in changes.items():
        before = tree.get(key)
        if value is None and key not in _NULLABLE:
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            # An object whose type has changed keeps none of its fields.
            same = value.get("type", before.get("type")) == before.get("type")
            tree[key] = _merge(before if same else {}, value)
        else:
            tree[key] = value
    return tree
