"""Failed requests as HTTP responses; `dlm.server.errors` itself needs no web framework."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dlm.server.errors import ApiError


def error_response(error: ApiError) -> JSONResponse:
    """An error object with its status and headers."""
    return JSONResponse(error.body(), error.status, error.headers())


async def not_routed(request: Request, error: Exception) -> Response:
    """The error object for a path or a method that there is none of."""
    assert isinstance(error, HTTPException)
    message = f"{request.method} {request.url.path}: {error.detail.lower()}"
    response = error_response(ApiError(error.status_code, message, "not_routed"))
    response.headers.update(error.headers or {})
    return response
