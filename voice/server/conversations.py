"""Conversations that are kept, and those under way, for the operator: what the console asks for.

Whoever has not shown the server's own key is refused, where none is needed too.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from voice.access.keys import Grant
from voice.errors import ProtocolError
from voice.server.caller_data import Guard
from voice.server.requests import refusal

if TYPE_CHECKING:
    from voice.records.folder import Query
    from voice.records.recorder import Recorder

MOST_LISTED = 200
ONLY = ("orders", "errors", "unanswered")
_LONGEST_FIELD = 300


def conversation_routes(recorder: Recorder, guarded: Guard) -> list[Route]:
    """``GET /v1/conversations`` and what lies below it.

    Args:
        recorder: What records them.
        guarded: Makes a route's function of an endpoint, with checks of host, origin and key.
    """
    kept = recorder.kept

    async def search(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        found = await asyncio.to_thread(kept.search, _query(request))
        return JSONResponse({"conversations": found})

    async def live(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        return JSONResponse({"live": [one.now for one in recorder.live.values()]})

    async def latency(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        return JSONResponse({"hours": await asyncio.to_thread(kept.hours, _query(request))})

    async def words(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        found = await asyncio.to_thread(kept.read, request.path_params["id"])
        return _missing() if found is None else JSONResponse(found)

    async def sound(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        path = kept.file(request.path_params["id"], "sound.opus")
        return _missing() if path is None else FileResponse(path, media_type="audio/ogg")

    async def export(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        name = request.path_params["id"]
        packed = await asyncio.to_thread(kept.zipped, name)
        headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
        return Response(packed, 200, headers, "application/zip") if packed else _missing()

    routes = {"": search, "/live": live, "/latency": latency, "/{id}": words}
    routes |= {"/{id}/sound": sound, "/{id}/export": export}
    return [Route(f"/v1/conversations{path}", guarded(one)) for path, one in routes.items()]


def _query(request: Request) -> Query:
    from voice.records.folder import Query

    given = request.query_params
    texts = {name: given.get(name, "")[:_LONGEST_FIELD] for name in Query.__slots__}
    limit = texts.pop("limit") or "50"
    if not limit.isdecimal() or not 0 < int(limit) <= MOST_LISTED:
        raise ProtocolError(f"limit: expected 1 to {MOST_LISTED}", "invalid_value", "limit")
    if texts["only"] not in ("", *ONLY):
        raise ProtocolError(f"only: expected one of {ONLY}", "invalid_value", "only")
    return Query(**texts, limit=int(limit))


def _missing() -> Response:
    return refusal(404, "there is no such conversation", "not_found", "id")
