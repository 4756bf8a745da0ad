"""What is kept for callers, over the API: listed, exported and deleted by the server's operator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from voice.access.keys import Grant
from voice.callers import Caller
from voice.errors import ProtocolError
from voice.tools.database import Database

Endpoint = Callable[[Request, Grant], Awaitable[Response]]
Guard = Callable[[Endpoint], Callable[[Request], Awaitable[Response]]]


def caller_routes(database: Database, guarded: Guard) -> list[Route]:
    """``GET /v1/callers``, and ``GET`` and ``DELETE /v1/callers/{caller}/data``.

    Args:
        database: Whose entries they are.
        guarded: Makes a route's function of an endpoint, with checks of host, origin and key.
    """

    async def callers(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        return JSONResponse({"callers": await asyncio.to_thread(database.callers)})

    async def export(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        caller = _caller_of(request)
        entries = await asyncio.to_thread(database.export, caller)
        return JSONResponse({"caller": str(caller), "entries": entries})

    async def delete(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        caller = _caller_of(request)
        deleted = await asyncio.to_thread(database.delete, caller)
        return JSONResponse({"caller": str(caller), "deleted": deleted})

    path = "/v1/callers/{caller:path}/data"
    return [
        Route("/v1/callers", guarded(callers)),
        Route(path, guarded(export)),
        Route(path, guarded(delete), methods=["DELETE"]),
    ]


def _caller_of(request: Request) -> Caller:
    try:
        return Caller.parse(request.path_params["caller"])
    except ValueError as error:
        raise ProtocolError(str(error), "invalid_value", "caller") from error
