"""``POST /v1/responses``: OpenAI's Responses API, read as a request for a chat completion.

Responses are not stored, so one cannot be continued by its id: clients send the whole dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dlm.engine.request import Request
from dlm.server.bodies import (
    MAX_MESSAGES,
    MAX_TOOLS,
    TOOL_NAME,
    ChatRequest,
    EffortName,
    Function,
    Generation,
    JsonObjectFormat,
    LarkFormat,
    Listed,
    NamedSchema,
    Part,
    Parts,
    RegexFormat,
    TextFormat,
    validated,
)
from dlm.server.conversion import chat_requests
from dlm.server.errors import ApiError

# Beginnings of paths in the body of a chat completion, and their equivalents in this API's bodies.
_PATHS = (
    (r"messages.*", "input"),
    (r"max_tokens", "max_output_tokens"),
    (r"response_format(\.json_schema)?", "text.format"),
    (r"(tools\[\d+\])\.function", r"\1"),
)


class InputText(Part):
    """Text of a message from either side, or a refusal."""

    type: Literal["input_text", "output_text", "refusal"]
    text: str = ""
    refusal: str = ""


class InputMessage(Part):
    """A message; ``type`` may be left out."""

    type: Literal["message"] = "message"
    role: Literal["system", "developer", "user", "assistant"]
    content: str | Parts[InputText]


class InputCall(Part):
    """A call that an earlier response made, with its arguments as JSON text."""

    type: Literal["function_call"]
    call_id: str
    name: str = Field(min_length=1)
    arguments: str


class InputResult(Part):
    """A tool's result."""

    type: Literal["function_call_output"]
    call_id: str
    output: str | Parts[InputText]


class InputReasoning(Part):
    """Reasoning of an earlier response, which later prompts leave out."""

    type: Literal["reasoning"]


_ITEM_TYPES = (
    "Input should be an item of type message, function_call, function_call_output or reasoning"
)


def _kind(item: Any) -> Any:
    return item.get("type", "message") if isinstance(item, dict) else getattr(item, "type", None)


InputItem = Annotated[
    Annotated[InputMessage, Tag("message")]
    | Annotated[InputCall, Tag("function_call")]
    | Annotated[InputResult, Tag("function_call_output")]
    | Annotated[InputReasoning, Tag("reasoning")],
    Discriminator(_kind, custom_error_type="unknown_item", custom_error_message=_ITEM_TYPES),
]


class ResponseTool(Function):
    """A tool."""

    type: Literal["function"]


class ChosenTool(Part):
    """The tool that must be called."""

    type: Literal["function"]
    name: str = Field(pattern=TOOL_NAME)


class AllowedResponseTools(Part):
    """The tools that may be called in this response, of which one must be if it is required."""

    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: Parts[ChosenTool] = Field(min_length=1)


class ResponseSchema(NamedSchema):
    """JSON that validates against a schema."""

    type: Literal["json_schema"]


class TextOptions(Part):
    """The format of the text."""

    format: (
        Annotated[
            TextFormat | JsonObjectFormat | ResponseSchema | RegexFormat | LarkFormat,
            Field(discriminator="type"),
        ]
        | None
    ) = None


class ReasoningOptions(Part):
    """How much the model reasons, and whether the response shows it."""

    effort: EffortName | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None


class ResponseRequest(Generation):
    """``POST /v1/responses``."""

    input: str | Annotated[Listed[InputItem], Field(min_length=1, max_length=MAX_MESSAGES)]
    instructions: str | None = None
    max_output_tokens: int | None = Field(default=None, ge=1)
    tools: Listed[ResponseTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: (
        Literal["auto", "none", "required"]
        | Annotated[ChosenTool | AllowedResponseTools, Field(discriminator="type")]
        | None
    ) = None
    parallel_tool_calls: bool | None = None
    text: TextOptions | None = None
    reasoning: ReasoningOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1)


def response_requests(body: ResponseRequest) -> list[Request]:
    """The engine's request, in a list of one.

    Raises:
        ApiError: Fields contradict each other, or ask for something impossible. It names fields of
            a chat completion; see `renamed`.
    """
    messages, places = _messages(body)
    try:
        return chat_requests(validated(ChatRequest, _chat(body, messages)))
    except ApiError as error:
        if error.param not in places:
            raise
        raise _moved(error, places[error.param]) from None


def renamed(error: ApiError) -> ApiError:
    """An error about a field of a chat completion, changed to name this API's field."""
    if error.param is None:
        return error
    param = error.param
    for theirs, ours in _PATHS:
        param = re.sub(f"^{theirs}", ours, param)
    return _moved(error, param)


def _moved(error: ApiError, param: str) -> ApiError:
    message = str(error).replace(error.param or "", param, 1)
    return ApiError(error.status, message, error.code, param)


def _chat(body: ResponseRequest, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The body of a chat completion that asks for the same."""
    tools = [
        {"type": "function", "function": tool.model_dump(exclude={"type"}, exclude_none=True)}
        for tool in body.tools or ()
    ]
    asked: dict[str, Any] = {
        "model": body.model,
        "messages": messages,
        "max_tokens": body.max_output_tokens or body.max_tokens,
        "temperature": body.temperature,
        "top_p": body.top_p,
        "seed": body.seed,
        "stop": body.stop,
        "reasoning_effort": (body.reasoning and body.reasoning.effort) or body.reasoning_effort,
        "tools": tools or None,
        "tool_choice": _choice(body.tool_choice),
        "parallel_tool_calls": body.parallel_tool_calls,
        "response_format": _format(body.text),
    }
    return {name: value for name, value in asked.items() if value is not None}


def _choice(choice: str | ChosenTool | AllowedResponseTools | None) -> Any:
    match choice:
        case ChosenTool():
            return {"type": "function", "function": {"name": choice.name}}
        case AllowedResponseTools():
            allowed = {"mode": choice.mode, "tools": [_choice(tool) for tool in choice.tools]}
            return {"type": "allowed_tools", "allowed_tools": allowed}
        case _:
            return choice


def _format(text: TextOptions | None) -> dict[str, Any] | None:
    wanted = text and text.format
    if isinstance(wanted, ResponseSchema):
        named = wanted.model_dump(by_alias=True, exclude={"type"}, exclude_none=True)
        return {"type": "json_schema", "json_schema": named}
    return wanted.model_dump() if wanted else None


def _messages(body: ResponseRequest) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The messages, and the places of results and arguments: path there → path in the body."""
    out: list[dict[str, Any]] = []
    places: dict[str, str] = {}
    if body.instructions:
        out.append({"role": "system", "content": body.instructions})
    if isinstance(body.input, str):
        return [*out, {"role": "user", "content": body.input}], places
    for index, item in enumerate(body.input):
        match item:
            case InputMessage():
                out.append({"role": item.role, "content": _text(item.content)})
            case InputResult():
                places[f"messages[{len(out)}].tool_call_id"] = f"input[{index}].call_id"
                result = {"tool_call_id": item.call_id, "content": _text(item.output)}
                out.append({"role": "tool", **result})
            case InputCall():
                # In this API, the calls of one answer are separate items.
                if not out or out[-1]["role"] != "assistant":
                    out.append({"role": "assistant", "content": None})
                called = {"name": item.name, "arguments": item.arguments}
                calls = out[-1].setdefault("tool_calls", [])
                there = f"messages[{len(out) - 1}].tool_calls[{len(calls)}].function.arguments"
                places[there] = f"input[{index}].arguments"
                calls.append({"id": item.call_id, "function": called})
    return out, places


def _text(content: str | Sequence[InputText]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.text or part.refusal for part in content)
