"""Request bodies as pydantic models, and their parsing from bytes.

Known fields that would change the answer, but are not supported, are refused. Unknown fields are
ignored, and named in the answer's ``warning``. Rules that concern several fields are in
`dlm.server.conversion`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from dlm.server.errors import ApiError, invalid

# Accepted because clients always send them; they have no effect.
WITHOUT_EFFECT = {
    "metadata",
    "prompt_cache_key",
    "realtime",
    "reasoning_summary_wait",
    "safety_identifier",
    "service_tier",
    "store",
    "user",
}
# Not supported, each with the values that are accepted because they ask for nothing.
NOT_SUPPORTED: dict[str, tuple[Any, ...]] = {
    "audio": (None,),
    "background": (None, False),
    "best_of": (None, 1),
    "conversation": (None,),
    "echo": (None, False),
    "frequency_penalty": (None, 0),
    "function_call": (None,),
    "functions": (None, []),
    "logit_bias": (None, {}),
    "logprobs": (None, False),
    "modalities": (None, ["text"]),
    "presence_penalty": (None, 0),
    "previous_response_id": (None,),
    "prompt": (None,),
    "repetition_penalty": (None, 1),
    "top_k": (None, -1, 0),
    "top_logprobs": (None, 0),
    "truncation": (None, "disabled"),
    "web_search_options": (None,),
}
_NOTHING_KEPT = "no responses are kept; send the items of the whole dialogue as input"
_WHY_NOT = {
    "conversation": _NOTHING_KEPT,
    "previous_response_id": _NOTHING_KEPT,
    "prompt": "no prompts are kept; send its text as instructions",
    "truncation": "a dialogue that is too long is refused; leave out its oldest items",
}

MAX_CHOICES = 4
MAX_MESSAGES = 2048
MAX_PARTS = 2048
MAX_TOOLS = 128
MAX_STOPS = 16
MAX_QUOTED = 80
TOOL_NAME = r"^[a-zA-Z0-9_-]{1,64}$"

Item = TypeVar("Item")
# For a list whose items are all wrong, one error each would take hundreds of times its bytes.
Listed = Annotated[list[Item], Field(fail_fast=True)]
Parts = Annotated[Listed[Item], Field(max_length=MAX_PARTS)]

# OpenAI's names as well as Mercury's.
EffortName = Literal["instant", "low", "medium", "high", "none", "minimal", "xhigh"]


class Part(BaseModel):
    """An object inside a body."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class TextPart(Part):
    """Text inside a message."""

    type: Literal["text"]
    text: str


class RefusalPart(Part):
    """A refusal in an earlier answer."""

    type: Literal["refusal"]
    refusal: str


Text = str | Parts[TextPart]
AnswerText = str | Parts[Annotated[TextPart | RefusalPart, Field(discriminator="type")]]


class SystemMessage(Part):
    """Instructions."""

    role: Literal["system", "developer"]
    content: Text


class UserMessage(Part):
    """A user's message."""

    role: Literal["user"]
    content: Text


class CalledFunction(Part):
    """The function of a call, with its arguments as JSON text."""

    name: str = Field(min_length=1)
    arguments: str


class ToolCall(Part):
    """A call that an earlier answer made."""

    id: str
    type: Literal["function"] = "function"
    function: CalledFunction


class AssistantMessage(Part):
    """An earlier answer."""

    role: Literal["assistant"]
    content: AnswerText | None = None
    tool_calls: Parts[ToolCall] | None = None


class ToolMessage(Part):
    """A tool's result."""

    role: Literal["tool"]
    content: Text
    tool_call_id: str


Message = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]


class Function(Part):
    """A function that may be called; ``parameters`` is a JSON schema of type object."""

    name: str = Field(pattern=TOOL_NAME)
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionTool(Part):
    """A tool."""

    type: Literal["function"]
    function: Function


class FunctionName(Part):
    """Names a function."""

    name: str


class NamedTool(Part):
    """The tool that must be called."""

    type: Literal["function"]
    function: FunctionName


class AllowedTools(Part):
    """Some of the tools, of which one may or must be called."""

    mode: Literal["auto", "required"]
    tools: Parts[NamedTool] = Field(min_length=1)


class AllowedToolChoice(Part):
    """The tools that may be called in this answer."""

    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


class TextFormat(Part):
    """Plain text."""

    type: Literal["text"]


class JsonObjectFormat(Part):
    """Any JSON object."""

    type: Literal["json_object"]


class NamedSchema(Part):
    """A JSON schema, which is always enforced strictly."""

    name: str = Field(pattern=TOOL_NAME)
    description: str | None = None
    schema_: dict[str, Any] = Field(default={}, alias="schema")
    strict: bool | None = None


class JsonSchemaFormat(Part):
    """JSON that validates against a schema."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


class RegexFormat(Part):
    """Text that matches a pattern of Rust's regex syntax; not in OpenAI's API."""

    type: Literal["regex"]
    pattern: str = Field(min_length=1)


class LarkFormat(Part):
    """Text of a grammar in llguidance's Lark dialect; not in OpenAI's API."""

    type: Literal["lark"]
    grammar: str = Field(min_length=1)


ResponseFormat = Annotated[
    TextFormat | JsonObjectFormat | JsonSchemaFormat | RegexFormat | LarkFormat,
    Field(discriminator="type"),
]


class StreamOptions(Part):
    """What a stream contains besides the answer."""

    include_usage: bool | None = None


class Prediction(Part):
    """An earlier answer to be revised: OpenAI's predicted output."""

    type: Literal["content"]
    content: Text


class Generation(BaseModel):
    """A request's body: the fields of every endpoint."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    model: str
    max_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    stop: Annotated[Listed[str], Field(max_length=MAX_STOPS)] | str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=MAX_CHOICES)
    reasoning_effort: EffortName | None = None

    def warning(self) -> str | None:
        """A text that names unknown fields, which have no effect; None if there are none."""
        ignored = sorted((self.model_extra or {}).keys() - WITHOUT_EFFECT - NOT_SUPPORTED.keys())
        return f"ignored: {', '.join(ignored)}" if ignored else None


class ChatRequest(Generation):
    """``POST /v1/chat/completions``."""

    messages: Listed[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    tools: Listed[FunctionTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: (
        Literal["auto", "none", "required"]
        | Annotated[NamedTool | AllowedToolChoice, Field(discriminator="type")]
        | None
    ) = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    prediction: Prediction | None = None
    diffusing: bool | None = None
    reasoning_summary: bool | None = None


class CompletionRequest(Generation):
    """``POST /v1/completions``: text that continues the prompt."""

    prompt: str | Annotated[Listed[str], Field(max_length=MAX_CHOICES)]
    suffix: str | None = None


class FimRequest(Generation):
    """``POST /v1/fim/completions``: text between prompt and suffix."""

    prompt: str
    suffix: str | None = None


class RewriteRequest(Generation):
    """``POST /v1/edit/completions`` and ``POST /v1/apply/completions``: one message of sections."""

    messages: Listed[UserMessage] = Field(min_length=1, max_length=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)


Checked = TypeVar("Checked", bound=Generation)


def parsed(kind: type[Checked], body: bytes) -> Checked:
    """Parse and check a body.

    Raises:
        ApiError: It is not a JSON object, or not one that the endpoint takes.
    """
    try:
        raw = pydantic_core.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise ApiError(400, f"the body is not JSON: {error}", "invalid_json") from error
    if not isinstance(raw, dict):
        raise ApiError(400, "the body is not a JSON object", "invalid_json")
    return validated(kind, raw)


def validated(kind: type[Checked], raw: dict[str, Any]) -> Checked:
    """Like `parsed`, for a JSON object that has been parsed already."""
    try:
        checked = kind.model_validate(raw)
    except ValidationError as error:
        raise _deepest(error, raw) from error
    for name, neutral in NOT_SUPPORTED.items():
        value = (checked.model_extra or {}).get(name)
        # In Python True equals 1 and False 0, but ``logprobs: 0`` asks for those of chosen tokens.
        if not any(
            value == one and isinstance(value, bool) == isinstance(one, bool) for one in neutral
        ):
            why = f": {_WHY_NOT[name]}" if name in _WHY_NOT else ""
            raise invalid(name, f"is not supported{why}", "unsupported_parameter")
    return checked


def _deepest(error: ValidationError, raw: dict[str, Any]) -> ApiError:
    """The deepest error: it belongs to the branch of a union that fits best.

    Of equally deep errors, one from a branch for values of this type is taken: an empty list is too
    short, rather than not a text. A wrong ``type`` is taken before fields that it does not have.
    """
    located = [(_path(one, raw), one) for one in error.errors(include_url=False)]

    def fit(one: tuple[list[str | int], ErrorDetails]) -> tuple[int, bool, bool]:
        path, found = one
        return len(path), not found["type"].endswith("_type"), path[-1:] == ["type"]

    path, found = max(located, key=fit)
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    param = "".join(steps).removeprefix(".")
    if found["type"] == "missing":
        return invalid(param, found["msg"].lower(), "missing_required_parameter")
    if found["type"] == "literal_error" and len(got := repr(found["input"])) <= MAX_QUOTED:
        return invalid(param, f"got {got}, expected {found['ctx']['expected']}")
    return invalid(param, found["msg"])


def _path(error: ErrorDetails, raw: Any) -> list[str | int]:
    """The path of an error in the body, without the names of a union's branches."""
    path: list[str | int] = []
    here = raw
    loc = error["loc"]
    for step in loc:
        if isinstance(step, int) and isinstance(here, list) and step < len(here):  # noqa: SIM114
            here = here[step]
        elif isinstance(here, dict) and step in here:
            here = here[step]
        elif step != loc[-1] or not isinstance(here, dict) or error["type"] != "missing":
            continue
        else:
            here = None
        path.append(step)
    return path
