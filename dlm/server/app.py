"""The ASGI application of ``python -m dlm.serve``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dlm.server.access import Gate
from dlm.server.api import Api, Limits
from dlm.server.errors import ApiError
from dlm.server.metrics import ApiMetrics
from dlm.server.models import ModelCard
from dlm.server.openapi import description
from dlm.server.responses import error_response

if TYPE_CHECKING:
    from dlm.engine.engine import Engine


def build_app(engine: Engine, card: ModelCard, gate: Gate, limits: Limits) -> Starlette:
    """The application around an engine, which is closed when the application shuts down."""
    metrics = ApiMetrics(CollectorRegistry(), lambda: engine.prefixes.nbytes)
    api = Api(engine, card, gate, metrics, limits)
    described = description(version("quicksilver-voice"), card.names)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(engine.close)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "model": card.names[0]})

    async def openapi(request: Request) -> Response:
        return JSONResponse(described)

    return Starlette(
        routes=[
            *api.routes(),
            Route("/metrics", api.guarded("metrics", api.scrape)),
            Route("/healthz", health),
            Route("/openapi.json", openapi),
        ],
        exception_handlers={HTTPException: _not_routed},
        lifespan=lifespan,
    )


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = f"{request.method} {request.url.path}: {error.detail.lower()}"
    response = error_response(ApiError(error.status_code, told, "not_routed"))
    response.headers.update(error.headers or {})
    return response
