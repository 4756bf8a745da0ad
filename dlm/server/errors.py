"""Errors as clients get them: a status and OpenAI's error object."""

from __future__ import annotations

import queue
from collections.abc import Sequence

from typing_extensions import TypedDict

from dlm.grammar.formats import FormatError
from dlm.language.messages import AnswerError

RETRY_AFTER_S = 1


class ErrorDetail(TypedDict):
    """What went wrong; ``param`` is the path of the field at fault."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(TypedDict):
    """OpenAI's error object."""

    error: ErrorDetail


class ApiError(Exception):
    """A request failed; ``param`` is the path of the field at fault (``messages[0].content``)."""

    def __init__(
        self, status: int, message: str, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param

    def body(self) -> ErrorBody:
        """The error object."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        if self.status == 429:
            kind = "rate_limit_error"
        return {
            "error": {
                "message": str(self),
                "type": kind,
                "param": self.param,
                "code": self.code,
            }
        }

    def headers(self) -> dict[str, str]:
        """Headers that go with the status."""
        if self.status == 401:
            return {"www-authenticate": "Bearer"}
        return {"retry-after": str(RETRY_AFTER_S)} if self.status in (429, 503) else {}


def invalid(param: str, message: str, code: str = "invalid_value") -> ApiError:
    """The error for a field that is wrong."""
    return ApiError(400, f"{param}: {message}", code, param)


def from_engine(error: Exception, tools: Sequence[str] = ()) -> ApiError:
    """The client's error for one from `Engine.submit`, or from a request with some tools."""
    match error:
        case queue.Full():
            return ApiError(429, "the model is busy; try again soon", "engine_full")
        case FormatError():
            fault = str(error).partition(": ")[2] or str(error)
            return invalid(_place(error, tools), fault, "unsupported_schema")
        case AnswerError():
            return ApiError(500, "the model's answer was malformed", "malformed_answer")
        case ValueError():
            return ApiError(400, str(error), "invalid_value")
        case RuntimeError():
            return ApiError(503, "the model is not available", "unavailable")
        case _:
            return ApiError(500, "the server failed", "internal_error")


def _place(error: FormatError, tools: Sequence[str]) -> str:
    if error.tool is None:
        return "response_format"
    # A schema for the answer is made a tool that the client does not know.
    where = "response_format.json_schema.schema"
    if error.tool in tools:
        where = f"tools[{tools.index(error.tool)}].function.parameters"
    return where if error.parameter is None else f"{where}.properties.{error.parameter}"
