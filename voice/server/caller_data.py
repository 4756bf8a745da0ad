"""What is kept for callers, over the API: listed, exported and deleted by the server's operator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from voice.access.keys import Grant
from voice.callers import Caller
from voice.config import RecordsConfig
from voice.errors import ProtocolError
from voice.tools.database import Database

if TYPE_CHECKING:
    from voice.records.caller_data import CallerData

Endpoint = Callable[[Request, Grant], Awaitable[Response]]
Guard = Callable[[Endpoint], Callable[[Request], Awaitable[Response]]]


def caller_routes(database: Database, records: RecordsConfig, guarded: Guard) -> list[Route]:
    """``GET /v1/callers``, and ``GET`` and ``DELETE /v1/callers/{caller}/data``.

    Args:
        database: Whose entries they are.
        records: Where conversations are kept, or were.
        guarded: Makes a route's function of an endpoint, with checks of host, origin and key.
    """

    def data() -> CallerData:
        from voice.records.caller_data import CallerData
        from voice.records.folder import Conversations

        return CallerData(database, Conversations(records))

    async def callers(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        return JSONResponse(await asyncio.to_thread(data().listed))

    async def export(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        return JSONResponse(await asyncio.to_thread(data().exported, _caller_of(request)))

    async def delete(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        return JSONResponse(await asyncio.to_thread(data().deleted, _caller_of(request)))

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
