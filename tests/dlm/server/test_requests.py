import pytest
from pydantic import ValidationError

from dlm.server.requests import ChatRequest, JsonSchemaFormat, Message


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
