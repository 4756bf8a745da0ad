"""Converts request bodies to the engine's requests.

Rules that concern several fields are checked here: a tool's result must answer a call, a named tool
must be declared, and a tool's parameters must be a JSON schema.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pydantic_core

from dlm.effort import Effort
from dlm.engine.request import Request
from dlm.grammar.formats import AnswerFormat, JsonSchema, Lark, Regex
from dlm.language.messages import Call, Tool, Turn
from dlm.language.references import MAX_LEVELS, with_definitions
from dlm.server.bodies import (
    MAX_CHOICES,
    AssistantMessage,
    ChatRequest,
    CompletionRequest,
    FimRequest,
    FunctionTool,
    Generation,
    JsonObjectFormat,
    JsonSchemaFormat,
    LarkFormat,
    Message,
    NamedTool,
    RefusalPart,
    RegexFormat,
    ResponseFormat,
    RewriteRequest,
    TextPart,
    ToolMessage,
)
from dlm.server.errors import invalid
from dlm.server.prompted_schema import take_schema
from dlm.server.tool_schemas import check_parameters, check_schema

FIM_TOKENS = 512

_EFFORTS = {"none": Effort.INSTANT, "minimal": Effort.INSTANT, "xhigh": Effort.HIGH}
_FIM = "Write what stands between the text that the answer begins with and this:"


def chat_requests(body: ChatRequest) -> list[Request]:
    """A request for each choice.

    Raises:
        ApiError: Fields contradict each other, or ask for something impossible.
    """
    wanted, dialogue = _format(body.response_format), turns(body.messages)
    if isinstance(body.response_format, JsonObjectFormat):
        schema, dialogue = take_schema(dialogue)
        wanted = wanted if schema is None else JsonSchema(schema)
    tools = tuple(_tool(tool, i) for i, tool in enumerate(body.tools or ()))
    choice, barred = _tool_choice(body, [tool.name for tool in tools])
    request = Request(
        turns=dialogue,
        tools=tools,
        tool_choice=choice,
        barred=barred,
        parallel=body.parallel_tool_calls is not False,
        format=wanted,
        draft=_text(body.prediction.content) if body.prediction else None,
        max_tokens=body.max_completion_tokens or body.max_tokens or 0,
    )
    return _choices(body, request)


def _tool_choice(body: ChatRequest, names: Sequence[str]) -> tuple[str, frozenset[str]]:
    """`Request.tool_choice` and `Request.barred`, for tools of some names."""
    choice = body.tool_choice or "auto"
    if len(set(names)) < len(names):
        raise invalid("tools", f"got {names}, expected different names")
    if isinstance(choice, str):
        if choice == "required" and not names:
            raise invalid("tool_choice", "got 'required', expected tools beside it")
        return choice, frozenset()
    named = [choice] if isinstance(choice, NamedTool) else choice.allowed_tools.tools
    allowed = [tool.function.name for tool in named]
    for name in allowed:
        if name not in names:
            raise invalid("tool_choice", f"got {name!r}, expected one of {names}")
    obliges = isinstance(choice, NamedTool) or choice.allowed_tools.mode == "required"
    mode = "required" if obliges else "auto"
    one = obliges and len(set(allowed)) == 1
    return allowed[0] if one else mode, frozenset(names) - frozenset(allowed)


def completion_requests(body: CompletionRequest) -> list[Request]:
    """A request for each prompt and choice."""
    prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
    if not 1 <= len(prompts) * (body.n or 1) <= MAX_CHOICES:
        raise invalid("prompt", f"got {len(prompts)}, expected 1 to {MAX_CHOICES} answers in all")
    made = (_infill(prompt, body.suffix, body.max_tokens) for prompt in prompts)
    return [request for one in made for request in _choices(body, one)]


def fim_requests(body: FimRequest) -> list[Request]:
    """A request for each choice."""
    return _choices(body, _infill(body.prompt, body.suffix, body.max_tokens or FIM_TOKENS))


def rewrite_requests(body: RewriteRequest, section: str, *needed: str) -> list[Request]:
    """A request for each choice, with the section to rewrite as the draft that the answer revises.

    Args:
        body: Its message holds sections, ``<|name|> … <|/name|>``.
        section: Name of the section to rewrite.
        needed: Names of other sections that the message must have.

    Raises:
        ApiError: A section is missing.
    """
    message = _text(body.messages[0].content)
    for name in (section, *needed):
        if f"<|{name}|>" not in message:
            raise invalid("messages[0].content", f"got no <|{name}|>, which is needed")
    text = message.partition(f"<|{section}|>")[2].partition(f"<|/{section}|>")[0]
    draft = text.replace("<|cursor|>", "").strip()
    longest = body.max_completion_tokens or body.max_tokens or 0
    asked = turns(body.messages)
    # No reasoning, because the answer is mostly a copy of the draft.
    request = Request(asked, draft=draft or None, max_tokens=longest, reasoning=False)
    return _choices(body, request)


def characters(request: Request) -> int:
    """Total length of the texts that the prompt may be made of; schemas and arguments as JSON."""
    calls = [call for turn in request.turns for call in turn.calls]
    texts = [request.prefix, *(turn.content for turn in request.turns)]
    texts += [call.name for call in calls]
    texts += [text for tool in request.tools for text in (tool.name, tool.description)]
    # Whole objects: names of arguments become tokens too, and options may be anywhere in a schema.
    objects = [call.arguments for call in calls] + [tool.parameters for tool in request.tools]
    if isinstance(request.format, JsonSchema):
        objects.append(request.format.schema)
    texts += [json.dumps(one, ensure_ascii=False) for one in objects]
    return sum(map(len, texts))


def turns(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """The dialogue, with results of tools in the order of the calls that they answer.

    Raises:
        ApiError: A result answers no call, or arguments are not a JSON object.
    """
    out: list[Turn] = []
    open_calls: dict[str, int] = {}
    # Results by the index of their call.
    results: dict[int, Turn] = {}
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in open_calls:
                got = f"got {message.tool_call_id!r}, which is the id of no call before it"
                raise invalid(f"{where}.tool_call_id", got)
            results[open_calls.pop(message.tool_call_id)] = Turn("tool", _text(message.content))
            continue
        out += [results[order] for order in sorted(results)]
        results = {}
        calls: tuple[Call, ...] = ()
        if isinstance(message, AssistantMessage):
            calls = _calls(message, where)
            open_calls = {call.id: i for i, call in enumerate(message.tool_calls or ())}
            if message.content is None and not calls:
                raise invalid(f"{where}.content", "got null, expected text or tool_calls")
        role = "system" if message.role == "developer" else message.role
        out.append(Turn(role, _text(message.content or ""), calls))
    return (*out, *(results[order] for order in sorted(results)))


def _calls(message: AssistantMessage, where: str) -> tuple[Call, ...]:
    calls = []
    for index, call in enumerate(message.tool_calls or ()):
        try:
            arguments = pydantic_core.from_json(
                call.function.arguments or "{}", allow_inf_nan=False
            )
        except ValueError:
            # This also refuses half of a surrogate pair, which no tokenizer accepts.
            arguments = None
        if not isinstance(arguments, dict):
            field = f"{where}.tool_calls[{index}].function.arguments"
            raise invalid(field, "got no JSON object")
        calls.append(Call(call.function.name, arguments))
    return tuple(calls)


def _text(content: str | Sequence[TextPart | RefusalPart]) -> str:
    if isinstance(content, str):
        return content
    texts = (part.text if isinstance(part, TextPart) else part.refusal for part in content)
    return "\n".join(texts)


def _tool(tool: FunctionTool, index: int) -> Tool:
    function = tool.function
    parameters = function.parameters or {}
    check_parameters(parameters, f"tools[{index}].function.parameters")
    return Tool(function.name, function.description or "", with_definitions(parameters))


def _format(response_format: ResponseFormat | None) -> AnswerFormat | None:
    match response_format:
        case JsonObjectFormat():
            return JsonSchema({"type": "object"})
        case JsonSchemaFormat():
            schema = response_format.json_schema.schema_
            check_schema(schema, "response_format.json_schema.schema", MAX_LEVELS)
            return JsonSchema(schema)
        case RegexFormat():
            return Regex(response_format.pattern)
        case LarkFormat():
            return Lark(response_format.grammar)
        case _:
            return None


def _infill(prompt: str, suffix: str | None, max_tokens: int | None) -> Request:
    asked = (Turn("user", f"{_FIM}\n{suffix}"),) if suffix else ()
    return Request(asked, prefix=prompt, max_tokens=max_tokens or 0, reasoning=False)


def _choices(body: Generation, request: Request) -> list[Request]:
    """The request once for each choice, with the fields that all endpoints share."""
    stop = [body.stop] if isinstance(body.stop, str) else body.stop or []
    if any(not text for text in stop):
        raise invalid("stop", "got an empty text")
    # More effort does not improve the answers of the shipped checkpoint (docs/LOG.md).
    named = body.reasoning_effort or "instant"
    effort = _EFFORTS[named] if named in _EFFORTS else Effort(named)
    return [
        replace(
            request,
            effort=effort,
            temperature=body.temperature or 0.0,
            top_p=1.0 if body.top_p is None else body.top_p,
            seed=None if body.seed is None else body.seed + index,
            stop=tuple(stop),
        )
        for index in range(body.n or 1)
    ]
