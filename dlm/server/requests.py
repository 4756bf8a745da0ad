"""What the endpoints take, as pydantic models; rules across fields are in `dlm.server.reading`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from dlm.server.body import Body, Part

MAX_CHOICES = 4
MAX_MESSAGES = 2048
MAX_PARTS = 2048
MAX_TOOLS = 128
MAX_STOPS = 16
TOOL_NAME = r"^[a-zA-Z0-9_-]{1,64}$"

Item = TypeVar("Item")
# Of a list whose items are all wrong, an error for each would take hundreds of times its bytes.
Listed = Annotated[list[Item], Field(fail_fast=True)]
Parts = Annotated[Listed[Item], Field(max_length=MAX_PARTS)]

# OpenAI's names beside Mercury's.
EffortName = Literal["instant", "low", "medium", "high", "none", "minimal", "xhigh"]


class TextPart(Part):
    """Text inside a message."""

    type: Literal["text"]
    text: str


class RefusalPart(Part):
    """A refusal that an earlier answer held."""

    type: Literal["refusal"]
    refusal: str


Text = str | Parts[TextPart]
AnswerText = str | Parts[Annotated[TextPart | RefusalPart, Field(discriminator="type")]]


class SystemMessage(Part):
    """Instructions."""

    role: Literal["system", "developer"]
    content: Text


class UserMessage(Part):
    """What the user said."""

    role: Literal["user"]
    content: Text


class CalledFunction(Part):
    """What was called, its arguments as JSON text."""

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
    """What a tool returned."""

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
    """The tool that has to be called."""

    type: Literal["function"]
    function: FunctionName


class TextFormat(Part):
    """Plain text."""

    type: Literal["text"]


class JsonObjectFormat(Part):
    """Any JSON object."""

    type: Literal["json_object"]


class NamedSchema(Part):
    """A JSON schema, always held strictly."""

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
    """What a stream holds besides the answer."""

    include_usage: bool | None = None


class Prediction(Part):
    """An earlier answer that is to be revised: OpenAI's predicted output."""

    type: Literal["content"]
    content: Text


class Generation(Body):
    """What every endpoint that generates takes."""

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


class ChatRequest(Generation):
    """``POST /v1/chat/completions``."""

    messages: Listed[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    tools: Listed[FunctionTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    prediction: Prediction | None = None
    diffusing: bool | None = None
    reasoning_summary: bool | None = None


class CompletionRequest(Generation):
    """``POST /v1/completions``: text that goes on with the prompt."""

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
