"""HTTP responses for failed requests; `dlm.server.errors` itself needs no web framework."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dlm.server.errors import ApiError


def error_response(error: ApiError) -> JSONResponse:
    """The response for an error: its error object, status and headers."""
    return JSONResponse(error.body(), error.status, error.headers())


async def not_routed(request: Request, error: Exception) -> Response:
    """The response for a path or method that does not exist."""
    assert isinstance(error, HTTPException)
    message = f"{request.method} {request.url.path}: {error.detail.lower()}"
    response = error_response(ApiError(error.status_code, message, "not_routed"))
    response.headers.update(error.headers or {})
    return response
