"""The operator's console API: conversations that are kept, and those under way.

Requests without the server's own key are refused, even on a server that needs no key.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from voice.access.keys import Grant
from voice.access.requests import refusal
from voice.errors import ProtocolError
from voice.server.caller_data import Guard

if TYPE_CHECKING:
    from voice.records.folder import Query
    from voice.records.recorder import Recorder

MOST_LISTED = 200
ONLY = ("orders", "errors", "unanswered")
_LONGEST_FIELD = 300
_PIECE_BYTES = 64 * 1024


def conversation_routes(recorder: Recorder, guarded: Guard) -> list[Route]:
    """``GET /v1/conversations`` and the paths below it.

    Args:
        recorder: Records the conversations.
        guarded: Wraps an endpoint with checks of host, origin and key.
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
        # Read whole: the file of a conversation under way would outgrow the stated length.
        data = await asyncio.to_thread(kept.sound, request.path_params["id"])
        return _download(data, "audio/ogg") if data else _missing()

    async def export(request: Request, grant: Grant) -> Response:
        grant.check_operator()
        name = request.path_params["id"]
        packed = await asyncio.to_thread(kept.zipped, name)
        headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
        return _download(packed, "application/zip", **headers) if packed else _missing()

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


def _download(data: bytes, media_type: str, **headers: str) -> Response:
    """A file in pieces: with a single piece nothing would show whether the client reads."""
    pieces = (data[at : at + _PIECE_BYTES] for at in range(0, len(data), _PIECE_BYTES))
    headers["Content-Length"] = str(len(data))
    return StreamingResponse(pieces, 200, headers, media_type)


def _missing() -> Response:
    return refusal(404, "there is no such conversation", "not_found", "id")
