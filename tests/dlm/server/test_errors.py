import queue

import pytest

from dlm.grammar.formats import FormatError
from dlm.language.messages import AnswerError
from dlm.server.errors import ApiError, from_engine, invalid


@pytest.mark.parametrize(
    ("error", "status", "kind", "code", "param"),
    [
        (queue.Full(), 429, "rate_limit_error", "engine_full", None),
        (FormatError("no"), 400, "invalid_request_error", "unsupported_schema", "response_format"),
        (
            FormatError("no", "b", "size"),
            400,
            "invalid_request_error",
            "unsupported_schema",
            "tools[1].function.parameters.properties.size",
        ),
        (
            FormatError("no", "a"),
            400,
            "invalid_request_error",
            "unsupported_schema",
            "tools[0].function.parameters",
        ),
        (AnswerError("a secret answer"), 500, "server_error", "malformed_answer", None),
        (ValueError("too long"), 400, "invalid_request_error", "invalid_value", None),
        (RuntimeError("closed"), 503, "server_error", "unavailable", None),
        (KeyError("a secret"), 500, "server_error", "internal_error", None),
    ],
)
def test_what_a_failure_means(
    error: Exception, status: int, kind: str, code: str, param: str | None
) -> None:
    told = from_engine(error, ["a", "b"])
    assert told.status == status
    detail = told.body()["error"]
    assert (detail["type"], detail["code"], detail["param"]) == (kind, code, param)
    assert "secret" not in detail["message"]


def test_who_may_try_again_is_told_when() -> None:
    assert from_engine(queue.Full()).headers() == {"retry-after": "1"}
    assert from_engine(RuntimeError()).headers() == {"retry-after": "1"}
    assert ApiError(401, "a key is needed").headers() == {"www-authenticate": "Bearer"}
    assert invalid("n", "got 9").headers() == {}


def test_a_wrong_field_is_named_twice() -> None:
    detail = invalid("messages[0].role", "got 'bot'").body()["error"]
    assert detail["param"] == "messages[0].role"
    assert detail["message"] == "messages[0].role: got 'bot'"
