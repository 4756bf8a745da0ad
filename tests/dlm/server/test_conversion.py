"""From request bodies to the engine's requests, and the form of tools' parameters."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from dlm.effort import Effort
from dlm.engine.request import Request
from dlm.grammar.formats import JsonSchema, Lark, Regex
from dlm.language.messages import Call, Tool, Turn
from dlm.server.bodies import ChatRequest, CompletionRequest, FimRequest, RewriteRequest, parsed
from dlm.server.conversion import (
    FIM_TOKENS,
    chat_requests,
    completion_requests,
    fim_requests,
    rewrite_requests,
)
from dlm.server.errors import ApiError
from dlm.server.tool_schemas import check_form, check_parameters

HELLO = {"role": "user", "content": "hello"}
SIZES = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
TOOL = {"type": "function", "function": {"name": "f", "description": "F.", "parameters": SIZES}}


def chat(**fields: Any) -> list[Request]:
    raw = json.dumps({"model": "m", "messages": [HELLO], **fields}).encode()
    return chat_requests(parsed(ChatRequest, raw))


def refused(**fields: Any) -> str | None:
    with pytest.raises(ApiError) as raised:
        chat(**fields)
    assert raised.value.status == 400
    return raised.value.param


def allowed(mode: str, *names: str) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


@pytest.mark.parametrize(
    ("mode", "names", "choice", "barred"),
    [
        ("auto", "f", "auto", "gh"),
        ("required", "f", "f", "gh"),
        ("required", "fh", "required", "g"),
    ],
)
def test_tools_that_are_not_allowed_are_barred(
    mode: str, names: str, choice: str, barred: str
) -> None:
    tools = [{**TOOL, "function": {**TOOL["function"], "name": name}} for name in "fgh"]
    (request,) = chat(tools=tools, tool_choice=allowed(mode, *names))
    assert [tool.name for tool in request.tools] == ["f", "g", "h"]
    assert (request.tool_choice, request.barred) == (choice, frozenset(barred))


def called(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": one, "type": "function", "function": {"name": "f", "arguments": f'{{"size": {i}}}'}}
        for i, one in enumerate(ids)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


@pytest.mark.parametrize("role", ["system", "user"])
def test_a_schema_in_the_prompt_binds_an_object(role: str) -> None:
    text = f'Be brief {{"so": 1}}. JSON schema:\n{json.dumps(SIZES)}\nAnswer with JSON.'
    messages = [{"role": role, "content": text}, HELLO]
    (request,) = chat(messages=messages, response_format={"type": "json_object"})
    assert request.format == JsonSchema(SIZES)
    assert request.turns[0].content == 'Be brief {"so": 1}. JSON schema:\n\nAnswer with JSON.'
    (as_text,) = chat(messages=messages)
    assert (as_text.format, as_text.turns[0].content) == (None, text)


NESTED_TEXT = '{"type": "object", "properties": {"a": ' * 300 + "{}" + "}}" * 300


@pytest.mark.parametrize(
    "text",
    [
        *("none", "{" * 5000, '{"type": "object"}', '{"a": {}} {"type', NESTED_TEXT),
        '{"type": "object", "properties": {"a": {"anyOf": 5}}}',
        r'{"type": "object", "properties": {"a\ud800": {}}}',
    ],
)
def test_a_prompt_without_a_schema_leaves_an_object_free(text: str) -> None:
    messages = [{"role": "user", "content": text}]
    (request,) = chat(messages=messages, response_format={"type": "json_object"})
    assert request.format == JsonSchema({"type": "object"})
    assert request.turns == (Turn("user", text),)


def test_a_plain_question() -> None:
    (request,) = chat()
    assert request == Request(
        (Turn("user", "hello"),), effort=Effort.INSTANT, max_tokens=0, priority=0
    )


def test_all_that_can_be_asked_for() -> None:
    first, second = chat(
        messages=[
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": t} for t in ("a", "b")]},
        ],
        tools=[TOOL],
        tool_choice={"type": "function", "function": {"name": "f"}},
        parallel_tool_calls=False,
        temperature=0.5,
        top_p=0.9,
        seed=7,
        stop=["x", "y"],
        n=2,
        reasoning_effort="instant",
        max_tokens=5,
        max_completion_tokens=9,
        prediction={"type": "content", "content": "before"},
    )
    assert first == Request(
        turns=(Turn("system", "Be kind."), Turn("user", "a\nb")),
        tools=(Tool("f", "F.", SIZES),),
        tool_choice="f",
        effort=Effort.INSTANT,
        max_tokens=9,
        parallel=False,
        temperature=0.5,
        top_p=0.9,
        seed=7,
        stop=("x", "y"),
        draft="before",
    )
    assert second.seed == 8


@pytest.mark.parametrize(
    ("name", "effort"),
    [
        ("none", Effort.INSTANT),
        ("minimal", Effort.INSTANT),
        ("instant", Effort.INSTANT),
        ("low", Effort.LOW),
        ("high", Effort.HIGH),
        ("xhigh", Effort.HIGH),
    ],
)
def test_efforts_of_both_apis(name: str, effort: Effort) -> None:
    assert chat(reasoning_effort=name)[0].effort is effort


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, JsonSchema({"type": "object"})),
        (
            {"type": "json_schema", "json_schema": {"name": "s", "schema": SIZES, "strict": True}},
            JsonSchema(SIZES),
        ),
        ({"type": "regex", "pattern": "a+"}, Regex("a+")),
        ({"type": "lark", "grammar": 'start: "a"'}, Lark('start: "a"')),
    ],
)
def test_formats(asked: dict[str, Any], wanted: object) -> None:
    assert chat(response_format=asked)[0].format == wanted


def test_results_stand_in_the_order_of_their_calls() -> None:
    (request,) = chat(
        messages=[HELLO, called("a", "b"), result("b", "second"), result("a", "first"), HELLO]
    )
    assert request.turns[1] == Turn(
        "assistant", "", (Call("f", {"size": 0}), Call("f", {"size": 1}))
    )
    assert [turn.content for turn in request.turns[2:]] == ["first", "second", "hello"]
    (request,) = chat(messages=[HELLO, called("a", "b"), result("b", "2"), result("a", "1")])
    assert [turn.content for turn in request.turns[2:]] == ["1", "2"]


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([HELLO, result("a", "x")], "messages[1].tool_call_id"),
        ([HELLO, called("a"), result("b", "x")], "messages[2].tool_call_id"),
        ([HELLO, called("a"), result("a", "x"), result("a", "y")], "messages[3].tool_call_id"),
        ([HELLO, {"role": "assistant"}], "messages[1].content"),
    ],
)
def test_dialogues_that_contradict_themselves(messages: list[Any], param: str) -> None:
    assert refused(messages=messages) == param


@pytest.mark.parametrize(
    "arguments",
    [
        *("[", "[]", '{"size": NaN}', f'{{"size": {"[" * 9000}'),
        # Half of a pair: no tokenizer takes it.
        r'{"name": "\ud800"}',
    ],
)
def test_arguments_that_are_no_json_object(arguments: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    messages = [{"role": "assistant", "tool_calls": [call]}]
    assert refused(messages=messages) == "messages[0].tool_calls[0].function.arguments"


def function(**parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": parameters}}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [TOOL, TOOL]}, "tools"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": allowed("auto", "g")}, "tool_choice"),
        ({"tools": [TOOL, function(anyOf=[])]}, "tools[1].function.parameters.anyOf"),
        ({"stop": ""}, "stop"),
        ({"stop": ["a", ""]}, "stop"),
    ],
)
def test_fields_that_contradict_each_other(fields: dict[str, Any], param: str) -> None:
    assert refused(**fields) == param


def test_what_stands_beside_properties_in_pydantics_schemas() -> None:
    parameters = {**SIZES, "$defs": {}, "additionalProperties": False, "title": "F", "x-own": 1}
    assert chat(tools=[function(**parameters)])[0].tools[0].parameters == parameters
    bare = {"type": "function", "function": {"name": "f"}}
    assert chat(tools=[bare])[0].tools == (Tool("f", "", {}),)


def complete(**fields: Any) -> list[Request]:
    return completion_requests(
        parsed(CompletionRequest, json.dumps({"model": "m", **fields}).encode())
    )


def test_a_text_goes_on_with_its_prompt() -> None:
    requests = complete(prompt=["a", "b"], n=2, seed=3)
    assert [(one.prefix, one.seed, one.turns) for one in requests] == [
        ("a", 3, ()),
        ("a", 4, ()),
        ("b", 3, ()),
        ("b", 4, ()),
    ]


@pytest.mark.parametrize("fields", [{"prompt": []}, {"prompt": ["a"] * 3, "n": 2}])
def test_so_many_texts_and_no_more(fields: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match=r"^prompt: "):
        complete(**fields)


def test_between_two_texts() -> None:
    raw = {"model": "m", "prompt": "def f():", "suffix": "return x"}
    (request,) = fim_requests(parsed(FimRequest, json.dumps(raw).encode()))
    assert request.prefix == "def f():"
    assert request.turns[0].content.endswith("\nreturn x")
    assert request.max_tokens == FIM_TOKENS


def rewrite(content: str, section: str, *needed: str) -> Request:
    raw = {"model": "m", "messages": [{"role": "user", "content": content}]}
    body = parsed(RewriteRequest, json.dumps(raw).encode())
    return rewrite_requests(body, section, *needed)[0]


def test_a_section_is_the_draft_of_what_it_becomes() -> None:
    content = "<|code_to_edit|>\nx = <|cursor|>1\n<|/code_to_edit|> <|edit_diff_history|>"
    request = rewrite(content, "code_to_edit")
    assert request.draft == "x = 1"
    assert request.turns == (Turn("user", content),)
    assert rewrite("<|original_code|>a", "original_code").draft == "a"


def test_a_missing_section_is_named() -> None:
    with pytest.raises(ApiError, match=r"<\|code_to_edit\|>") as raised:
        rewrite("x = 1", "code_to_edit")
    assert raised.value.param == "messages[0].content"
    with pytest.raises(ApiError, match=r"<\|update_snippet\|>"):
        rewrite("<|original_code|>a", "original_code", "update_snippet")


WORDS = {"type": "string"}
NESTED = functools.reduce(lambda inner, _: {"items": inner}, range(500), WORDS)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object", "properties": {"a": WORDS}, "required": ["a"]},
        {"properties": {"a": {"anyOf": [WORDS, {"type": "null"}]}, "b": {"enum": [None]}}},
        {"properties": {"a": {"type": ["string", "null"]}}, "$defs": {"B": {}}, "x-mine": 3},
        {"properties": {"a": {"$ref": "#/$defs/B"}}, "$defs": {"B": {"items": True}}},
        {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "https://example.com/s"}}},
        {"properties": {"a": {"anyOf": [WORDS]}, "b": {"$ref": "#/properties/a/anyOf/0"}}},
        {
            "properties": {
                "a": {"properties": {"b": WORDS}, "required": ["c"]},
                "d": {"items": [WORDS]},
            }
        },
    ],
)
def test_what_is_taken(parameters: dict[str, Any]) -> None:
    check_parameters(parameters, "p")


@pytest.mark.parametrize(
    ("parameters", "param"),
    [
        ({"type": "string"}, "p.type"),
        ({"allOf": []}, "p.allOf"),
        ({"properties": []}, "p.properties"),
        ({"properties": {"a": True}}, "p.properties.a"),
        ({"properties": {"a": 3}}, "p.properties.a"),
        ({"$defs": {"a": []}}, "p.$defs.a"),
        ({"properties": {"a": {"type": 3}}}, "p.properties.a.type"),
        ({"properties": {"a": {"type": [3]}}}, "p.properties.a.type"),
        ({"properties": {"a": {"enum": []}}}, "p.properties.a.enum"),
        ({"properties": {"a": {"anyOf": 3}}}, "p.properties.a.anyOf"),
        ({"$defs": {"a": {"anyOf": [{"anyOf": [{}, 3]}]}}}, "p.$defs.a.anyOf[0].anyOf[1]"),
        ({"properties": {"a": {"items": {"type": "foo"}}}}, "p.properties.a.items.type"),
        ({"properties": {"a": {"items": [WORDS, 3]}}}, "p.properties.a.items[1]"),
        ({"properties": {"a": {"not": []}}}, "p.properties.a.not"),
        ({"properties": {"a": {"properties": []}}}, "p.properties.a.properties"),
        ({"properties": {"a": {"required": 5}}}, "p.properties.a.required"),
        ({"properties": {"a": {"$ref": 5}}}, "p.properties.a.$ref"),
        ({"properties": {"a": {"$ref": "#/nope"}}}, "p.properties.a.$ref"),
        ({"required": ["a"]}, "p.required"),
        ({"properties": {"a": NESTED}}, f"p.properties.a{'.items' * 31}"),
    ],
)
def test_what_is_not(parameters: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as raised:
        check_parameters(parameters, "p")
    assert raised.value.param == param


def test_what_another_model_may_take_is_well_formed() -> None:
    check_form({"properties": {}, "minProperties": 1}, "p")
    with pytest.raises(ApiError, match="not supported"):
        check_parameters({"properties": {}, "minProperties": 1}, "p")


def chained(length: int) -> dict[str, Any]:
    chain = {f"D{i}": {"$ref": f"#/$defs/D{i + 1}"} for i in range(length)}
    properties = {"a": {"$ref": "#/$defs/D0"}}
    return {"properties": properties, "$defs": {**chain, f"D{length}": WORDS}}


def test_references_lead_on_within_reason() -> None:
    check_parameters(chained(300), "p")
    with pytest.raises(ApiError, match="at most 1000") as raised:
        check_parameters(chained(1200), "p")
    assert raised.value.param == "p"
