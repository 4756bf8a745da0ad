"""The session object: what a client may set, and how a change is merged.

It does not know what the fields mean to the agent (see `options`). Model and voice are the server's
own whatever the client asks for; fields without an effect are kept and echoed, because clients set
them without looking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from voice.errors import ProtocolError
from voice.realtime.wire import WireModel, validated
from voice.types import ToolSpec

Extension = Literal["transcript", "latency", "denoising", "tools", "heard", "state", "hold"]
"""Names of the groups of extension events that a client can ask for."""

MIN_SPEED, MAX_SPEED = 0.25, 1.5
MAX_PREFIX_MS = 5000
MAX_IDLE_MS = 86_400_000
"""A day: longer than a conversation lasts, and no number that floats cannot hold."""

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


class PcmFormat(WireModel):
    """16-bit little-endian PCM, mono."""

    type: Literal["audio/pcm"]
    rate: Literal[24000] = 24000


class G711Format(WireModel):
    """Telephone coding, 8 kHz."""

    type: Literal["audio/pcmu", "audio/pcma"]


AudioFormat = Annotated[PcmFormat | G711Format, Field(discriminator="type")]


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
    """A turn ends when what was said reads complete."""

    type: Literal["semantic_vad"]
    eagerness: Literal["low", "medium", "high", "auto"] = "auto"
    create_response: bool = True
    interrupt_response: bool = True


TurnDetection = Annotated[ServerVad | SemanticVad, Field(discriminator="type")]


class AudioInput(WireModel):
    """What comes in."""

    format: AudioFormat = PcmFormat(type="audio/pcm")
    noise_reduction: dict[str, Any] | None = None
    transcription: dict[str, Any] | None = None
    turn_detection: TurnDetection | None = SemanticVad(type="semantic_vad")


class VoiceId(WireModel):
    """A voice named by an id."""

    id: str


class AudioOutput(WireModel):
    """What goes out."""

    format: AudioFormat = PcmFormat(type="audio/pcm")
    voice: str | VoiceId = ""
    speed: float = Field(default=1.0, ge=MIN_SPEED, le=MAX_SPEED)

    @property
    def voice_name(self) -> str:
        """What the client calls the voice."""
        return self.voice if isinstance(self.voice, str) else self.voice.id


class Audio(WireModel):
    """Both directions."""

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
        if isinstance(data, dict):
            if data.get("type", "function") != "function":
                raise ValueError(f"tools of type {data['type']!r} are not supported")
            return {key: value for key, value in data.items() if value is not None}
        return data

    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(self.name, self.description, self.parameters)


class NamedTool(WireModel):
    """A tool choice that names one function."""

    type: Literal["function"]
    name: str


ToolChoice = Literal["auto", "none", "required"] | NamedTool


class Reasoning(WireModel):
    """How hard to think."""

    effort: Literal["none", "minimal", "instant", "low", "medium", "high", "xhigh"] | None = None


class Quicksilver(WireModel):
    """What this server offers beyond the protocol."""

    events: list[Extension] = Field(default=[])
    agent_tools: list[str] | None = None
    greet: bool = True


class SessionObject(WireModel):
    """The session as the client sees it."""

    type: Literal["realtime", "transcription"] = "realtime"
    model: str = ""
    output_modalities: list[Literal["audio", "text"]] = Field(
        default=["audio"], min_length=1, max_length=1
    )
    instructions: str = ""
    tools: list[FunctionTool] = Field(default=[], max_length=128)
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
    def transcribes(self) -> bool:
        """Whether the client wants transcripts alone, and no replies."""
        return self.type == "transcription"


def merged(current: SessionObject, changes: dict[str, Any], path: str = "session") -> SessionObject:
    """The session after a client's partial change.

    Objects merge field by field; one whose ``type`` changes is replaced, since the old fields
    belong to the old type. ``null`` resets what may be null and leaves alone what may not.

    Args:
        current: The session so far.
        changes: What the client sent.
        path: Where ``changes`` stands in the client's event, for errors.

    Raises:
        ProtocolError: A field has a wrong value, or is one of the beta version's; a tool's
            parameters are no JSON schema.
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
        _check_schemas(changed.tools, f"{path}.tools")
    return changed


def echo(session: SessionObject, session_id: str, model: str, voice: str) -> dict[str, Any]:
    """The session in full for ``session.created`` and ``session.updated``."""
    tree = session.model_dump()
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


def _check_schemas(tools: Sequence[FunctionTool], path: str) -> None:
    from dlm.server.errors import ApiError
    from dlm.server.tool_schemas import check_form

    for index, tool in enumerate(tools):
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
            # Of one that has another type now nothing stays.
            same = value.get("type", before.get("type")) == before.get("type")
            tree[key] = _merge(before if same else {}, value)
        else:
            tree[key] = value
    return tree
