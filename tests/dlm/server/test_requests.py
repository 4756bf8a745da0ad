import pytest
from pydantic import ValidationError

from dlm.server.bodies import (
    MAX_PARTS,
    ChatRequest,
    CompletionRequest,
    JsonSchemaFormat,
    Message,
)


def test_a_schema_is_read_under_its_own_name() -> None:
    raw = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    assert JsonSchemaFormat.model_validate(raw).json_schema.schema_ == {"type": "object"}


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
@pytest.mark.parametrize("content", ["hello", [{"type": "text", "text": "hello"}], []])
def test_content_is_text_or_parts(role: str, content: object) -> None:
    raw = {"model": "m", "messages": [{"role": role, "content": content}]}
    assert ChatRequest.model_validate(raw).messages[0].role == role


def test_only_an_answer_may_be_without_content() -> None:
    raw = {"model": "m", "messages": [{"role": "user", "content": None}]}
    with pytest.raises(ValidationError):
        ChatRequest.model_validate(raw)
    message: Message = ChatRequest.model_validate(
        {"model": "m", "messages": [{"role": "assistant", "content": None}]}
    ).messages[0]
    assert message.content is None


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


def test_lists_of_texts_have_an_end() -> None:
    part = {"type": "text", "text": "a"}
    for fields in ({"messages": [user([part] * (MAX_PARTS + 1))]}, {"messages": []}):
        with pytest.raises(ValidationError):
            ChatRequest.model_validate({"model": "m", **fields})
    with pytest.raises(ValidationError, match="at most 4"):
        CompletionRequest.model_validate({"model": "m", "prompt": ["a"] * 5})
