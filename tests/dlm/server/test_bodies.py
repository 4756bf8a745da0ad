"""Request bodies: what is accepted, and which field an error names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dlm.server.bodies import (
    ChatRequest,
    CompletionRequest,
    parsed,
)
from dlm.server.errors import ApiError

HELLO = {"role": "user", "content": "hello"}


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "m", "messages": [HELLO], **fields}).encode()


def refused(raw: bytes) -> ApiError:
    with pytest.raises(ApiError) as raised:
        parsed(ChatRequest, raw)
    assert raised.value.status == 400
    return raised.value


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"a": NaN}', b"[" * 5000, b'{"a": "\\ud800"}'],
)
def test_what_is_no_json_object_is_refused(raw: bytes) -> None:
    assert refused(raw).code == "invalid_json"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": [{"content": "x"}]}, "messages[0]"),
        ({"messages": [{"role": "bot", "content": "x"}]}, "messages[0]"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [HELLO, {"role": "user", "content": 3}]}, "messages[1].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[0].content[0].type",
        ),
        ({"temperature": 2.1}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": 1.5}, "max_completion_tokens"),
        ({"n": 5}, "n"),
        ({"stop": [1]}, "stop[0]"),
        ({"stop": ["a"] * 17}, "stop"),
        ({"seed": 2**70}, "seed"),
        ({"reasoning_effort": "huge"}, "reasoning_effort"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        (
            {"tools": [{"type": "function", "function": {"name": "a b"}}]},
            "tools[0].function.name",
        ),
        (
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}},
            "tool_choice.allowed_tools.tools",
        ),
        ({"tool_choice": {"type": "mcp"}}, "tool_choice"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tool_choice": 3}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {}}}, "tool_choice.function.name"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        ({"logprobs": True}, "logprobs"),
        ({"logprobs": 0}, "logprobs"),
        ({"logit_bias": {"1": 2}}, "logit_bias"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"best_of": True}, "best_of"),
    ],
)
def test_the_field_that_is_wrong_is_named(fields: dict[str, Any], param: str) -> None:
    error = refused(body(**fields))
    assert error.param == param
    assert str(error).startswith(f"{param}: ")


def test_a_missing_field_is_told_from_a_wrong_one() -> None:
    assert refused(b'{"model": "m"}').code == "missing_required_parameter"
    assert refused(body(logprobs=True)).code == "unsupported_parameter"


def test_what_clients_always_send_does_no_harm() -> None:
    checked = parsed(
        ChatRequest,
        body(
            user="me",
            store=False,
            metadata={"a": "b"},
            logprobs=False,
            top_logprobs=None,
            frequency_penalty=0.0,
            n=None,
            temperature=None,
        ),
    )
    assert checked.warning() is None


def test_what_is_unknown_is_left_out_and_named() -> None:
    assert parsed(ChatRequest, body(min_p=0.1, verbosity="low")).warning() == (
        "ignored: min_p, verbosity"
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["role", "content", "type", "function", "name", "text"]), inner
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from(sorted(ChatRequest.model_fields)),
)
def test_any_value_in_any_field_is_taken_or_refused(value: Any, field: str) -> None:
    try:
        raw = body(**{field: value})
    except (UnicodeEncodeError, ValueError):
        return
    try:
        parsed(ChatRequest, raw)
    except ApiError as error:
        assert error.status == 400


def user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (CompletionRequest, {"prompt": [1] * 1000}),
        (ChatRequest, {"messages": [1] * 1000}),
        (ChatRequest, {"messages": [user([1] * 1000)] * 1000}),
        (ChatRequest, {"messages": [user([{}] * 1000)]}),
        (ChatRequest, {"messages": [{"role": "assistant", "tool_calls": [1] * 1000}]}),
        (ChatRequest, {"messages": [user("x")], "tools": [1] * 100}),
        (ChatRequest, {"messages": [user("x")], "stop": [1] * 10}),
    ],
)
def test_a_list_that_is_all_wrong_is_told_once(
    kind: type[ChatRequest | CompletionRequest], fields: dict[str, object]
) -> None:
    with pytest.raises(ValidationError) as raised:
        kind.model_validate({"model": "m", **fields})
    assert raised.value.error_count() <= 3
